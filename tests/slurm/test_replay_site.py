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
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import shared
from tests.slurm.bedside import until
from tests.slurm.pace import Pace
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.replaying import replay
from wattline.controller.testbed.site.translating import SiteFiles
from wattline.model.errors import WattlineWarning
from wattline.scenario.twin.planning import twin_plan
from wattline.twin.held import judge_twin
from wattline.twin.make import make_twin

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
-dt 0 -e submit_batch_job | -J first1 -sim-walltime 4 --uid=twin_ann -t 1 -n 8 -C cold -q normal x.job
-dt 0 -e submit_batch_job | -J second2 -sim-walltime 4 --uid=twin_ann -t 1 -n 8 -C cold -q normal x.job
-dt 2 -e submit_batch_job | -J urgent3 -sim-walltime 1 --uid=twin_ann -t 1 -n 8 -C cold -q urgent x.job
-dt 2 -e submit_batch_job | -J bob4 -sim-walltime 6 --uid=twin_bob -t 1 -n 1 --gres=gpu:1 x.job
-dt 2 -e submit_batch_job | -J bob5 -sim-walltime 0 --uid=twin_bob -t 1 -n 1 --gres=gpu:1 x.job
-dt 3 -e submit_batch_job | -J never6 -sim-walltime 0 --uid=twin_ann -t 1 -n 1 --gres=gpu:3 x.job
-dt 4 -e submit_batch_job | -J tasks7 -sim-walltime 3 --uid=twin_ann -t 1 -n 1 -a 1-3%1 x.job
-dt 4 -e submit_batch_job | -J behind8 -sim-walltime 6 --uid=twin_ann -t 1 -n 1 -d afterok:7 x.job
-dt 4 -e submit_batch_job | -J behind9 -sim-walltime 0 --uid=twin_ann -t 1 -n 1 --dependency=afterany:8,afterok:7_2 x.job
-dt 4 -e submit_batch_job | -J alone10 -sim-walltime 0 --uid=twin_ann -t 1 -n 1 -d afterany:6 x.job
"""  # noqa: E501
# `urgent3` comes when `first1` surely runs: a busy machine starts it up to a second late, and then
# whoever is more urgent passes it.


def written(folder: Path) -> Path:
    for name, text in (("slurm.conf", CONF), ("assoc", ASSOC), ("jobs.events", EVENTS)):
        Path(folder, name).write_text(text)
    folder.chmod(0o755)
    return folder


@pytest.fixture
def place(bed: Bed) -> Iterator[Path]:
    """A short name: sockets lie in it. The bed is asked for because it skips without Slurm."""
    with tempfile.TemporaryDirectory(prefix="tw") as folder:
        yield written(Path(folder))


@pytest.fixture(scope="module")
def replayed(bed: Bed, pace: Pace) -> Iterator[tuple[Path, dict[str, Any], str, float]]:
    """A folder with one run, what the command printed, what it remarked, and the slowest pace."""
    with tempfile.TemporaryDirectory(prefix="tw") as folder:
        place, begin_s = written(Path(folder)), time.time()
        done = subprocess.run(command(place), capture_output=True, text=True, check=False,
                              env=around(bed, place))
        assert done.returncode == 0, done.stderr
        yield place, json.loads(done.stdout), done.stderr, pace.slowest(begin_s)


def command(place: Path) -> list[str]:
    return [sys.executable, "-m", "wattline", "testbed", "replay", "--slurm-conf",
            str(place / "slurm.conf"), "--assoc", str(place / "assoc"), "--events",
            str(place / "jobs.events"), "--runs", "1", "--out", str(place / "out"), "--json"]


def around(bed: Bed, place: Path) -> dict[str, str]:
    """A replay is by the machine's own Slurm, also where the bed has another."""
    path = [each for each in os.environ["PATH"].split(os.pathsep) if each != str(bed.programs)]
    return {**os.environ, "PATH": os.pathsep.join(path), "TMPDIR": str(place)}


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


def jobs_of(place: Path) -> dict[str, dict[str, str]]:
    with (place / "out" / "run1.csv").open() as file:
        return {row["job"]: row for row in csv.DictReader(file)}


def test_a_real_slurm_schedules_by_the_sites_own_rules(
    replayed: tuple[Path, dict[str, Any], str, float]
) -> None:
    place, said, remarks, _ = replayed
    assert said["runs"][0]["started"] == 11
    assert said["runs"][0]["refused"][0].startswith("never6: ")
    assert said["slurm"].split(".")[0].isdecimal()
    assert "left out of slurm.conf" in remarks
    jobs = jobs_of(place)
    start_s = {name: float(row["start_s"]) for name, row in jobs.items()}
    assert start_s["urgent3"] < start_s["second2"]
    assert start_s["bob5"] >= float(jobs["bob4"]["end_s"])
    assert jobs["bob4"]["node_list"] == "g1"
    assert (jobs["first1"]["user"], jobs["first1"]["account"]) == ("twin_ann", "lab")
    assert left(place) == []


def test_dependencies_name_jobs_as_the_file_does(
    replayed: tuple[Path, dict[str, Any], str, float]
) -> None:
    """Behind an array, whose tasks have numbers of their own, and behind one that was refused."""
    place, said, *_ = replayed
    jobs = jobs_of(place)
    tasks = [jobs[f"tasks7_{number}"] for number in (1, 2, 3)]
    assert [row["job_id"] for row in tasks] == ["7_1", "7_2", "7_3"]
    assert float(jobs["behind8"]["start_s"]) >= max(float(row["end_s"]) for row in tasks)
    assert float(jobs["behind9"]["start_s"]) >= float(jobs["behind8"]["end_s"])
    assert said["runs"][0]["not_awaited"] == ["alone10: 6 not submitted before it"]


def test_the_twin_starts_jobs_where_and_when_the_real_slurm_does(
    replayed: tuple[Path, dict[str, Any], str, float]
) -> None:
    """Within a pass of the main scheduler, which may come a tick earlier or later."""
    place, _, _, slowest = replayed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WattlineWarning)
        twin = make_twin(place / "slurm.conf", events=place / "jobs.events",
                         assoc=place / "assoc")
    ready = twin_plan(twin.scenario)
    assert ready.site is not None
    found = ready.simulated(0.0)
    started = dict(zip(ready.site.made.requests.job_ids, found.schedule.start_s.tolist(),
                       strict=True))
    for name, row in jobs_of(place).items():
        assert abs(started[row["job_id"]] - float(row["start_s"])) <= 4.0 * slowest, name


@pytest.mark.long
def test_the_twin_of_the_micro_cluster_lies_within_runs_of_a_real_slurm(bed: Bed) -> None:
    """Two runs of the first 100 submissions: up to 16 minutes on a busy machine."""
    site = shared("slurm_sites/micro/slurm.conf").parent
    events = site / "jobs500_shrinked.events"
    with tempfile.TemporaryDirectory(prefix="tw") as folder:
        Path(folder).chmod(0o755)
        replay(SiteFiles(site / "slurm.conf", site / "gres.conf", site / "topology.conf",
                         site / "sacctmgr.script"), events, Path(folder, "out"), runs=2, at_once=2,
               first=100)
        few = Path(folder, "few.events")
        few.write_text("".join(events.read_text().splitlines(keepends=True)[:100]))
        twin = make_twin(site / "slurm.conf", events=few, gres=site / "gres.conf",
                         topology=site / "topology.conf", assoc=site / "sacctmgr.script")
        found = judge_twin(twin, Path(folder, "out"), phases=10, by=["account"])
    assert found.jobs == 100
    assert abs(found.waits[0].error) < 0.2
    assert found.to_twin.median_s <= 2.0 * found.widest_runs.median_s + 6.0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_that_a_replay_has_started(
    bed: Bed, place: Path, sent: signal.Signals
) -> None:
    process = subprocess.Popen(command(place), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=around(bed, place), start_new_session=True)
    until(lambda: any("slurmd -b" in line for line in left(place)))
    process.send_signal(sent)
    process.wait()
    assert process.returncode != 0
    assert left(place) == []
