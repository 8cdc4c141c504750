"""The same submissions, simulated: how far a real Slurm is from what the policy would have done.

Jobs are submitted when Slurm took them. A simulated job frees its nodes the moment its work is
done; a real one holds them until its last process has gone, Slurm has said so, the controller has
seen it and Slurm's next tick starts another. Two simulations tell these apart: one in which jobs
run for their work alone, and one in which each holds its nodes longer by one constant, the median
of what the run itself shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wattline.controller.testbed.accounted import SeenJob
from wattline.controller.testbed.layout import NodePower
from wattline.controller.testbed.running import BedRun
from wattline.controller.testbed.workload import BedJob
from wattline.model.jobs import JobTable
from wattline.scenario.api import simulate
from wattline.scenario.objects import Machine


@dataclass(frozen=True)
class Lateness:
    """Starts on the bed less those of a simulation, and the simulation's makespan."""

    late_s_median: float
    """Of the differences without their signs."""
    late_s_worst: float
    """The largest; negative where the real start was before the simulated one."""
    makespan_s: float


@dataclass(frozen=True)
class BesideSimulation:
    """A run beside two simulations of the same submissions."""

    overhead_s: float
    """So much longer than its work a job held its nodes, in the median."""
    without: Lateness
    """Jobs hold their nodes for their work alone."""
    with_overhead: Lateness
    """Each holds them longer by `overhead_s`."""


@dataclass(frozen=True)
class Setup:
    """What both simulations have in common."""

    nodes: int
    power: NodePower
    cap_w: float
    policies: Mapping[str, Any]
    scenario: str | Path | None = None


def beside_simulation(run: BedRun, jobs: Sequence[BedJob], setup: Setup) -> BesideSimulation:
    """Simulate what was submitted on a bed, and compare the starts."""
    asked = {job.number: job for job in jobs}
    seen = sorted(run.seen, key=lambda job: (job.submit_s, job.number))
    overhead_s = max(float(np.median([job.held_s - asked[job.number].run_s for job in seen])), 0.0)
    return BesideSimulation(overhead_s, _lateness(seen, asked, setup, 0.0),
                            _lateness(seen, asked, setup, overhead_s))


def _lateness(
    seen: Sequence[SeenJob], asked: Mapping[int, BedJob], setup: Setup, overhead_s: float
) -> Lateness:
    first_s = seen[0].submit_s
    table = JobTable.build(
        job_id=[job.number for job in seen], submit_s=[job.submit_s - first_s for job in seen],
        run_s=[asked[job.number].run_s + overhead_s for job in seen],
        requested_s=[asked[job.number].limit_s for job in seen],
        procs=[asked[job.number].nodes for job in seen],
        power_w=[float(asked[job.number].watts) for job in seen])
    machine = Machine(nodes=setup.nodes, node_idle_w=setup.power.idle_w,
                      node_active_w=setup.power.active_w)
    simulated = simulate(setup.scenario, trace=table, machine=machine, cap=setup.cap_w,
                         **setup.policies)
    starts = {int(number): float(at_s) + first_s for number, at_s in
              zip(simulated.jobs.job_id, simulated.schedule.start_s, strict=True)}
    late_s = np.array([job.start_s - starts[job.number] for job in seen])
    return Lateness(float(np.median(np.abs(late_s))), float(late_s[np.abs(late_s).argmax()]),
                    float(np.nanmax(simulated.schedule.end_s)) + first_s)
