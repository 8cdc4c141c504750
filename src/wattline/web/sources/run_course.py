"""What the running jobs of a run draw at a time, and have drawn by then, read off its events.

A job's own events say what it draws. Where all jobs change their speed together, the power of each
changes by the same factor as that of all, so watts divided by the product of the factors so far
change only with the job's own events. Only these few are looked at for each running job.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.run import EventKind, EventLog
from wattline.model.signal import FloatArray

CLOSE = 1e-6
"""A job whose events do not add up to its energy has a course that is not known."""
FROM_NOTHING = (EventKind.START, EventKind.RESUME)
TO_NOTHING = (EventKind.END, EventKind.PAUSE, EventKind.REQUEUE)


@dataclass(frozen=True)
class Drawn:
    """Of each job asked for: watts at a time, joules up to it, and whether events tell them."""

    power_w: FloatArray
    energy_j: FloatArray
    exact: np.ndarray


class Course:
    """The events of a run, sorted by job once; any job can then be asked about at any time."""

    def __init__(self, log: EventLog, idle_w: float, job_idle_w: FloatArray,
                 free_idle_w: FloatArray) -> None:
        self.log, self.job_idle_w = log, job_idle_w
        before_w = np.append(idle_w, log.power_w[:-1])
        self.change_w = log.power_w - before_w
        together = (log.job == -1) & (log.kind == EventKind.RATE)
        self.together = np.flatnonzero(together)
        """Rows of the log at which all jobs change their speed."""
        self.factor = _factors(together, before_w - free_idle_w, self.change_w)
        steps_s = np.diff(log.time_s, prepend=log.time_s[:1])
        self.spent = np.cumsum(np.append(1.0, self.factor)[:-1] * steps_s)
        """Up to each event: the integral of the factor over time."""
        own = np.flatnonzero((log.job >= 0) & np.isin(
            log.kind, (*FROM_NOTHING, *TO_NOTHING, EventKind.RATE)))
        self.key = np.sort(log.job[own].astype(np.int64) * len(log.time_s) + own)
        """By job, then in order of time: the job and the row of the log as one number."""

    def upto(self, jobs: IntArray, time_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Watts of each job at its time, and its joules up to it."""
        log, events = self.log, len(self.log.time_s)
        place = np.searchsorted(log.time_s, time_s, side="right") - 1
        first = np.searchsorted(self.key, jobs * events)
        count = np.searchsorted(self.key, jobs * events + place, side="right") - first
        owner = np.repeat(np.arange(len(jobs)), count)
        begins = np.cumsum(count) - count
        at = np.arange(len(owner)) - np.repeat(begins - first, count)
        row = self.key[at] % events if len(at) else at
        level = self._levels(row, log.job[row], owner)
        now = self.spent[place] + self.factor[place] * (time_s - log.time_s[place])
        until = np.append(self.spent[row[1:]], 0.0)
        last = np.append(np.diff(owner) > 0, True) if len(owner) else np.zeros(0, np.bool_)
        until = np.where(last, now[owner], until[:len(owner)])
        energy_j = np.bincount(owner, level * (until - self.spent[row]), len(jobs))
        power_w = np.zeros(len(jobs))
        power_w[owner[last]] = level[last] * self.factor[place[owner[last]]]
        return power_w, energy_j.astype(np.float64)

    def steps(self, job: int) -> tuple[FloatArray, FloatArray]:
        """When the power of a job changes, and to how many watts; 0 from its end on."""
        events = len(self.log.time_s)
        first, last = np.searchsorted(self.key, (job * events, (job + 1) * events))
        own = self.key[first:last] % events
        if not len(own):
            return np.zeros(0), np.zeros(0)
        among = slice(*np.searchsorted(self.together, (own[0], own[-1])))
        rows = np.union1d(own, self.together[among])
        level = self._levels(own, self.log.job[own], np.zeros(len(own), dtype=np.int64))
        held = level[np.searchsorted(own, rows, side="right") - 1]
        return self.log.time_s[rows], held * self.factor[rows]

    def _levels(self, row: IntArray, job: IntArray, owner: IntArray) -> FloatArray:
        """Watts over the factor after each own event; from nothing at a start, to it at a pause."""
        kind, factor = self.log.kind[row], self.factor[row]
        opens = np.isin(kind, FROM_NOTHING)
        rise = (self.change_w[row] + np.where(opens, self.job_idle_w[job], 0.0)) / factor
        total = np.cumsum(rise)
        since = np.maximum.accumulate(np.where(
            opens | (np.diff(owner, prepend=-1) > 0), np.arange(len(row)), 0))
        return np.where(np.isin(kind, TO_NOTHING), 0.0, total - (total - rise)[since])


def drawn_until(time_s: float, course: Course, jobs: IntArray, start_s: FloatArray,
                end_s: FloatArray, whole_j: FloatArray) -> Drawn:
    """Of running jobs; the mean power of its whole life stands for a course that is not known."""
    with np.errstate(all="ignore"):  # a course that is not known may be anything
        _, told_j = course.upto(jobs, end_s)
        power_w, energy_j = course.upto(jobs, np.full(len(jobs), time_s))
        exact = (np.abs(told_j - whole_j) <= CLOSE * np.maximum(whole_j, 1.0)) & np.isfinite(
            energy_j) & np.isfinite(power_w)
        mean_w = np.where(end_s > start_s, whole_j / (end_s - start_s), 0.0)
    return Drawn(np.where(exact, power_w, mean_w),
                 np.where(exact, energy_j, mean_w * (time_s - start_s)), exact)


def _factors(together: np.ndarray, jobs_w: FloatArray, change_w: FloatArray) -> FloatArray:
    """The product of all factors by which the jobs changed their power together, at each event."""
    factor = np.ones(len(jobs_w))
    np.divide(jobs_w + change_w, jobs_w, out=factor, where=together & (jobs_w > 0))
    known = np.where(np.isfinite(factor) & (factor > 0), factor, 1.0)
    with np.errstate(all="ignore"):
        return np.cumprod(known).astype(np.float64)
