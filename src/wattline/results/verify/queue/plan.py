"""The rule of conservative backfilling: nobody starts later than he could count on.

The plan of a run is made again from its records: at its arrival each job has the earliest time that
moves no other, by the requests of all; where a job ends early, the others are moved one by one in
the order of their times, each as early as it can be.
"""

from __future__ import annotations

import numpy as np

from wattline.model.promises import QueueRule
from wattline.model.run import Run
from wattline.results.verify._base import Counted, Finding, Skipped, Verdicts
from wattline.results.verify.queue.free_units import FreeUnits
from wattline.results.verify.queue.instants import join_s
from wattline.results.verify.queue.rules import why_not

MOST_STEPS = 3_000_000
"""Changes of free units that are looked at before the rest of a run is left out."""


def plan(run: Run) -> Verdicts:
    """Each job starts by the time that its reservation has, which never becomes later."""
    schedule, asked_s, rule = run.schedule, run.jobs.requested_s, run.promises.queue
    assert rule is not None
    ran = run.ran
    due_s = np.where(ran, schedule.start_s + asked_s, np.inf)
    if why := why_not(run) or _cannot_plan(run, rule):
        yield Skipped(why)
        return
    ready_s = join_s(run)
    start_s = np.where(ran, schedule.start_s, np.inf)
    free = FreeUnits(run.units)
    planned: dict[int, float] = {}
    # The log has no row for a job that joins the queue after another one has ended.
    times_s = np.unique(np.append(run.events.time_s, ready_s[ran]))
    joining, starting, ending = (
        _rows_at(column, times_s) for column in (ready_s, start_s, schedule.end_s))
    for at, now_s in enumerate(times_s.tolist()):
        early = False
        for job in ending.get(at, ()):
            early |= due_s[job] > now_s
            free.add(now_s, float(due_s[job]), -int(schedule.nodes[job]))
        if early:
            for job in sorted(planned, key=lambda job: (planned[job], job)):
                planned[job] = _again(run, free, job, planned[job], now_s)
        for job in joining.get(at, ()):
            planned[job] = free.earliest(now_s, float(asked_s[job]), int(schedule.nodes[job]))
            free.add(planned[job], planned[job] + float(asked_s[job]), int(schedule.nodes[job]))
        late = [job for job in planned if planned[job] <= now_s and planned[job] < start_s[job]]
        if late:
            name = int(run.jobs.job_id[late[0]])
            starts = "never starts" if np.isinf(start_s[late[0]]) else (
                f"starts at {start_s[late[0]]:g} s")
            yield Finding(f"job {name} could count on {planned[late[0]]:g} s and {starts}", name,
                          planned[late[0]])
            return
        for job in starting.get(at, ()):
            then_s, length_s = planned.pop(job), float(asked_s[job])
            if then_s > now_s:  # sooner than planned: that is no wrong yet
                free.add(then_s, then_s + length_s, -int(schedule.nodes[job]))
                free.add(now_s, now_s + length_s, int(schedule.nodes[job]))
        free.forget(now_s)
        if free.steps > MOST_STEPS:
            yield Counted(at + 1, len(times_s))
            return
    yield Counted(len(times_s), len(times_s))


def _cannot_plan(run: Run, rule: QueueRule) -> str:
    took_s = run.schedule.end_s - run.schedule.start_s
    if any(group.node_class.speed != 1.0 for group in run.machine.groups):
        return "nodes of some class are slower than jobs are planned with"
    if run.reservations:
        return "units are reserved, and the plan is made anew around them"
    if rule.power and run.cap_w is not None:
        return "plans of units beside watts that are short"
    if np.any(took_s[run.ran] > run.jobs.requested_s[run.ran]):
        return "jobs stayed longer than they asked for, and the plan was made anew"
    if np.any(took_s[run.ran] <= 0.0):
        return "jobs of no length"
    return ""


def _rows_at(column_s: np.ndarray[tuple[int], np.dtype[np.float64]],
             times_s: np.ndarray[tuple[int], np.dtype[np.float64]]) -> dict[int, list[int]]:
    """The jobs to which something happens at each time, by its place and in the order of rows."""
    found: dict[int, list[int]] = {}
    rows = np.flatnonzero(np.isfinite(column_s))
    for row, at in zip(rows.tolist(), np.searchsorted(times_s, column_s[rows]).tolist(),
                       strict=True):
        found.setdefault(at, []).append(row)
    return found


def _again(run: Run, free: FreeUnits, job: int, then_s: float, now_s: float) -> float:
    """The time of a job once its reservation is made again: as early as can be."""
    if then_s <= now_s:
        return then_s
    units, length_s = int(run.schedule.nodes[job]), float(run.jobs.requested_s[job])
    free.add(then_s, then_s + length_s, -units)
    found_s = min(free.earliest(now_s, length_s, units), then_s)
    free.add(found_s, found_s + length_s, units)
    return found_s
