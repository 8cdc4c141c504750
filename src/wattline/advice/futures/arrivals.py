"""Jobs that may come: those of a week before, or none; in hindsight those that came."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from wattline.engine.prepare import Rules
from wattline.model.errors import InputError
from wattline.model.jobs import COLUMNS, NO_JOB, IntArray, JobTable
from wattline.model.signal import FloatArray

WEEK_S = 7 * 86400.0
NONE, LAST_WEEK, HINDSIGHT = "none", "last-week", "hindsight"
CHOICES = (LAST_WEEK, NONE, HINDSIGHT)


def with_arrivals(
    jobs: JobTable, rules: Rules, at_s: float, until_s: float, arrivals: str
) -> tuple[JobTable, Rules, int, str]:
    """The jobs up to an instant and those to come; how many came; and what is assumed of it."""
    came = int(np.searchsorted(jobs.submit_s, at_s, side="right"))
    before = np.arange(came)
    if arrivals == HINDSIGHT:
        last = int(np.searchsorted(jobs.submit_s, until_s, side="right"))
        rows = np.arange(last)
        return jobs.take(rows), _rows_of(rules, rows), came, (
            "the jobs to come are those that came: nobody could know them then")
    if arrivals == NONE:
        return jobs.take(before), _rows_of(rules, before), came, "no further jobs come"
    if arrivals != LAST_WEEK:
        raise InputError(f"'{arrivals}' says nothing of jobs to come; it is one of "
                         f"{', '.join(CHOICES)}")
    if at_s - WEEK_S < jobs.submit_s[0]:
        return jobs.take(before), _rows_of(rules, before), came, (
            "no further jobs come: there is no week of history to take them from")
    weeks = weeks_in(until_s - at_s)
    first = int(np.searchsorted(jobs.submit_s, at_s - WEEK_S, side="right"))
    ends_s = [until_s - week * WEEK_S for week in range(1, weeks + 1)]
    lasts = np.minimum(np.searchsorted(jobs.submit_s, ends_s, side="right"), came)
    each = [np.arange(first, last) for last in lasts]
    later_s = np.repeat(np.arange(1, weeks + 1) * WEEK_S, [len(rows) for rows in each])
    again = np.concatenate(each)
    return (_again(jobs, before, again, later_s),
            _rows_of(rules, np.concatenate([before, again])), came, said_of(weeks))


def weeks_in(horizon_s: float) -> int:
    """How often the last week has to come again; a week that was computed may have a little more
    than seven days."""
    return max(1, math.ceil(horizon_s / WEEK_S - 1e-9))


def said_of(weeks: int) -> str:
    """What is assumed of the jobs to come."""
    return ("the jobs to come are those of the same hours a week before"
            + (f": that week comes again {weeks} times" if weeks > 1 else ""))


def _again(jobs: JobTable, before: IntArray, again: IntArray, later_s: FloatArray) -> JobTable:
    kept = jobs.take(before)
    columns: dict[str, Any] = {name: np.concatenate([getattr(kept, name),
                                                     getattr(jobs, name)[again]])
                               for name in COLUMNS}
    columns["submit_s"][len(before):] += later_s
    columns["after_job"][len(before):] = NO_JOB
    return JobTable(**columns, names=jobs.names)


def _rows_of(rules: Rules, rows: IntArray) -> Rules:
    return replace(rules, logged={name: column[rows] for name, column in rules.logged.items()})
