"""Jobs that lose their nodes while they run: what becomes of them, and how it is counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import submit

import wattline as wl
from wattline.model.run import Outcome

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n1 CPUs=4 RealMemory=8000
"""
ONE = "PartitionName=p Nodes=n1 Default=YES\n"


def _preempting(mode: str, grace_s: int = 0) -> str:
    return (f"PreemptType=preempt/partition_prio\nPreemptMode={mode}\n"
            f"PartitionName=low Nodes=n1 Default=YES PriorityTier=1 PreemptMode={mode} "
            f"GraceTime={grace_s}\nPartitionName=hi Nodes=n1 PriorityTier=5 PreemptMode=OFF\n")


def _run(folder: Path, conf: str, log: str, down: str | None = None) -> wl.Run:
    (folder / "slurm.conf").write_text(CONF + conf)
    (folder / "day.events").write_text(log)
    file = None
    if down is not None:
        file = folder / "down.txt"
        file.write_text(f"NodeName|TimeStart|TimeEnd|State|Reason\n{down}\n")
    wl.make_twin(folder / "slurm.conf", events=folder / "day.events", down=file, idle_w=100,
                 cpu_w=10, gpu_w=0, out=folder / "twin.toml")
    return wl.simulate(folder / "twin.toml")


def test_a_node_that_fails_in_a_grace_ends_it(tmp_path: Path) -> None:
    """Job 0 is in its grace when its node fails; run again, it has to give way to job 2 again."""
    log = (submit("-n 4 -t 300", 0, 5000) + submit("-n 4 -t 10 -p hi", 50, 100)
           + submit("-n 4 -t 10 -p hi", 1000, 100))
    run = _run(tmp_path, _preempting("REQUEUE", 100), log, "n1|60|200|DOWN|x")
    assert run.notes["requeues"] == 2.0
    assert run.schedule.start_s[2] < 1200.0


@pytest.mark.parametrize(("conf", "down", "outcome", "state"), [
    (ONE + "PartitionName=hi Nodes=n1\n", "n1|55|60|DOWN|x", Outcome.NODE_FAILED, "NODE_FAIL"),
    (_preempting("CANCEL"), None, Outcome.PREEMPTED, "PREEMPTED"),
])
def test_a_job_that_is_lost_did_not_complete(
    tmp_path: Path, conf: str, down: str | None, outcome: Outcome, state: str
) -> None:
    """Its seconds and joules count, its turnaround does not; it is said by number."""
    log = (submit("-n 4 -t 300 --no-requeue", 0, 5000) + submit("-n 4 -t 10 -p hi", 50, 100))
    run = _run(tmp_path, conf, log, down)
    assert run.schedule.outcome.tolist() == [outcome, Outcome.COMPLETED]
    assert wl.job_table(run)["state"].to_pylist() == [state, "COMPLETED"]
    found = wl.metrics(run)
    assert found["jobs"] == {"total": 2, "not_run": 0, "completed": 1, "killed": 0,
                             outcome.name.lower(): 1}
    assert found["turnaround_s"]["max"] == run.schedule.end_s[1] - 50.0
    assert found["turnaround_s"]["mean"] == found["turnaround_s"]["max"]
    assert found["fairness"]["users"] == 1
    assert run.schedule.energy_j[0] > 0.0
    assert any("lost while it ran" in line and "1" in line for line in run.remarks)
    assert wl.verify(run).sentences == []


def test_a_job_after_one_that_is_lost_waits_for_ever(tmp_path: Path) -> None:
    log = (submit("-n 4 -t 300 --no-requeue -J a", 0, 5000) + submit("-n 4 -t 10 -d afterok:1", 1))
    run = _run(tmp_path, ONE, log, "n1|55|60|DOWN|x")
    assert run.schedule.outcome.tolist() == [Outcome.NODE_FAILED, Outcome.NOT_RUN]
