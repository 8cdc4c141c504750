"""A controller's cycle on a full machine: what Slurm prints is read, told, decided and shown.

Slurm and the nodes are made up; all else is the controller as `wattline controller --act` runs it:
its reader, books, policy, journal on disk, caps of nodes, and the files that it shows itself by.
What Slurm's commands and the nodes take is left out: they run in processes of their own.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from wattline.benchmarks._live_machine import IDLE_W, NODE_W, Queue, QueueCommands, QueueFleet
from wattline.controller.configuration import SiteConfig
from wattline.controller.controller import Cycle
from wattline.controller.serving import serving
from wattline.live.slurm.client import Slurm
from wattline.model.units import fold_hosts

RUNNING, PENDING = 2_000, 5_000
CHANGING = 5
"""So many jobs end at each cycle, as many come, and the controller starts others."""
CYCLES, CYCLE_S = 40, 0.5
SAVE_S = 5.0
"""The books are saved more often than on a site, so that some of the cycles have to do it."""
GOAL_MS = 250.0


def measure_cycle(progress: Callable[[float], None]) -> dict[str, Any]:
    """Cycles at the pace of a site; by the clock, and by the processor's time."""
    queue = Queue(RUNNING, PENDING)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        clock_ms, cpu_ms, decisions = _cycles(queue, Path(folder), progress)
    return {
        "running": queue.running, "pending": queue.pending, "nodes": len(queue.nodes),
        "cycles": CYCLES, "jobs_ending_per_cycle": CHANGING, "decisions": decisions,
        "load_average_before": load, "goal_ms": GOAL_MS,
        "first_cycle_ms": clock_ms[0], **_spread("clock_ms", clock_ms[1:]),
        **_spread("cpu_ms", cpu_ms[1:])}


def _cycles(
    queue: Queue, folder: Path, progress: Callable[[float], None]
) -> tuple[list[float], list[float], int]:
    """A first cycle, in which all jobs are new, and those that follow; and what they decided."""
    site = SiteConfig(nodes=fold_hosts(queue.nodes), node_idle_w=IDLE_W, node_active_w=NODE_W,
                      cap=NODE_W * len(queue.nodes), save=SAVE_S, folder=str(folder))
    clock_ms, cpu_ms, decisions = [], [], 0
    slurm = Slurm(QueueCommands(queue=queue))
    own, fleet = queue.own_time, QueueFleet(queue.nodes, queue.own_time)
    with serving(site, act=True, slurm=slurm, fleet=fleet) as controller:
        for number in range(CYCLES + 1):
            queue.pass_time(CHANGING if number else 0)
            began_s, used_s = time.perf_counter() - own.clock_s, time.process_time() - own.cpu_s
            done: Cycle = controller.cycle()
            cpu_ms.append(1e3 * (time.process_time() - own.cpu_s - used_s))
            clock_ms.append(1e3 * (time.perf_counter() - own.clock_s - began_s))
            decisions += sum(each.kind == "start" for each in done.decisions)
            progress((number + 1) / (CYCLES + 1))
            time.sleep(max(CYCLE_S - clock_ms[-1] / 1e3, 0.0))
    return clock_ms, cpu_ms, decisions


def _spread(name: str, values: list[float]) -> dict[str, float]:
    return {f"{name}_p50": float(np.median(values)), f"{name}_worst": max(values)}
