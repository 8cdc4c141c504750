"""Jobs whose nodes boot: they wait until these are up, after a requeue and a suspension as well."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.twin_sites import submit

import wattline as wl
from wattline.model.run import EventKind

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SuspendTime=30
ResumeTimeout=60
SuspendProgram=/bin/a
ResumeProgram=/bin/b
PreemptType=preempt/partition_prio
PreemptMode={mode}
NodeName=n[1-3] CPUs=8 RealMemory=16000
PartitionName=low Nodes=ALL Default=YES MaxTime=2:00:00 PriorityTier=1
PartitionName=high Nodes=ALL MaxTime=2:00:00 PriorityTier=5 PreemptMode=OFF
"""
WAKES = submit("-t 10 -n 24", at=600, run=300)


def _run(folder: Path, mode: str, log: str) -> wl.Result:
    (folder / "slurm.conf").write_text(CONF.format(mode=mode))
    (folder / "day.events").write_text(log)
    twin = wl.make_twin(folder / "slurm.conf", events=folder / "day.events", idle_w=100.0,
                        cpu_w=10.0)
    return wl.simulate(twin.scenario)


def _added_j(run: wl.Result) -> np.ndarray:
    """Return what each job drew by its stays: its own watts, and its CPUs' part of the idle
    power."""
    held = run.node_stays
    assert held is not None
    drawn_w = held.watts_w + held.cpus / 8 * 100.0
    return np.bincount(held.job, drawn_w * (held.to_s - held.from_s), len(run.jobs))


@pytest.mark.parametrize("requeues", [False, True])
def test_a_job_waits_until_its_nodes_are_up(tmp_path: Path, requeues: bool) -> None:
    """The last job wakes three nodes at 600 s; before it another is requeued, or not."""
    first = submit("-t 10 -n 24", run=20)
    over = submit("-t 10 -n 24 -p high", at=5, run=10) if requeues else ""
    run = _run(tmp_path, "REQUEUE", first + over + WAKES)
    assert run.notes["requeues"] == float(requeues)
    log, last = run.events, len(run.jobs) - 1
    up_s = float(run.schedule.start_s[last])
    assert up_s >= 660.0
    boots = (log.time_s >= 600.0) & (log.time_s < up_s)
    assert boots.any()
    assert set(log.busy[boots].tolist()) == {0}
    assert set(log.queued[boots].tolist()) == {1}
    assert (log.busy[log.time_s == up_s][-1], log.queued[log.time_s == up_s][-1]) == (24, 0)
    assert (log.busy[-1], log.queued[-1]) == (0, 0)
    assert wl.verify(run).sentences == []


def test_a_requeued_job_waits_again(tmp_path: Path) -> None:
    run = _run(tmp_path, "REQUEUE", submit("-t 10 -n 24", run=20)
               + submit("-t 10 -n 24 -p high", at=5, run=10))
    log = run.events
    (row,) = np.flatnonzero(log.kind == EventKind.REQUEUE)
    after = log.time_s == log.time_s[row]
    assert (log.busy[after][-1], log.queued[after][-1]) == (24, 1)  # the other has the nodes
    assert wl.verify(run).sentences == []


def test_a_suspended_job_goes_on_when_its_nodes_are_up(tmp_path: Path) -> None:
    """At 50 s it loses n1 and is given another node, which sleeps."""
    run = _run(tmp_path, "SUSPEND,GANG", submit("-t 10 -n 8", run=200)
               + submit("-t 10 -n 8 -w n1 -p high", at=50, run=300))
    log, held = run.events, run.node_stays
    assert held is not None
    assert run.notes["suspended_jobs"] == 1.0
    (resumed,) = np.flatnonzero(log.kind == EventKind.RESUME)
    goes_on_s = float(log.time_s[resumed])
    assert goes_on_s >= 110.0
    assert log.power_w[resumed] - log.power_w[log.time_s < goes_on_s][-1] == 80.0
    assert held.from_s[held.job == 0].tolist() == [float(run.schedule.start_s[0]), goes_on_s]
    assert held.watts_w[held.job == 0].tolist() == [80.0, 80.0]
    assert _added_j(run) == pytest.approx(run.schedule.energy_j)
    assert wl.verify(run).sentences == []


def test_a_job_cancelled_while_its_nodes_boot_adds_nothing(tmp_path: Path) -> None:
    run = _run(tmp_path, "REQUEUE", submit("-t 10 -n 1", run=10)
               + submit("-t 10 -n 24 --no-requeue", at=100, run=20)
               + submit("-t 10 -n 24 -p high", at=110, run=10))
    held = run.node_stays
    assert held is not None
    assert run.schedule.end_s[1] < run.schedule.start_s[1] + 60.0
    assert held.watts_w[held.job == 1].tolist() == [0.0, 0.0, 0.0]
    assert _added_j(run) == pytest.approx(run.schedule.energy_j)
    assert wl.verify(run).sentences == []


LOG = """\
JobID|JobName|User|Account|Partition|Submit|Start|End|Timelimit|NNodes|ReqTRES|State|NodeList
1|a|ada|p|low|{at}00:00|{at}00:00|{at}00:10|00:05:00|1|cpu=1,node=1|COMPLETED|n1
2|sim|ada|p|low|{at}01:40|{at}01:40|{at}01:40|00:05:00|1|cpu=8,node=1|FAILED|n1
3|b|ada|p|high|{at}01:50|{at}01:50|{at}02:50|00:05:00|4|cpu=32,node=4|COMPLETED|n[1-2],m[1-2]
""".replace("{at}", "2025-03-04T08:")


def test_a_job_of_no_time_with_claims_goes_on(tmp_path: Path) -> None:
    """Job 2 is suspended while its node boots, and has nothing left to do on any class."""
    (tmp_path / "slurm.conf").write_text(CONF.format(mode="SUSPEND,GANG").replace(
        "NodeName=n[1-3] CPUs=8 RealMemory=16000", "NodeName=n[1-2] CPUs=8 Feature=fast\n"
        "NodeName=m[1-2] CPUs=8 Feature=slow"))
    (tmp_path / "sacct.txt").write_text(LOG)
    (tmp_path / "claims.csv").write_text("application,node_class,threads,cap_w,time_s,energy_j\n"
                                         "sim,fast,,,100,20000\nsim,slow,,,400,48000\n")
    twin = wl.make_twin(tmp_path / "slurm.conf", sacct=tmp_path / "sacct.txt", idle_w=100.0,
                        cpu_w=10.0)
    run = wl.simulate(twin.scenario, policy__placement="claims", policy__configure={
        "name": "claims", "claims": str(tmp_path / "claims.csv"), "objective": "time"})
    assert run.notes["suspended_jobs"] == 1.0
    assert run.ran.all()
    assert np.isfinite(run.schedule.end_s).all()
    assert wl.verify(run).sentences == []
