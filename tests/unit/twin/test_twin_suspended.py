"""A twin whose jobs are suspended: its run, its joules and its check agree on when they ran."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import submit

import wattline as wl
from wattline.model.run import EventKind

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=SUSPEND,GANG
NodeName=n1 CPUs=8 RealMemory=8000
PartitionName=low Nodes=n1 Default=YES PriorityTier=1 PreemptMode=SUSPEND
PartitionName=high Nodes=n1 PriorityTier=2 PreemptMode=OFF
"""
LOG = (submit("-n 8 -t 20 -p low --uid=a", 0, 600) + submit("-n 8 -t 20 -p high --uid=b", 103, 300)
       + submit("-n 8 -t 20 -p high --uid=b", 500, 60))


def _twin(folder: Path) -> Path:
    conf, log = folder / "slurm.conf", folder / "day.events"
    conf.write_text(CONF)
    log.write_text(LOG)
    wl.make_twin(conf, events=log, idle_w=100, cpu_w=10, gpu_w=0, out=folder / "twin.toml")
    return folder / "twin.toml"


def test_a_run_has_the_pauses_of_its_jobs(tmp_path: Path) -> None:
    run = wl.simulate(_twin(tmp_path))
    assert wl.verify(run).sentences == []
    start_s, end_s = run.schedule.start_s[0], run.schedule.end_s[0]
    paused = run.events.time_s[run.events.kind == EventKind.PAUSE]
    resumed = run.events.time_s[run.events.kind == EventKind.RESUME]
    assert len(paused) == len(resumed) == 2
    lost_s = float((resumed - paused).sum())
    assert lost_s >= 360.0
    assert end_s - start_s - lost_s == pytest.approx(600.0, abs=1.01)
    # All of the node's 100 W and 8 x 10 W while it ran, nothing while it did not.
    assert run.schedule.energy_j[0] == pytest.approx(180.0 * (end_s - start_s - lost_s))
    assert run.notes["suspended_jobs"] == 1
    assert run.notes["suspended_h"] == pytest.approx(lost_s / 3600.0)


def test_the_check_counts_no_cpu_of_a_suspended_job(tmp_path: Path) -> None:
    found = wl.check_twin(_twin(tmp_path), phases=1)
    busy_s = 8 * sum(600.0 if row == 0 else (300.0, 60.0)[row - 1] for row in range(3))
    span_s = float(found.run.schedule.end_s.max())
    assert found.utilisation["simulated"] == pytest.approx(busy_s / (8 * span_s), rel=0.005)
    waits_s = found.run.schedule.start_s - found.run.jobs.submit_s
    assert found.mean_wait_s["simulated"] == pytest.approx(waits_s.mean())
    assert waits_s[0] < 60.0


def test_a_run_that_was_lost_has_its_pauses(tmp_path: Path) -> None:
    """Two suspensions, then its node fails: each stretch has the watts of its CPUs and node."""
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "day.events").write_text(LOG)
    (tmp_path / "down.txt").write_text(
        "NodeName|TimeStart|TimeEnd|State|Reason\nn1|700|800|DOWN|x\n")
    twin = wl.make_twin(tmp_path / "slurm.conf", events=tmp_path / "day.events", idle_w=100,
                        cpu_w=10, gpu_w=0, down=tmp_path / "down.txt")
    run = wl.simulate(twin.scenario)
    assert wl.verify(run).sentences == []
    log = run.events
    of_job = (log.job == 0) & (log.kind != EventKind.SUBMIT)
    first = [EventKind.START, EventKind.PAUSE, EventKind.RESUME]
    assert log.kind[of_job].tolist() == [
        *first, EventKind.PAUSE, EventKind.RESUME, EventKind.REQUEUE, EventKind.START,
        EventKind.END]
    begins = of_job & ((log.kind == EventKind.START) | (log.kind == EventKind.RESUME))
    assert log.value[begins] == pytest.approx(180.0)
    ends = of_job & ~begins
    drawn_j = 180.0 * (log.time_s[ends] - log.time_s[begins]).cumsum()
    assert log.value[ends] == pytest.approx(drawn_j)
    assert run.schedule.energy_j[0] == pytest.approx(drawn_j[-1])
