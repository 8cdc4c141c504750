"""Settings that have no effect on a twin are said, each with what it would change."""

from __future__ import annotations

from pathlib import Path

import pytest

import wattline as wl

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

CONF = """ClusterName=tiny
NodeName=n1 CPUs=8 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES
MaxArraySize=5000
PriorityType=priority/multifactor
PriorityFlags=MAX_TRES,NO_AGE_RESET
SchedulerParameters=bf_node_space_size=900
SelectTypeParameters=CR_Core,CR_Pack_Nodes
"""
ASSOC = """add account name=lab Fairshare=10 GrpTRESMins=cpu=1000 GrpWall=2-00:00:00
add user name=ann DefaultAccount=lab Fairshare=parent
"""


@pytest.mark.parametrize("said", [
    ": MaxArraySize=5000: arrays", "PriorityFlags MAX_TRES: usage is billed",
    "PriorityFlags NO_AGE_RESET: jobs that are requeued",
    "bf_node_space_size=900: limits for how many",
    "CR_Pack_Nodes: jobs are packed", "GrpTRESMins=", "GrpWall="])
def test_a_setting_without_effect_is_listed(tmp_path: Path, said: str) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "assoc").write_text(ASSOC)
    (tmp_path / "e.events").write_text(
        "-dt 0 -e submit_batch_job | --uid=ann -n 1 -t 1 -sim-walltime 1 x\n")
    twin = wl.make_twin(tmp_path / "slurm.conf", events=tmp_path / "e.events",
                        assoc=tmp_path / "assoc")
    assert any(said in line for line in twin.not_modelled)
    assert not any("fairshare" in line.lower() for line in twin.not_modelled)


@pytest.mark.parametrize("given", [
    "bf_licenses", "bf_running_job_reserve", "bf_licenses,bf_running_job_reserve",
    "bf_running_job_reserve,bf_licenses"])
def test_what_planning_for_licences_implies_is_listed_once(tmp_path: Path, given: str) -> None:
    (tmp_path / "slurm.conf").write_text(
        CONF.replace("bf_node_space_size=900", f"bf_interval=60,{given}"))
    (tmp_path / "e.events").write_text(
        "-dt 0 -e submit_batch_job | -n 1 -t 1 -sim-walltime 1 x\n")
    twin = wl.make_twin(tmp_path / "slurm.conf", events=tmp_path / "e.events")
    said = [line for line in twin.not_modelled if "bf_running_job_reserve" in line]
    assert len(said) == 1
    assert "jobs that run on whole nodes hold them" in said[0]
    assert ("which bf_licenses implies" in said[0]) == (given == "bf_licenses")


@pytest.mark.parametrize(("gres", "said"), [
    ("gpu:a:2,shard:8", 1), ("gpu:2,mps:200", 1), ("gpu:2,shard:8,mps:200", 2), ("gpu:2", 0),
    ("shard:8", 0), ("fpga:1", 0)])
def test_parts_of_gpus_are_listed(tmp_path: Path, gres: str, said: int) -> None:
    (tmp_path / "slurm.conf").write_text(
        "GresTypes=gpu,shard,mps,fpga\n"
        f"NodeName=n[1-3] CPUs=8 RealMemory=1000 Gres={gres}\n"
        "PartitionName=p Nodes=ALL Default=YES\n")
    (tmp_path / "e.events").write_text(
        "-dt 0 -e submit_batch_job | --uid=ann -n 1 -t 1 -sim-walltime 1 x\n")
    twin = wl.make_twin(tmp_path / "slurm.conf", events=tmp_path / "e.events")
    listed = [line for line in twin.not_modelled if "beside the GPUs, of which they are" in line]
    assert len(listed) == said
    assert all("slurm.conf:2: Gres" in line and " on 3 nodes: " in line for line in listed)
