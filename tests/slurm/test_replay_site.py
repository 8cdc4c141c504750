"""A site's own configuration on a real Slurm: what it schedules by is the site's."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from wattline.controller.testbed.layout import Bed

CONF = """ClusterName=tiny
SlurmUser=slurm
ControlMachine=elsewhere
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,batch_sched_delay=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
PriorityType=priority/multifactor
PriorityWeightQOS=1000
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
GresTypes=gpu
KillWait=2
NodeName=DEFAULT CPUs=4 RealMemory=8000
NodeName=c[1-2] Feature=cold
NodeName=g1 Gres=gpu:2 Feature=hot
PartitionName=all Nodes=c[1-2],g1 Default=YES DefMemPerCPU=1000 MaxTime=60
"""
ASSOC = """modify QOS set normal Priority=0
add QOS Name=urgent Priority=100
add account name=lab Fairshare=10
add user name=twin_ann DefaultAccount=lab
add user name=twin_bob DefaultAccount=lab MaxJobs=1
modify user set qoslevel="normal,urgent"
"""
EVENTS = """\
-dt 0 -e submit_batch_job | -J first -sim-walltime 4 --uid=twin_ann -t 1 -n 8 -C cold -q normal x.job
-dt 0 -e submit_batch_job | -J second -sim-walltime 4 --uid=twin_ann -t 1 -n 8 -C cold -q normal x.job
-dt 1 -e submit_batch_job | -J urgent -sim-walltime 1 --uid=twin_ann -t 1 -n 8 -C cold -q urgent x.job
-dt 1 -e submit_batch_job | -J bob1 -sim-walltime 6 --uid=twin_bob -t 1 -n 1 --gres=gpu:1 x.job
-dt 1 -e submit_batch_job | -J bob2 -sim-walltime 0 --uid=twin_bob -t 1 -n 1 --gres=gpu:1 x.job
-dt 2 -e submit_batch_job | -J never -sim-walltime 0 --uid=twin_ann -t 1 -n 1 --gres=gpu:3 x.job
"""  # noqa: E501


@pytest.fixture
def place(bed: Bed) -> Iterator[Path]:
    """A short name: sockets lie in it. The bed is asked for because it skips without Slurm."""
    with tempfile.TemporaryDirectory(prefix="tw") as folder:
        for name, text in (("slurm.conf", CONF), ("assoc", ASSOC), ("jobs.events", EVENTS)):
            Path(folder, name).write_text(text)
        Path(folder).chmod(0o755)
        yield Path(folder)


def command(place: Path) -> list[str]:
    return [sys.executable, "-m", "wattline", "testbed", "replay", "--slurm-conf",
            str(place / "slurm.conf"), "--assoc", str(place / "assoc"), "--events",
            str(place / "jobs.events"), "--runs", "1", "--out", str(place / "out"), "--json"]


def left(place: Path) -> list[str]:
    """Command lines of processes that name the folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(place) in words and "pytest" not in words:
            found.append(words)
    return found


def test_a_real_slurm_schedules_by_the_sites_own_rules(place: Path) -> None:
    done = subprocess.run(command(place), capture_output=True, text=True, check=False, timeout=150,
                          env={**os.environ, "TMPDIR": str(place)})
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["runs"][0]["started"] == 5
    assert said["runs"][0]["refused"][0].startswith("never: ")
    assert "left out of slurm.conf" in done.stderr
    with (place / "out" / "run1.csv").open() as file:
        jobs = {row["job"]: row for row in csv.DictReader(file)}
    start_s = {name: float(row["start_s"]) for name, row in jobs.items()}
    assert start_s["urgent"] < start_s["second"]
    assert start_s["bob2"] >= float(jobs["bob1"]["end_s"])
    assert jobs["bob1"]["node_list"] == "g1"
    assert (jobs["first"]["user"], jobs["first"]["account"]) == ("twin_ann", "lab")
    assert left(place) == []


def test_an_interrupt_ends_all_that_a_replay_has_started(place: Path) -> None:
    process = subprocess.Popen(command(place), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "TMPDIR": str(place)}, start_new_session=True)
    until_s = time.monotonic() + 60.0
    while not any("slurmd -b" in line for line in left(place)) and time.monotonic() < until_s:
        time.sleep(0.2)
    assert any("slurmd -b" in line for line in left(place))
    process.send_signal(signal.SIGINT)
    process.wait(timeout=90.0)
    assert process.returncode != 0
    assert left(place) == []
