"""What a run made of its energy budget: periods kept and exceeded, by which jobs, and jobs without.

The rule of the budget lets a job start that ends in a later period, and lets all jobs start when
the last period is over; so whoever reads the figures must see which jobs these were.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.analysis.series import power_steps
from wattline.model.run import Run
from wattline.model.signal import FloatArray

_ROUNDING = 1e-6
"""What floats leave of a budget that is used to the last joule is no excess."""


def budget_notes(found: dict[str, Any]) -> dict[str, float]:
    """Figures for `Run.notes` from what `budget_kept` found."""
    return {
        "budget_periods": float(found["periods"]),
        "budget_periods_over": float(len(found["over"])),
        "budget_excess_j": max((over["excess_j"] for over in found["over"]), default=0.0),
        "budget_beyond_s": found["beyond_s"],
        "budget_jobs_without": float(len(found["without"])),
    }


def budget_kept(budget: Any, run: Run) -> dict[str, Any]:
    """For `Run.budget`, from a budget's parameters (`admission.budget.Budget`)."""
    edges = np.asarray(budget.edge_s)[np.asarray(budget.first)]
    begun = edges[edges < run.end_s]
    ends = np.append(begun[1:], min(edges[-1], run.end_s)) if len(begun) else begun
    begun, ends = begun[ends > begun], ends[ends > begun]
    used_j = _drawn_j(run, ends) - _drawn_j(run, begun)
    over_j = used_j - budget.energy_j
    return {
        "energy_j": float(budget.energy_j),
        "periods": len(used_j),
        "over": [
            {"period": int(at) + 1, "start_s": float(begun[at]), "end_s": float(ends[at]),
             "energy_j": float(used_j[at]), "excess_j": float(over_j[at]),
             "jobs": _responsible(run, float(begun[at]), float(ends[at]))}
            for at in np.flatnonzero(over_j > _ROUNDING * budget.energy_j)
        ],
        "without": _without(run, float(edges[-1])),
        "beyond_s": max(run.end_s - float(edges[-1]), 0.0),
    }


def _drawn_j(run: Run, time_s: FloatArray) -> FloatArray:
    steps = power_steps(run)
    drawn_j = np.concatenate(([0.0], np.cumsum(steps.value * np.diff(steps.edge_s))))
    return np.interp(time_s, steps.edge_s, drawn_j)


def _responsible(run: Run, start_s: float, end_s: float) -> list[dict[str, Any]]:
    """Jobs that drew in a period what its budget was not asked for, most joules first."""
    schedule, jobs = run.schedule, run.jobs
    carried = run.ran & (schedule.start_s < start_s) & (schedule.end_s > start_s)
    # At a lower frequency the request is stretched by as much as the run time.
    used = np.where(run.ran, schedule.end_s - schedule.start_s, 0.0)
    due_s = schedule.start_s + used * np.minimum(jobs.requested_s / jobs.run_s, 1.0)
    longer = run.ran & (jobs.run_s > jobs.requested_s) & (
        np.minimum(schedule.end_s, end_s) > np.maximum(due_s, start_s))
    shared_s = np.minimum(schedule.end_s, end_s) - np.maximum(schedule.start_s, start_s)
    idle_w = run.machine.power_w_idle / run.units * schedule.nodes
    found = []
    for row in np.flatnonzero((carried & (schedule.start_s < end_s)) | longer):
        above_w = schedule.energy_j[row] / used[row] - idle_w[row]
        reasons = [text for text, holds in (
            ("was running when the period began", carried[row]),
            ("ran longer than requested", longer[row])) if holds]
        found.append({**_named(run, int(row)), "above_idle_j": float(above_w * shared_s[row]),
                      "why": " and ".join(reasons)})
    return sorted(found, key=lambda job: -job["above_idle_j"])


def _without(run: Run, last_s: float) -> list[dict[str, Any]]:
    """Jobs that started when the last planned period was over."""
    return [{**_named(run, int(row)), "start_s": float(run.schedule.start_s[row]),
             "energy_j": float(run.schedule.energy_j[row])}
            for row in np.flatnonzero(run.ran & (run.schedule.start_s >= last_s))]


def _named(run: Run, row: int) -> dict[str, Any]:
    return {"job_id": int(run.jobs.job_id[row]), "restart": int(run.jobs.restart[row])}
