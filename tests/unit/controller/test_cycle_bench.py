"""The benchmark of a controller's cycle, on a small machine: that it measures what it says."""

from __future__ import annotations

import json

from wattline.benchmarks import _live_cycle
from wattline.benchmarks._live_machine import SHOWN_LOOKS, Queue, QueueCommands
from wattline.live.slurm.client import Slurm


def test_jobs_end_come_and_are_started_while_cycles_are_measured(monkeypatch) -> None:
    for name, value in {"RUNNING": 8, "PENDING": 30, "CHANGING": 2, "CYCLES": 4,
                        "CYCLE_S": 0.0}.items():
        monkeypatch.setattr(_live_cycle, name, value)
    parts: list[float] = []
    found = _live_cycle.measure_cycle(parts.append)
    json.dumps(found)
    assert found["decisions"] > 0
    assert found["running"] + found["pending"] == 38
    assert found["running"] > 8 - 2 * 4
    assert 0 < found["cpu_ms_p50"] <= found["cpu_ms_worst"]
    assert 0 < found["clock_ms_p50"] <= found["clock_ms_worst"]
    assert parts[-1] == 1.0


def test_the_queue_is_printed_as_slurm_would() -> None:
    queue = Queue(3, 4)
    slurm = Slurm(QueueCommands(queue=queue))
    seen = slurm.look()
    assert [job.state for job in seen.jobs] == ["RUNNING"] * 3 + ["PENDING"] * 4
    assert {node.name for node in seen.nodes if not node.rests} == {
        node for job in seen.jobs for node in job.node_list}
    waits = next(job for job in seen.jobs if job.held and job.nodes == 1)
    slurm.start(waits.label, [queue.nodes[-1]])
    queue.pass_time(1)
    found = slurm.job(waits.label)
    assert found is not None
    assert (found.state, found.node_list) in (("RUNNING", (queue.nodes[-1],)),
                                              ("COMPLETED", (queue.nodes[-1],)))
    shown = len(slurm.look().jobs)
    for _ in range(SHOWN_LOOKS):
        queue.pass_time(0)
    assert len(slurm.look().jobs) == shown - 1
