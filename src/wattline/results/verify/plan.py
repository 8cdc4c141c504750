"""The rule of conservative backfilling: nobody starts later than he could count on.

The plan of a run is made again from its records: at its arrival each job has the earliest time that
moves no other, by the requests of all; where a job ends early, the others are moved one by one in
the order of their times, each as early as it can be.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np

from wattline.model.promises import QueueRule
from wattline.model.run import Run
from wattline.results.verify._base import Counted, Finding, Skipped, Verdicts
from wattline.results.verify.queue import join_s, why_not

MOST_STEPS = 3_000_000
"""Changes of free units that are looked at before the rest of a run is left out."""


class _FreeUnits:
    """Units that are free from each of some times on, up to the next."""

    def __init__(self, units: int) -> None:
        self.time_s = [-np.inf]
        self.units = [units]
        self.steps = 0

    def add(self, start_s: float, end_s: float, units: int) -> None:
        """Take units (or give them back, where negative) from one time to another."""
        if end_s <= start_s:
            return
        first, last = self._edge(start_s), self._edge(end_s)
        for place in range(first, last):
            self.units[place] -= units
        self.steps += last - first + 1

    def _edge(self, time_s: float) -> int:
        place = bisect_left(self.time_s, time_s)
        if place == len(self.time_s) or self.time_s[place] != time_s:
            self.time_s.insert(place, time_s)
            self.units.insert(place, self.units[place - 1])
        return place

    def earliest(self, now_s: float, length_s: float, units: int) -> float:
        """The first time from now on at which so many units are free for so long."""
        place = bisect_right(self.time_s, now_s) - 1
        start_s = now_s
        while place < len(self.time_s):
            self.steps += 1
            if self.time_s[place] >= start_s + length_s:
                return start_s
            if self.units[place] < units:
                start_s = self.time_s[place + 1]
            place += 1
        return start_s

    def forget(self, now_s: float) -> None:
        """Drop what lies before a time."""
        place = bisect_right(self.time_s, now_s) - 1
        del self.time_s[:place], self.units[:place]


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
    free = _FreeUnits(run.units)
    planned: dict[int, float] = {}
    times_s = np.unique(run.events.time_s)
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


def _again(run: Run, free: _FreeUnits, job: int, then_s: float, now_s: float) -> float:
    """The time of a job once its reservation is made again: as early as can be."""
    if then_s <= now_s:
        return then_s
    units, length_s = int(run.schedule.nodes[job]), float(run.jobs.requested_s[job])
    free.add(then_s, then_s + length_s, -units)
    found_s = min(free.earliest(now_s, length_s, units), then_s)
    free.add(found_s, found_s + length_s, units)
    return found_s
