"""Jobs that may come: those of a week before, or none; in hindsight those that came."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wattline.engine.prepare import Rules
from wattline.model.errors import InputError
from wattline.model.jobs import COLUMNS, NO_JOB, IntArray, JobTable

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
    first, last = np.searchsorted(jobs.submit_s, (at_s - WEEK_S, until_s - WEEK_S), side="right")
    again = np.arange(first, min(int(last), came))
    rows = np.concatenate([before, again])
    return _again(jobs, before, again), _rows_of(rules, rows), came, (
        "the jobs to come are those of the same hours a week before")


def _again(jobs: JobTable, before: IntArray, again: IntArray) -> JobTable:
    kept = jobs.take(before)
    columns: dict[str, Any] = {name: np.concatenate([getattr(kept, name),
                                                     getattr(jobs, name)[again]])
                               for name in COLUMNS}
    columns["submit_s"][len(before):] += WEEK_S
    columns["after_job"][len(before):] = NO_JOB
    return JobTable(**columns, names=jobs.names)


def _rows_of(rules: Rules, rows: IntArray) -> Rules:
    return replace(rules, logged={name: column[rows] for name, column in rules.logged.items()})
