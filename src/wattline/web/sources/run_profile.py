"""Power of one job of a run over time, read off the event log."""

from __future__ import annotations

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.run import EventKind
from wattline.model.signal import FloatArray
from wattline.web.sources.run_course import CLOSE
from wattline.web.sources.run_history import kept_rows
from wattline.web.sources.run_index import RunIndex
from wattline.web.sources.shape import Profile

POINTS = 1000
EXACT = "simulated; its power over time is that of the run's events"
MEAN = "simulated; only its mean power is known, not its course"
NEVER = "has not run"


def profile(index: RunIndex, row: int, now_s: float) -> tuple[Profile, str]:
    """The job's power up to now, and its quality.

    A job's own events say what it draws. Where all jobs change their speed together, the power of
    each changes by the same factor as that of all. If that does not add up to the job's energy,
    its mean power stands for it.
    """
    run = index.run
    begin_s, end_s = float(index.start_s[row]), float(index.end_s[row])
    if begin_s > now_s:
        return Profile([], []), NEVER
    time_s, power_w = _steps(index, row, _rows(index, row))
    energy_j = float(run.schedule.energy_j[row])
    told_j = float(np.dot(power_w, np.diff(np.append(time_s, end_s)))) if time_s.size else 0.0
    quality = EXACT
    if not abs(told_j - energy_j) <= CLOSE * max(energy_j, 1.0):
        time_s, power_w = np.array([begin_s]), np.array([index.mean_w[row]])
        quality = MEAN
    shown = time_s <= now_s
    shown[1:] &= time_s[1:] < end_s  # its end is no power of its own
    time_s, power_w = time_s[shown], power_w[shown]
    few = kept_rows(time_s, POINTS, power_w)
    time_s = np.append(time_s[few], min(end_s, now_s)) - run.start_s
    return Profile(time_s.tolist(), np.append(power_w[few], power_w[-1]).tolist()), quality


def _rows(index: RunIndex, row: int) -> IntArray:
    """Rows of the log that change this job's power."""
    log = index.run.events
    first = int(np.searchsorted(log.time_s, index.start_s[row], side="left"))
    last = int(np.searchsorted(log.time_s, index.end_s[row], side="right"))
    part = slice(first, last)
    mine = (log.job[part] == row) & (log.kind[part] != EventKind.SUBMIT)
    together = (log.job[part] == -1) & (log.kind[part] == EventKind.RATE)
    return first + np.flatnonzero(mine | together)


def _steps(index: RunIndex, row: int, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    log = index.run.events
    idle_w = float(index.job_idle_w[row])
    before_w = np.append(index.run.machine.power_w_idle, log.power_w[:-1])
    times, watts = [], []
    power_w, holds = 0.0, False
    for at in rows.tolist():
        kind, own = int(log.kind[at]), int(log.job[at]) == row
        change_w = float(log.power_w[at] - before_w[at])
        if own and kind in (EventKind.START, EventKind.RESUME):
            power_w, holds = idle_w + change_w, True
        elif own and kind in (EventKind.PAUSE, EventKind.END):
            power_w, holds = 0.0, False
        elif own:
            power_w += change_w
        elif holds:
            jobs_w = float(before_w[at] - index.free_idle_w[at])
            power_w *= (jobs_w + change_w) / jobs_w if jobs_w > 0 else 1.0
        times.append(float(log.time_s[at]))
        watts.append(power_w)
    return np.array(times), np.array(watts)
