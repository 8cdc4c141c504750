"""Fair-share by joules on a twin: two users of one account, one of whom has its GPUs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.cli.main import cli

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

CONF = """\
ClusterName=small
PriorityType=priority/multifactor
PriorityWeightFairshare=1000
NodeName=n[1-2] CPUs=8 RealMemory=16000 Gres=gpu:a:1
PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=2:00:00 DefMemPerCPU=1
"""
ACCOUNTS = """\
add cluster Name=small Fairshare=1 QOS=normal
add account name=phys Fairshare=10
add user name=ada DefaultAccount=phys Fairshare=1
add user name=bob DefaultAccount=phys Fairshare=1
"""
EVENTS = """\
-dt 0 -e submit_batch_job | --uid=ada -A phys -sim-walltime 900 -n 8 -t 15 --gres=gpu:a:1 a.sh
-dt 0 -e submit_batch_job | --uid=bob -A phys -sim-walltime 900 -n 8 -t 15 a.sh
-dt 10 -e submit_batch_job | --uid=ada -A phys -sim-walltime 60 -n 16 -t 5 a.sh
-dt 11 -e submit_batch_job | --uid=bob -A phys -sim-walltime 60 -n 16 -t 5 a.sh
"""


def twin_of(folder: Path, conf: str = CONF, assoc: bool = True) -> Path:
    for name, text in (("slurm.conf", conf), ("assoc", ACCOUNTS), ("jobs.events", EVENTS)):
        (folder / name).write_text(text)
    wl.make_twin(folder / "slurm.conf", events=folder / "jobs.events",
                 assoc=folder / "assoc" if assoc else None, idle_w=100, cpu_w=10, gpu_w=300,
                 out=folder / "twin.toml")
    return folder / "twin.toml"


@pytest.mark.parametrize("flags", ["", "PriorityFlags=NO_FAIR_TREE\n"])
def test_who_drew_less_goes_first(tmp_path: Path, flags: str) -> None:
    twin = twin_of(tmp_path, CONF + flags)
    by_cpus = wl.simulate(twin).schedule.start_s
    run = wl.simulate(twin, policy__order="energy-share")
    assert by_cpus[2] < by_cpus[3]
    assert run.schedule.start_s[3] < run.schedule.start_s[2]
    assert any("fair-share counts the joules of jobs" in line for line in run.remarks)
    assert wl.verify(run).sentences == []


def test_by_command(tmp_path: Path) -> None:
    ran = CliRunner().invoke(cli, ["simulate", str(twin_of(tmp_path)), "--order", "energy-share",
                                   "--json"])
    assert ran.exit_code == 0, ran.output
    assert any("counts the joules" in line for line in json.loads(ran.stdout)["assumed"])


def test_a_site_without_fair_share_is_told(tmp_path: Path) -> None:
    twin = twin_of(tmp_path, CONF.replace("PriorityWeightFairshare=1000\n", ""))
    with pytest.raises(wl.InputError, match="would change nothing here: the site's priorities"):
        wl.simulate(twin, policy__order="energy-share")


@pytest.mark.parametrize(("field", "said"), [
    ("half_life", "PriorityDecayHalfLife"), ("fair", "PriorityWeightFairshare"),
    ("shares", "twin.assoc")])
def test_fields_that_are_the_sites_own_are_refused(tmp_path: Path, field: str, said: str) -> None:
    value = "x.toml" if field == "shares" else 2
    with pytest.raises(wl.InputError, match=f"policy.order.{field}: .*{said}"):
        wl.simulate(twin_of(tmp_path), policy__order={"name": "energy-share", field: value})


def test_another_order_is_refused(tmp_path: Path) -> None:
    with pytest.raises(wl.InputError, match="the order is Slurm's priority"):
        wl.simulate(twin_of(tmp_path), policy__order="sjf")
