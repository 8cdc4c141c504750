"""The stretch in which a log is complete: without the edges that the choice of its jobs left.

Accounting of two dates (`sacct -S -E`) has all jobs that ran between them. A log of the jobs that
were submitted or started between two dates has none of those that ran at the first one, and a log
of those that ended none of those that still ran at the last. How many these are follows from the
log itself: in a steady state, jobs that started more than d ago hold the part
E[size x max(run time - d, 0)] / E[size x run time] of what is in use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.analysis.describe import date_text
from wattline.analysis.summary import time_text
from wattline.model.signal import FloatArray
from wattline.shared_nodes.machine import BoolArray

MISSING = 0.1
"""A log counts as complete where at most this part of what was in use is not in it."""
FEWEST_JOBS = 100
"""With fewer in the stretch, figures are of the whole log."""
_EXPECTED_ENDS = 5.0
"""If a log had all that started before its first end, so many would be expected to have ended
before: that none did has a probability below 1 %, so that it only has those that ran on."""
_IN_USE = 1 / 3
"""And these are many: at its first end so much is in use of what is on average."""


@dataclass(frozen=True)
class Stretch:
    """From one time of a log to another."""

    first_s: float
    last_s: float
    edges: tuple[str, ...] = ()
    """Sentences on what is missing before and after it."""

    def has(self, time_s: FloatArray) -> BoolArray:
        inside: BoolArray = (time_s >= self.first_s) & (time_s <= self.last_s)
        return inside


def complete_stretch(submit_s: FloatArray, start_s: FloatArray, end_s: FloatArray,
                     cpus: FloatArray, unix_start_s: float | None) -> Stretch | None:
    """Find it by the starts and ends of a log; None where no stretch of it has enough jobs.

    An end of NaN is that of a job that still ran when the log was taken.
    """
    had = np.isfinite(start_s)
    ended = had & np.isfinite(end_s)
    if int(ended.sum()) < FEWEST_JOBS:
        return None
    first_s, missing = _beginning(start_s[ended], end_s[ended], cpus[ended])
    edges = []
    if missing:
        edges.append(f"the log has no job that ran before its first start: of a machine that was "
                     f"in use then, as it is on average ({missing:,.0f} CPUs), more than "
                     f"{MISSING:.0%} is missing until {_when(first_s, submit_s, unix_start_s)}")
    if ended.sum() < had.sum():  # what still ran is in it
        last_s = float(np.nanmax(np.concatenate((start_s, end_s))))
    else:
        back_s, missing = _beginning(-end_s[ended], -start_s[ended], cpus[ended])
        last_s = -back_s
        when = _when(last_s, submit_s, unix_start_s)
        if missing:
            edges.append(f"the log has no job that ran after its last end: of a machine that was "
                         f"in use then, as it is on average ({missing:,.0f} CPUs), more than "
                         f"{MISSING:.0%} is missing from {when}")
        elif last_s < float(end_s[ended].max()):
            edges.append(f"no job of the log starts after {when}; those that ran then end")
    found = Stretch(max(first_s, float(submit_s.min())), last_s, tuple(edges))
    return found if int(found.has(submit_s[had]).sum()) >= FEWEST_JOBS else None


def _beginning(start_s: FloatArray, end_s: FloatArray, cpus: FloatArray) -> tuple[float, float]:
    """From when on a log is complete, and how many CPUs the jobs had that are missing when it
    begins; the end of a log is the beginning of its mirror image."""
    run_s = end_s - start_s
    order = np.argsort(run_s)
    first_s, last_s, first_end_s = (float(each) for each in (
        start_s.min(), start_s.max(), end_s.min()))
    if not last_s > first_s:
        return first_s, 0.0
    in_use = float(np.dot(run_s, cpus)) / (last_s - first_s)
    before = start_s < first_end_s
    expected = np.searchsorted(run_s[order], first_end_s - start_s[before], "left").sum()
    if expected >= _EXPECTED_ENDS * len(run_s) and float(cpus[before].sum()) >= _IN_USE * in_use:
        return first_end_s, 0.0
    # Of the jobs in use, those that run longer than each run time: straight between two of them.
    size, knots_s = cpus[order].astype(float), run_s[order]
    bigger = size.sum() - np.cumsum(size)
    later = (size * knots_s).sum() - np.cumsum(size * knots_s) - bigger * knots_s
    all_of_it = float((size * knots_s).sum())
    if not all_of_it > 0:
        return first_s, 0.0
    lag_s = float(np.interp(-MISSING * all_of_it, np.append(-all_of_it, -later),
                            np.append(0.0, knots_s)))
    return first_s + lag_s, in_use


def _when(time_s: float, submit_s: FloatArray, unix_start_s: float | None) -> str:
    after = f"{time_text(time_s - float(submit_s.min()))} after the first submission"
    return after if unix_start_s is None else f"{date_text(unix_start_s + time_s)}, {after}"
