"""Rules of energy budgets: joules for each start, and what each period drew."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.promises import EnergyPeriods
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import (
    TAKING,
    TOLERANCE,
    Finding,
    Skipped,
    Verdicts,
    at_event,
    held_s,
    where,
)
from wattline.results.verify.idle_power import idle_w_of_jobs, of_units
from wattline.results.verify.pace import due_s, steady
from wattline.results.verify.power import TOGETHER, changes_together

_REPORTED = 1e-6
"""So much of a budget a period may draw above it before it has to be reported: rounding."""


def starts(run: Run) -> Verdicts:
    """At a start, what was drawn and what all may still draw by their requests is in the budget.

    Of the period of the start and, where jobs may not be carried over, of the next one.
    """
    promised = run.promises.budget
    assert promised is not None
    if changes_together(run) or promised.carry == "charge-now":
        yield Skipped(TOGETHER if changes_together(run) else
                      "jobs are charged to the period of their start (carry = charge-now)")
        return
    log, edge_s = run.events, promised.edge_s
    taking = np.flatnonzero(np.isin(log.kind, TAKING) & (log.time_s >= edge_s[0])
                            & (log.time_s < edge_s[-1]))
    time_s = np.unique(log.time_s[taking])
    period = period_at(edge_s, time_s)
    drawn_j = drawn_energy_j(run, time_s) - drawn_energy_j(run, edge_s[period])
    given_j = given_energy_j(promised, np.diff(drawn_energy_j(run, edge_s)))[period]
    without_jobs_w = _least_free_w(run)
    due, sure = due_s(run), steady(run)
    sure[log.job[log.kind == EventKind.REQUEUE]] = False  # its joules are those of all its runs
    length_s = float(edge_s[1] - edge_s[0])
    checks_next = promised.carry == "forbid" and promised.unspent == "expire"
    wrong = []
    for (now_s, runs), end_s, so_far_j, has_j in zip(
            _running(run, time_s), edge_s[period + 1], drawn_j, given_j, strict=True):
        above_w = _above_w(run, runs)
        # A job that is overdue may stay; of one that something else slows down nothing is sure.
        until_s = np.where(due[runs] < now_s, end_s, due[runs])
        until_s = np.where(sure[runs] & np.isfinite(until_s), until_s, now_s)
        here_s = np.minimum(until_s, end_s) - now_s
        next_s = np.clip(until_s - end_s, 0.0, length_s)
        here_j = so_far_j + without_jobs_w * (end_s - now_s) + float(np.dot(above_w, here_s))
        next_j = without_jobs_w * length_s + float(np.dot(above_w, next_s)) if checks_next else 0.0
        if here_j > has_j * (1 + TOLERANCE) or next_j > promised.energy_j * (1 + TOLERANCE):
            wrong.append(now_s)
    if wrong:
        rows = taking[np.isin(log.time_s[taking], wrong)]
        yield Finding(f"a job starts for which a period has no joules left {at_event(run, rows)}",
                      *where(run, rows))


def given_energy_j(promised: EnergyPeriods, used_j: FloatArray) -> FloatArray:
    """What each period has, with what the one before it left where that is kept."""
    given_j = np.full(len(used_j), promised.energy_j)
    if promised.unspent == "carry":
        for at in range(1, len(given_j)):
            given_j[at] += max(given_j[at - 1] - used_j[at - 1], 0.0)
    return given_j


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
    idle_w = idle_w_of_jobs(run)[runs]
    return np.asarray(np.maximum(run.schedule.energy_j[runs] / took_s - idle_w, 0.0))


def _least_free_w(run: Run) -> float:
    """What the machine draws without jobs at least: all idle, or off where it switches nodes."""
    idle_w = of_units(run, lambda node: node.power_w_idle)
    if not np.any(run.events.kind == EventKind.NODE):
        return float(idle_w.sum())
    return float(np.minimum(idle_w, of_units(run, lambda node: node.power_w_off)).sum())


def reported(run: Run) -> Verdicts:
    """The run names the periods that drew more (or were charged with more), with how much."""
    promised = run.promises.budget
    assert promised is not None
    if not run.budget:
        yield Finding("the run has an energy budget, and does not say whether it was kept")
        return
    charged = promised.carry == "charge-now"
    if charged and (len(run.machine.groups) > 1 or run.policy_powers):
        yield Skipped("charges are not known on several node classes, or under a policy in Python")
        return  # how long a request lasts depends on the class that the job ran on, or on looks
    used_j = (charged_energy_j(run, promised) if charged
              else np.diff(drawn_energy_j(run, promised.edge_s)))
    given_j = given_energy_j(promised, used_j)
    over = used_j > given_j + promised.energy_j * _REPORTED
    word = "charged_j" if charged else "energy_j"
    said = {int(each["period"]) - 1: float(each[word]) for each in run.budget["over"]}
    for period in sorted(set(np.flatnonzero(over).tolist()) ^ set(said)):
        what = "is reported as above its budget" if period in said else "is not reported"
        yield Finding(f"period {period + 1} of the energy budget drew {float(used_j[period])!r} J "
                      f"of {float(given_j[period])!r} J and {what}")
    for period, energy_j in said.items():
        if over[period] and abs(energy_j - used_j[period]) > _REPORTED * energy_j:
            yield Finding(f"period {period + 1} of the energy budget is said to have drawn "
                          f"{energy_j!r} J, the log gives {float(used_j[period])!r} J")


def charged_energy_j(run: Run, promised: EnergyPeriods) -> FloatArray:
    """Of each period: idle nodes, and its jobs from their starts to their requested ends."""
    edge_s = promised.edge_s
    rows = np.flatnonzero(run.ran & (run.schedule.end_s > run.schedule.start_s))
    time_s = due_s(run)[rows] - run.schedule.start_s[rows]
    idle_j = float(of_units(run, lambda node: node.power_w_idle).sum()) * np.diff(edge_s)
    jobs_j = np.bincount(period_at(edge_s, run.schedule.start_s[rows]),
                         _above_w(run, rows) * time_s, minlength=len(idle_j))
    return np.asarray(idle_j + jobs_j)


def period_at(edge_s: FloatArray, time_s: FloatArray) -> IntArray:
    """The period of each time; the last one after its end, too."""
    found = np.searchsorted(edge_s, time_s, "right") - 1
    return np.asarray(np.minimum(found, len(edge_s) - 2), dtype=np.int64)


def drawn_energy_j(run: Run, time_s: FloatArray) -> FloatArray:
    """What the machine has drawn up to each time."""
    log = run.events
    edges = np.append(log.time_s, run.end_s)
    total_j = np.append(0.0, np.cumsum(log.power_w * held_s(run)))
    last = np.clip(np.searchsorted(edges, time_s, "right") - 1, 0, len(log) - 1)
    return np.asarray(total_j[last] + log.power_w[last]
                      * np.clip(time_s - log.time_s[last], 0.0, run.end_s - log.time_s[last]))
