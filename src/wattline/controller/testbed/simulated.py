"""The same submissions, simulated: how far a real Slurm is from what the policy would have done.

Jobs are submitted when Slurm took them. A simulated job frees its nodes the moment its work is
done; a real one holds them until its last process has gone, Slurm has said so, the controller has
seen it and Slurm's next tick starts another. Three simulations tell these apart: one in which jobs
run for their work alone, one in which each holds its nodes longer by one constant, the median of
what the run itself shows, and one that is told when the controller heard of each job, how long each
held its nodes, how long after the decision each was seen to run, and what meters said. From when it
is seen to run its limit counts, and with the end that it allows backfilling reckons: jobs
that are seen to run in one look are expected to end together. What this simulation leaves is the
start itself: in a crowded machine small differences change who is next, and the first two run away
from the real one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wattline.books import Decision, Event, Measured
from wattline.controller.testbed.accounted import SeenJob
from wattline.controller.testbed.layout import NodePower
from wattline.controller.testbed.running import BedRun
from wattline.controller.testbed.workload import BedJob
from wattline.engine.plain_process import call_plain
from wattline.engine.telling import Teller
from wattline.model.jobs import JobTable
from wattline.scenario.api import simulate
from wattline.scenario.in_python import asked as asked_for
from wattline.scenario.journals import MOST_TOLD, along_axes
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
    """Each holds them for as long as it did, from when the controller heard of it, runs as long
    after the decision as it was seen to, and draws what was measured; one of whose end it did not
    hear holds them longer than its work by `overhead_s`."""


@dataclass(frozen=True)
class Setup:
    """What the simulations have in common."""

    nodes: int
    power: NodePower
    cap_w: float
    policies: Mapping[str, Any]
    scenario: str | Path | None = None

    @property
    def machine(self) -> Machine:
        return Machine(nodes=self.nodes, node_idle_w=self.power.idle_w,
                       node_active_w=self.power.active_w)


def beside_simulation(run: BedRun, jobs: Sequence[BedJob], setup: Setup) -> BesideSimulation:
    """Simulate what was submitted on a bed, and compare the starts."""
    asked = {job.number: job for job in jobs}
    # A controller that is stopped early, or slow, does not hear of every end.
    known_s = [job.held_s - asked[job.number].run_s for job in run.seen if job.held_s >= 0.0]
    overhead_s = max(float(np.median(known_s)), 0.0) if known_s else 0.0
    return BesideSimulation(
        overhead_s,
        _lateness(run.seen, asked, setup, _Told(lambda job: asked[job.number].run_s)),
        _lateness(run.seen, asked, setup,
                  _Told(lambda job: asked[job.number].run_s + overhead_s)),
        _lateness(run.seen, asked, setup, _Told(
            lambda job: job.held_s if job.held_s >= 0.0 else asked[job.number].run_s + overhead_s,
            lambda job: job.submit_s if math.isnan(job.heard_s) else job.heard_s,
            lambda job: job.delay_s if 0.0 <= job.delay_s <= job.held_s else 0.0, run.measured)))


@dataclass(frozen=True)
class _Told:
    """What a simulation is told of each job."""

    holds_s: Callable[[SeenJob], float]
    """How long it holds its nodes."""
    arrives_s: Callable[[SeenJob], float] = attrgetter("submit_s")
    delay_s: Callable[[SeenJob], float] | None = None
    """So long of that it is not seen to run; None: all jobs run at once."""
    measured: Sequence[tuple[float, int | None, float]] = ()
    """Times, numbers of jobs (None: the whole machine), and watts."""


def _lateness(
    jobs: Sequence[SeenJob], asked: Mapping[int, BedJob], setup: Setup, told: _Told
) -> Lateness:
    seen = sorted(jobs, key=lambda job: (told.arrives_s(job), job.number))
    first_s = told.arrives_s(seen[0])
    delays_s = [0.0 if told.delay_s is None else told.delay_s(job) for job in seen]
    table = JobTable.build(
        job_id=[job.number for job in seen],
        submit_s=[told.arrives_s(job) - first_s for job in seen],
        run_s=[told.holds_s(job) - delay_s for job, delay_s in zip(seen, delays_s, strict=True)],
        requested_s=[asked[job.number].limit_s for job in seen],
        procs=[asked[job.number].nodes for job in seen],
        power_w=[float(asked[job.number].watts) for job in seen])
    if told.delay_s is None:
        starts_s, end_s = _simulated(table, setup)
    else:  # few jobs take less time than it takes to compile
        row = {job.number: row for row, job in enumerate(seen)}
        measured = [(at_s - first_s, Measured(watts, None if number is None else row[number]))
                    for at_s, number, watts in told.measured if number is None or number in row]
        given = (table, setup, delays_s, measured)
        starts_s, end_s = ((len(seen) <= MOST_TOLD and call_plain(simulated_late, *given))
                           or simulated_late(*given))
    late_s = np.array([job.start_s - first_s for job in seen]) - starts_s
    return Lateness(float(np.median(np.abs(late_s))), float(late_s[np.abs(late_s).argmax()]),
                    end_s + first_s)


def _simulated(table: JobTable, setup: Setup) -> tuple[NDArray[np.float64], float]:
    """Starts in the order of the table, and the last end."""
    run = simulate(setup.scenario, trace=table, machine=setup.machine, cap=setup.cap_w,
                   **setup.policies)
    place = {int(number): row for row, number in enumerate(run.jobs.job_id)}
    rows = [place[int(number)] for number in table.job_id]
    return run.schedule.start_s[rows], float(np.nanmax(run.schedule.end_s))


def simulated_late(
    table: JobTable, setup: Setup, delays_s: Sequence[float],
    measured: Sequence[tuple[float, Event]],
) -> tuple[NDArray[np.float64], float]:
    """The same where jobs begin some time after the decision, which is the start that is told."""
    ready = asked_for(setup.scenario, trace=table, machine=setup.machine, cap=setup.cap_w,
                      policies=setup.policies).plan()
    teller = Teller(ready.jobs, ready.machine, along_axes(ready), ready.rules)
    teller.delay_s, teller.further = lambda row: delays_s[int(row)], list(measured)
    starts_s = np.full(len(table), math.nan)

    def note(now_s: float, events: object, decisions: Sequence[Decision], answers: object) -> None:
        for decision in decisions:
            if decision.kind == "start" and decision.job is not None:
                starts_s[int(decision.job)] = now_s

    books = teller.run(note)
    return starts_s, books.now_s
