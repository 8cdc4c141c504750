"""Table 2: what a simulation in steps of minutes gets wrong in the energy of a day.

The stepped simulation is the same engine on a log on the grid of the step: a job is seen at the
next step after its arrival, its run time is rounded to steps, and so everything happens at steps.
Rounding then changes who is backfilled, and with it the whole schedule: an error of chaos more than
of the step. `replayed` keeps the order and the waits of the exact run and only puts every start and
end on the grid, `sampled` only reads the exact run's power once a step.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.studies.puppet.figures import DAY_S, energy_until
from wattline.studies.puppet.runs import WHOLE, CappedCase, Laboratory, composition

PUBLISHED = {1: (0.0384, 5.40), 5: (0.0503, 5.25), 15: (0.0885, 4.95), 30: (0.1532, 4.60),
             60: (0.1809, 4.40)}
"""Step in minutes -> maximum error of daily energy, minutes for the run."""


@dataclass(frozen=True)
class StepError:
    """One row of the table."""

    step_min: int
    error: float
    """Largest relative error of a day's energy."""
    mean_error: float
    replayed: float
    """The largest, with the starts of the exact run kept and put on the grid."""
    sampled: float
    seconds: float
    published_error: float
    published_min: float


def step_study(laboratory: Laboratory, order: str = "wfp") -> list[StepError]:
    """The table on the whole log, without a cap."""
    case = CappedCase(WHOLE, order, "none")
    jobs = laboratory.workload.whole
    exact = laboratory.run(case, np.ones(len(jobs), np.bool_))
    days = max(1, int(jobs.submit_s[-1] // DAY_S))
    edges = np.arange(days + 1, dtype=np.float64) * DAY_S
    daily_j = np.diff(energy_until(exact, edges))
    rows = []
    for step_min, (published, minutes) in PUBLISHED.items():
        began = time.perf_counter()
        stepped = _run(laboratory, case, on_grid(jobs, 60.0 * step_min))
        seconds = time.perf_counter() - began
        error = np.abs(np.diff(energy_until(stepped, edges)) - daily_j) / daily_j
        kept_j = _replayed_daily_j(exact, edges, 60.0 * step_min)
        replayed = np.abs(kept_j - daily_j) / daily_j
        sampled = np.abs(_sampled_daily_j(exact, days, 60.0 * step_min) - daily_j) / daily_j
        rows.append(StepError(step_min, float(error.max()), float(error.mean()),
                              float(replayed.max()), float(sampled.max()), seconds, published,
                              minutes))
    return rows


def on_grid(jobs: JobTable, step_s: float) -> JobTable:
    """The log as a stepped simulation sees it."""
    return jobs.with_columns(
        submit_s=np.ceil(jobs.submit_s / step_s) * step_s,
        run_s=np.maximum(np.rint(jobs.run_s / step_s), 1.0) * step_s,
        requested_s=np.maximum(np.ceil(jobs.requested_s / step_s), 1.0) * step_s,
    )


def _run(laboratory: Laboratory, case: CappedCase, jobs: JobTable) -> Run:
    from wattline.engine.simulate import simulate
    from wattline.model.machine import Machine, NodeClass

    workload = laboratory.workload
    node = NodeClass(power_w_idle=case.idle * workload.node_w, power_w_active=workload.node_w)
    return simulate(jobs, Machine.uniform(workload.nodes, node), composition(case))


def _replayed_daily_j(run: Run, edges_s: FloatArray, step_s: float) -> FloatArray:
    """Energy of each day when every job begins at the step after its start, for whole steps."""
    ran = run.ran
    begin_s = np.ceil(run.schedule.start_s[ran] / step_s) * step_s
    took_s = run.schedule.end_s[ran] - run.schedule.start_s[ran]
    end_s = begin_s + np.maximum(np.rint(took_s / step_s), 1.0) * step_s
    idle_w = run.machine.power_w_idle / run.units
    rise_w = run.jobs.power_w[ran] - run.schedule.nodes[ran] * idle_w
    time_s = np.concatenate((begin_s, end_s))
    order = np.argsort(time_s, kind="stable")
    rise = np.concatenate((rise_w, -rise_w))[order]
    time_s = time_s[order]
    # Joules above idle up to each change, and from there on up to each edge.
    power_w = np.cumsum(rise)
    energy_j = np.concatenate(([0.0], np.cumsum(power_w[:-1] * np.diff(time_s))))
    row = np.searchsorted(time_s, edges_s, "right") - 1
    until = np.where(row >= 0, energy_j[row] + power_w[row] * (edges_s - time_s[row]), 0.0)
    daily: FloatArray = np.diff(until) + run.machine.power_w_idle * np.diff(edges_s)
    return daily


def _sampled_daily_j(run: Run, days: int, step_s: float) -> FloatArray:
    """Energy of each day when the power at the beginning of a step stands for the whole step."""
    times = np.arange(round(days * DAY_S / step_s)) * step_s
    index = np.searchsorted(run.events.time_s, times, side="right") - 1
    power_w = np.where(index >= 0, run.events.power_w[np.maximum(index, 0)],
                       run.machine.power_w_idle)
    daily: FloatArray = (power_w * step_s).reshape(days, -1).sum(axis=1)
    return daily
