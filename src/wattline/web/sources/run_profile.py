"""Power of one job of a run over time, read off the event log."""

from __future__ import annotations

import numpy as np

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

    Where what its events say does not add up to the job's energy, its mean power stands for it.
    """
    run = index.run
    begin_s, end_s = float(index.start_s[row]), float(index.end_s[row])
    if begin_s > now_s:
        return Profile([], []), NEVER
    with np.errstate(all="ignore"):  # a course that is not known may be anything
        time_s, power_w = index.course.steps(row)
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
