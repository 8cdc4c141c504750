"""The same submissions, simulated: how far a real Slurm is from what the policy would have done.

Jobs are submitted when Slurm took them. A simulated job frees its nodes the moment its work is
done; a real one holds them until its last process has gone, Slurm has said so, the controller has
seen it and Slurm's next tick starts another. Three simulations tell these apart: one in which jobs
run for their work alone, one in which each holds its nodes longer by one constant, the median of
what the run itself shows, and one that is told, as the log of a site tells it, when the controller
heard of each job and how long each held its nodes. What the last leaves is the start itself: in a
crowded machine small differences change who is next, and the first two run away from the real one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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
    """A run beside three simulations of the same submissions."""

    overhead_s: float
    """So much longer than its work a job held its nodes, in the median."""
    without: Lateness
    """Jobs hold their nodes for their work alone."""
    with_overhead: Lateness
    """Each holds them longer by `overhead_s`."""
    as_held: Lateness
    """Each holds them for as long as it did, from when the controller heard of it; one of whose end
    it did not hear, longer than its work by `overhead_s`."""


@dataclass(frozen=True)
class Setup:
    """What the simulations have in common."""

    nodes: int
    power: NodePower
    cap_w: float
    policies: Mapping[str, Any]
    scenario: str | Path | None = None


def beside_simulation(run: BedRun, jobs: Sequence[BedJob], setup: Setup) -> BesideSimulation:
    """Simulate what was submitted on a bed, and compare the starts."""
    asked = {job.number: job for job in jobs}
    # A controller that is stopped early, or slow, does not hear of every end.
    known_s = [job.held_s - asked[job.number].run_s for job in run.seen if job.held_s >= 0.0]
    overhead_s = max(float(np.median(known_s)), 0.0) if known_s else 0.0
    return BesideSimulation(
        overhead_s,
        _lateness(run.seen, asked, setup, _submitted, lambda job: asked[job.number].run_s),
        _lateness(run.seen, asked, setup, _submitted,
                  lambda job: asked[job.number].run_s + overhead_s),
        _lateness(run.seen, asked, setup,
                  lambda job: job.submit_s if math.isnan(job.heard_s) else job.heard_s,
                  lambda job: (job.held_s if job.held_s >= 0.0
                               else asked[job.number].run_s + overhead_s)))


def _submitted(job: SeenJob) -> float:
    return job.submit_s


def _lateness(
    jobs: Sequence[SeenJob], asked: Mapping[int, BedJob], setup: Setup,
    arrives_s: Callable[[SeenJob], float], holds_s: Callable[[SeenJob], float],
) -> Lateness:
    seen = sorted(jobs, key=lambda job: (arrives_s(job), job.number))
    first_s = arrives_s(seen[0])
    table = JobTable.build(
        job_id=[job.number for job in seen], submit_s=[arrives_s(job) - first_s for job in seen],
        run_s=[holds_s(job) for job in seen],
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
