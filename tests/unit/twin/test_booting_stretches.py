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
    """What each job drew by its stays: its own watts, and its CPUs' part of the idle power."""
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
    assert wl.check(run) == []


def test_a_requeued_job_waits_again(tmp_path: Path) -> None:
    run = _run(tmp_path, "REQUEUE", submit("-t 10 -n 24", run=20)
               + submit("-t 10 -n 24 -p high", at=5, run=10))
    log = run.events
    (row,) = np.flatnonzero(log.kind == EventKind.REQUEUE)
    after = log.time_s == log.time_s[row]
    assert (log.busy[after][-1], log.queued[after][-1]) == (24, 1)  # the other has the nodes
    assert wl.check(run) == []
