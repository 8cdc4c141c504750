"""How long jobs may run, from how requested and true times differed in the history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from wattline.model.jobs import IntArray, JobTable
from wattline.model.signal import FloatArray

LEAST_OF_USER = 10
"""With fewer jobs of a user, or fewer that ran so long, those of all users say more."""
OVERDUE = 0.1
"""A job that has outlived all others of its kind runs on for a tenth of its request."""


class RunTimes:
    """Run times as parts of the requested ones, by user."""

    def __init__(self, history: JobTable) -> None:
        known = history.requested_s > 0
        parts = history.run_s[known] / history.requested_s[known]
        self.count = len(parts)
        of_user = _by_user(history.user[known], parts)
        groups = [np.sort(parts), *of_user.values()]
        self._parts: FloatArray = np.concatenate(groups)
        """Sorted: those of all, then those of each user who has enough."""
        ends = np.cumsum([len(group) for group in groups])
        self._of_user = {user: slice(first, last)
                         for user, first, last in zip(of_user, ends[:-1], ends[1:], strict=True)}

    def draw(self, jobs: JobTable, done_s: FloatArray, chance: FloatArray) -> FloatArray:
        """A run time of each job, given how long it ran already; `chance` is from 0 to 1.

        Equal chances give equal times, so that policies are compared on the same draw.
        """
        return self.of(jobs, done_s).draw(chance)

    def of(self, jobs: JobTable, done_s: FloatArray) -> TimesToDraw:
        """What these jobs are drawn from, found once for many draws."""
        asked_s = jobs.requested_s
        base_s = np.maximum(asked_s, done_s).astype(np.float64)
        first = np.zeros(len(jobs), dtype=np.int64)
        many = np.zeros(len(jobs), dtype=np.int64)
        if not self.count:
            return TimesToDraw(self._parts, first, many, asked_s, base_s)
        for user, rows in _rows_by_user(jobs.user, asked_s > 0):
            group = self._of_user.get(user, slice(0, self.count))
            parts = self._parts[group]
            # Only those count that ran longer than this one has by now.
            outlived = np.searchsorted(parts, done_s[rows] / asked_s[rows], side="right")
            outlived = np.where(done_s[rows] > 0, outlived, 0)
            first[rows] = group.start + outlived
            many[rows] = len(parts) - outlived
        self._ask_all(jobs, done_s, first, many)
        late = (asked_s > 0) & (many == 0)
        base_s[late] = done_s[late] + OVERDUE * asked_s[late]
        return TimesToDraw(self._parts, first, many, asked_s, base_s)


    def _ask_all(
        self, jobs: JobTable, done_s: FloatArray, first: IntArray, many: IntArray
    ) -> None:
        """Of jobs that have run longer than most of their user's, those of all users say more."""
        rows = np.flatnonzero((jobs.requested_s > 0) & (done_s > 0) & (many < LEAST_OF_USER))
        every = self._parts[: self.count]
        outlived = np.searchsorted(every, done_s[rows] / jobs.requested_s[rows], side="right")
        known = outlived < self.count
        first[rows[known]] = outlived[known]
        many[rows[known]] = self.count - outlived[known]


class TimesToDraw(NamedTuple):
    """Where the parts of each job stand from which its run time is drawn."""

    parts: FloatArray
    first: IntArray
    many: IntArray
    """0: there is nothing to draw from, and the time is that of `base_s`."""
    asked_s: FloatArray
    base_s: FloatArray

    def draw(self, chance: FloatArray) -> FloatArray:
        """A run time of each job."""
        rows = np.flatnonzero(self.many)
        many = self.many[rows]
        place = np.minimum((chance[rows] * many).astype(np.int64), many - 1)
        found = self.base_s.copy()
        found[rows] = self.parts[self.first[rows] + place] * self.asked_s[rows]
        return found


def _rows_by_user(user: IntArray, known: Any) -> Iterator[tuple[int, IntArray]]:
    rows = np.flatnonzero(known)
    rows = rows[np.argsort(user[rows], kind="stable")]
    if len(rows):
        users, first = np.unique(user[rows], return_index=True)
        for who, mine in zip(users, np.split(rows, first[1:]), strict=True):
            yield int(who), mine


def _by_user(user: IntArray, parts: FloatArray) -> dict[int, FloatArray]:
    if not len(parts):
        return {}
    order = np.lexsort((parts, user))
    users, first = np.unique(user[order], return_index=True)
    groups: list[Any] = np.split(parts[order], first[1:])
    return {int(who): group for who, group in zip(users, groups, strict=True)
            if len(group) >= LEAST_OF_USER}
