"""Milliseconds of the network parts: a workload's times, one placement, the study's pace."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.benchmarks._measuring import seconds
from wattline.model.progress import Advance
from wattline.network.placement import Readings, choose
from wattline.network.topology import dragonfly
from wattline.policies.placement.network.layout import layout, make_room
from wattline.policies.placement.network.placements import PLACEMENTS
from wattline.studies.dragonfly.compare import POLICIES, WorkloadSettings, run_chunk, workload
from wattline.studies.dragonfly.evaluate import Bench

WORKLOADS, PACKET_WORKLOADS, STUDY_WORKLOADS = 25, 5, 5
REPEATS = 3
"""The best of so many counts: other programs on the machine only add time."""
MANY_NODES = 100_000


def measure(progress: Advance) -> dict[str, Any]:
    """Flow times of random 272-node workloads, packets beside them, placements at 100,000 nodes."""
    flows = _times(Bench(dragonfly()), WORKLOADS)
    progress(0.4)
    packets = _times(Bench(dragonfly(), packets=True), PACKET_WORKLOADS)
    progress(0.6)
    chunk = range(STUDY_WORKLOADS)
    run_chunk(WorkloadSettings(repeats=1), chunk)
    study_s = min(seconds(lambda: run_chunk(WorkloadSettings(repeats=1), chunk))
                  for _ in range(REPEATS)) / len(chunk)
    progress(0.8)
    placed = _placements()
    return {
        "workload_flow_ms_mean": 1e3 * float(np.mean(flows)),
        "workload_flow_ms_p95": 1e3 * float(np.quantile(flows, 0.95)),
        "workload_packet_ms_mean": 1e3 * float(np.mean(packets)),
        "study_workload_all_policies_ms": 1e3 * study_s,
        "study_policies": len(POLICIES),
        "study_1000_workloads_two_cores_s": 1000 * study_s / 2,
        "placement_nodes": MANY_NODES,
        "placement_ms": placed,
        "placement_ms_max": max(placed.values()),
    }


def _times(bench: Bench, count: int) -> list[float]:
    """Seconds for all jobs of a workload under one policy, placement and mapping included."""
    found = []
    for number in range(count):
        work = workload(WorkloadSettings(), number)
        for policy in ("level-spread", "simple", "rdn"):
            if number == 0:
                bench.run(work, policy, seed=1)  # warm
            found.append(min(seconds(lambda work=work, policy=policy:  # type: ignore[misc]
                                      bench.run(work, policy, seed=1)) for _ in range(REPEATS)))
    return found


def _placements() -> dict[str, float]:
    """Milliseconds for one job of 500 nodes on a machine of which 40 % is free, by placement."""
    where = layout(np.repeat(np.arange(MANY_NODES // 4), 4), np.arange(MANY_NODES // 4) // 100)
    rng = np.random.default_rng(1)
    free = rng.random(MANY_NODES) < 0.4
    room = make_room(where, 1)
    readings = Readings(rng.random(MANY_NODES // 4), rng.random(MANY_NODES // 4))
    found = {}
    for name in PLACEMENTS:
        choose(name, where, free, 500, room, readings)
        found[name] = 1e3 * min(
            seconds(lambda name=name:  # type: ignore[misc]
                     choose(name, where, free, 500, room, readings)) for _ in range(7))
    return found
