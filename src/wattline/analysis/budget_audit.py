"""The audit of energy budgets: what each period drew, and whether jobs had joules to start."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wattline.analysis.audit import TAKING, TOLERANCE, at_event, held_s, jobs_that
from wattline.analysis.free_units import of_units
from wattline.analysis.pace import due_s, steady
from wattline.analysis.power_audits import changes_together
from wattline.model.jobs import IntArray
from wattline.model.promises import EnergyPeriods
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray

_REPORTED = 1e-6
"""So much of a budget a period may draw above it before it has to be reported: rounding."""


def budget(run: Run) -> Iterator[str]:
    """No job starts without joules for it; what a period draws all the same is reported."""
    promised = run.promises.budget
    if promised is None or not len(run.events):
        return
    yield from _starts(run, promised)
    yield from _reported(run, promised)


def _starts(run: Run, promised: EnergyPeriods) -> Iterator[str]:
    """At a start, what was drawn and what all may still draw by their requests is in the budget."""
    if changes_together(run):
        return
    log, edge_s = run.events, promised.edge_s
    taking = np.flatnonzero(np.isin(log.kind, TAKING) & (log.time_s >= edge_s[0])
                            & (log.time_s < edge_s[-1]))
    time_s = np.unique(log.time_s[taking])
    drawn_j = _drawn_j(run, time_s) - _drawn_j(run, edge_s[_period(edge_s, time_s)])
    without_jobs_w = _least_free_w(run)
    due, sure = due_s(run), steady(run)
    ends_s = edge_s[_period(edge_s, time_s) + 1]
    wrong = []
    for (now_s, runs), end_s, so_far_j in zip(_running(run, time_s), ends_s, drawn_j, strict=True):
        above_w = _above_w(run, runs)
        # A job that is overdue may stay; of one that something else slows down nothing is sure.
        until_s = np.where(due[runs] < now_s, end_s, np.minimum(due[runs], end_s))
        until_s = np.where(sure[runs] & np.isfinite(until_s), until_s, now_s)
        ahead_j = without_jobs_w * (end_s - now_s) + float(np.dot(above_w, until_s - now_s))
        if so_far_j + ahead_j > promised.energy_j * (1 + TOLERANCE):
            wrong.append(now_s)
    if wrong:
        rows = taking[np.isin(log.time_s[taking], wrong)]
        yield f"a job starts for which its period has no joules left {at_event(run, rows)}"


def _running(run: Run, time_s: FloatArray) -> Iterator[tuple[float, IntArray]]:
    """The jobs that run at each time."""
    order = np.argsort(run.schedule.start_s, kind="stable")
    upto = np.searchsorted(run.schedule.start_s[order], time_s, "right")
    runs = order[:0]
    for now_s, first, last in zip(time_s, np.append(0, upto), upto, strict=False):
        runs = np.append(runs, order[first:last])
        runs = runs[run.schedule.end_s[runs] > now_s]
        yield float(now_s), runs


def _above_w(run: Run, runs: IntArray) -> FloatArray:
    """What each of these jobs draws above idle, on average."""
    took_s = run.schedule.end_s[runs] - run.schedule.start_s[runs]
    idle_w = run.schedule.nodes[runs] * run.machine.power_w_idle / run.units
    return np.asarray(np.maximum(run.schedule.energy_j[runs] / took_s - idle_w, 0.0))


def _least_free_w(run: Run) -> float:
    """What the machine draws without jobs at least: all idle, or off where it switches nodes."""
    idle_w = of_units(run, lambda node: node.power_w_idle)
    if not np.any(run.events.kind == EventKind.NODE):
        return float(idle_w.sum())
    return float(np.minimum(idle_w, of_units(run, lambda node: node.power_w_off)).sum())


def _reported(run: Run, promised: EnergyPeriods) -> Iterator[str]:
    """The run names the periods that drew more, with how much, and the jobs without a budget."""
    if not run.budget:
        yield "the run has an energy budget, and does not say whether it was kept"
        return
    edge_s = promised.edge_s
    used_j = np.diff(_drawn_j(run, edge_s))
    over = used_j > promised.energy_j * (1 + _REPORTED)
    said = {int(each["period"]) - 1: float(each["energy_j"]) for each in run.budget["over"]}
    for period in sorted(set(np.flatnonzero(over).tolist()) ^ set(said)):
        what = "is reported as above its budget" if period in said else "is not reported"
        yield (f"period {period + 1} of the energy budget drew {float(used_j[period])!r} J of "
               f"{promised.energy_j!r} J and {what}")
    for period, energy_j in said.items():
        if over[period] and abs(energy_j - used_j[period]) > _REPORTED * energy_j:
            yield (f"period {period + 1} of the energy budget is said to have drawn "
                   f"{energy_j!r} J, the log gives {float(used_j[period])!r} J")
    late = run.ran & (run.schedule.start_s >= edge_s[-1])
    named = {(int(job["job_id"]), int(job["restart"])) for job in run.budget["without"]}
    known = [pair in named for pair in zip(run.jobs.job_id.tolist(), run.jobs.restart.tolist(),
                                           strict=True)]
    yield from jobs_that(run, late != np.array(known, dtype=np.bool_),
                         "are not reported rightly as without an energy budget")


def _period(edge_s: FloatArray, time_s: FloatArray) -> IntArray:
    return np.asarray(np.searchsorted(edge_s, time_s, "right") - 1, dtype=np.int64)


def _drawn_j(run: Run, time_s: FloatArray) -> FloatArray:
    """What the machine has drawn up to each time."""
    log = run.events
    edges = np.append(log.time_s, run.end_s)
    total_j = np.append(0.0, np.cumsum(log.power_w * held_s(run)))
    last = np.clip(np.searchsorted(edges, time_s, "right") - 1, 0, len(log) - 1)
    return np.asarray(total_j[last] + log.power_w[last]
                      * np.clip(time_s - log.time_s[last], 0.0, run.end_s - log.time_s[last]))
