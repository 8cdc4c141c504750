"""What a run made of its energy budget: what each period drew, who exceeded it, who has no room."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from wattline.analysis.series import power_steps
from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.physics.budget_terms import CARRIES, CHARGE_NOW, KEEP, UNSPENT
from wattline.results.verify.idle_power import idle_w_of_jobs

_ROUNDING = 1e-6
"""What floats leave of a budget that is used to the last joule is no excess."""

MOST_ROWS = 10_000
"""So many periods are listed; where there are more, only those that drew more than they had."""


def budget_notes(found: dict[str, Any]) -> dict[str, float]:
    """Figures for `Run.notes` from what `budget_kept` found."""
    return {
        "budget_periods": float(found["periods"]),
        "budget_periods_over": float(len(found["over"])),
        "budget_excess_j": max((over["excess_j"] for over in found["over"]), default=0.0),
        "budget_jobs_no_room": float(len(found["no_room"])),
    }


def budget_kept(
    budget: Any, run: Run, no_room: list[dict[str, Any]] | None = None,
    charges_j: FloatArray | None = None,
) -> dict[str, Any]:
    """For `Run.budget`, from a budget's parameters (`admission.budget.Budget`).

    `no_room` are the jobs that no period has the joules for. `charges_j` is what each period pays
    for idle nodes and the jobs that start in it, where others know better than the run.
    """
    edges = period_edges(budget, run.end_s)
    begun, ends = edges[:-1], np.minimum(edges[1:], run.end_s)
    drawn_j = _drawn_j(run, ends) - _drawn_j(run, begun)
    counted_j = drawn_j
    if budget.carry == CHARGE_NOW:
        counted_j = charged_j(budget, run, edges) if charges_j is None else charges_j
    given_j = allowances_j(budget, counted_j)
    over_j = counted_j - given_j
    over = np.flatnonzero(over_j > _ROUNDING * budget.energy_j)

    def row(at: int) -> dict[str, Any]:
        found = {"period": at + 1, "start_s": float(begun[at]), "end_s": float(ends[at]),
                 "budget_j": float(given_j[at]), "energy_j": float(drawn_j[at])}
        return found | ({"charged_j": float(counted_j[at])} if budget.carry == CHARGE_NOW else {})

    planned = len(budget.first) - 1
    return {
        "energy_j": float(budget.energy_j),
        "carry": CARRIES[budget.carry],
        "unspent": UNSPENT[budget.unspent],
        "periods": len(drawn_j),
        "planned": planned if _varies(budget) else None,
        "by_period": [row(at) for at in range(len(drawn_j))] if len(drawn_j) <= MOST_ROWS else [],
        "over": [row(at) | {"excess_j": float(over_j[at]),
                            "jobs": _responsible(run, float(begun[at]), float(ends[at]))}
                 for at in over.tolist()],
        "no_room": no_room or [],
    }


def period_edges(budget: Any, until_s: float) -> FloatArray:
    """Where the periods begin up to a time, and where the last of them ends."""
    count = max(int(np.ceil((until_s - budget.start_s) / budget.length_s)), 1)
    return np.asarray(budget.start_s + budget.length_s * np.arange(count + 1))


def allowances_j(budget: Any, counted_j: FloatArray) -> FloatArray:
    """What each period has: its own joules, and those that the ones before it left over."""
    given_j = np.full(len(counted_j), float(budget.energy_j))
    if budget.unspent == KEEP:
        for at in range(1, len(given_j)):
            given_j[at] += max(given_j[at - 1] - counted_j[at - 1], 0.0)
    return given_j


def charged_j(budget: Any, run: Run, edges: FloatArray) -> FloatArray:
    """Of each period: idle nodes, and all joules by request of the jobs that start in it."""
    rows = np.flatnonzero(run.ran)
    schedule, jobs = run.schedule, run.jobs
    used_s = schedule.end_s[rows] - schedule.start_s[rows]
    idle_w = idle_w_of_jobs(run)[rows]
    with np.errstate(divide="ignore", invalid="ignore"):
        above_w = np.where(used_s > 0, schedule.energy_j[rows] / used_s - idle_w, 0.0)
        # At a lower frequency the request is stretched by as much as the run time.
        done_s = np.minimum(jobs.run_s[rows], jobs.requested_s[rows])
        asked_s = np.where(used_s > 0, used_s * jobs.requested_s[rows] / done_s, 0.0)
    period = np.searchsorted(edges, schedule.start_s[rows], "right") - 1
    charges = np.bincount(period, above_w * asked_s, minlength=len(edges) - 1)
    return np.asarray(charges[: len(edges) - 1] + budget.min_w * budget.length_s)


def _varies(budget: Any) -> bool:
    """Whether it matters which period is planned: joules cost more in some of its slots."""
    first = np.asarray(budget.first)
    return any(np.any(np.diff(budget.order[a:b]) < 0) for a, b in pairwise(first))


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
    idle_w = idle_w_of_jobs(run)
    found = []
    for row in np.flatnonzero((carried & (schedule.start_s < end_s)) | longer):
        above_w = schedule.energy_j[row] / used[row] - idle_w[row]
        reasons = [text for text, holds in (
            ("was running when the period began", carried[row]),
            ("ran longer than requested", longer[row])) if holds]
        found.append({**named(run, int(row)), "above_idle_j": float(above_w * shared_s[row]),
                      "why": " and ".join(reasons)})
    return sorted(found, key=lambda job: -job["above_idle_j"])


def named(run: Run, row: int) -> dict[str, Any]:
    return {"job_id": int(run.jobs.job_id[row]), "restart": int(run.jobs.restart[row])}
