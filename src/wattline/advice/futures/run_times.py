"""How long jobs may run, from how requested and true times differed in the history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import IntArray, JobTable
from wattline.model.signal import FloatArray
from wattline.traces.trace import REQUEST_FILLED

Mask = npt.NDArray[np.bool_]
FEW = 30
"""From fewer jobs than this, draws of run times say little."""
LEAST_OF_USER = 10
"""With fewer jobs of a user, or fewer that ran so long, those of all users say more."""
OVERDUE = 0.1
"""A job that has outlived all others of its kind runs on for a tenth of its request, or, where it
has none, of what it ran."""


def asks_nothing(
    jobs: JobTable, logged: Mapping[str, FloatArray], whole: JobTable | None = None
) -> Mask:
    """Which jobs have no requested time of their own: what stands there is their true run time.

    The reader of a log marks those that it gave it to. Of a workload that was generated, or written
    again, it shows where all of them, those of `whole`, ask for what they take.
    """
    if REQUEST_FILLED in logged:
        return np.asarray(np.isfinite(logged[REQUEST_FILLED]), dtype=np.bool_)
    whole = jobs if whole is None else whole
    return np.full(len(jobs), np.all(whole.requested_s == whole.run_s))


class RunTimes:
    """Run times by user: as parts of the requested ones, or as they are where none is known."""

    def __init__(self, history: JobTable, unasked: Mask | None = None) -> None:
        """`unasked`: jobs without a requested time, which say nothing of parts."""
        known = history.requested_s > 0
        if unasked is not None:
            known &= ~unasked
        parts = history.run_s[known] / history.requested_s[known]
        self._parts = _ByUser(history.user[known], parts)
        self._seconds = _ByUser(history.user, history.run_s)
        self._values: FloatArray = np.concatenate([self._parts.values, self._seconds.values])
        self.count = self._parts.count
        """Jobs that show how requested and true times differ."""
        self.over = len(history)

    def draw(self, jobs: JobTable, done_s: FloatArray, chance: FloatArray) -> FloatArray:
        """A run time of each job, given how long it ran already; `chance` is from 0 to 1.

        Equal chances give equal times, so that policies are compared on the same draw.
        """
        return self.of(jobs, done_s).draw(chance)

    def of(self, jobs: JobTable, done_s: FloatArray, unasked: Mask | None = None) -> TimesToDraw:
        """What these jobs are drawn from, found once for many draws; those of `unasked` from the
        run times of others, because their request is their own."""
        unasked = np.zeros(len(jobs), dtype=np.bool_) if unasked is None else unasked
        scale_s = np.where(unasked, 1.0, jobs.requested_s)
        base_s = np.maximum(jobs.requested_s, done_s).astype(np.float64)
        first = np.zeros(len(jobs), dtype=np.int64)
        many = np.zeros(len(jobs), dtype=np.int64)
        asked = ~unasked & (jobs.requested_s > 0)
        for spread, begin, whose in ((self._parts, 0, asked),
                                     (self._seconds, len(self._parts.values), unasked)):
            rows = np.flatnonzero(whose)
            if spread.count:
                place, many[rows] = spread.beyond(jobs.user[rows], done_s[rows] / scale_s[rows])
                first[rows] = begin + place
                late = rows[many[rows] == 0]
                base_s[late] = done_s[late] + OVERDUE * np.where(unasked, done_s, scale_s)[late]
        return TimesToDraw(self._values, first, many, scale_s, base_s)


class _ByUser:
    """Values in order: those of all, then those of each user who has enough."""

    def __init__(self, user: IntArray, values: FloatArray) -> None:
        self.count = len(values)
        of_user = _by_user(user, values)
        groups = [np.sort(values), *of_user.values()]
        self.values: FloatArray = np.concatenate(groups)
        ends = np.cumsum([len(group) for group in groups])
        self._of_user = {user: slice(first, last)
                         for user, first, last in zip(of_user, ends[:-1], ends[1:], strict=True)}

    def beyond(self, user: IntArray, past: FloatArray) -> tuple[IntArray, IntArray]:
        """Where the values begin that are above `past` of each, and how many they are: those of
        its user, or of all where that leaves too few."""
        first = np.zeros(len(user), dtype=np.int64)
        many = np.zeros(len(user), dtype=np.int64)
        for who, rows in _rows_by_user(user):
            group = self._of_user.get(who, slice(0, self.count))
            mine = self.values[group]
            outlived = np.searchsorted(mine, past[rows], side="right")
            outlived = np.where(past[rows] > 0, outlived, 0)
            first[rows] = group.start + outlived
            many[rows] = len(mine) - outlived
        rows = np.flatnonzero((past > 0) & (many < LEAST_OF_USER))
        outlived = np.searchsorted(self.values[: self.count], past[rows], side="right")
        known = outlived < self.count
        first[rows[known]] = outlived[known]
        many[rows[known]] = self.count - outlived[known]
        return first, many


class TimesToDraw(NamedTuple):
    """Where the values of each job stand from which its run time is drawn."""

    values: FloatArray
    first: IntArray
    many: IntArray
    """0: there is nothing to draw from, and the time is that of `base_s`."""
    scale_s: FloatArray
    """What a value is a part of: the requested time, or a second."""
    base_s: FloatArray

    def draw(self, chance: FloatArray) -> FloatArray:
        """A run time of each job."""
        rows = np.flatnonzero(self.many)
        many = self.many[rows]
        place = np.minimum((chance[rows] * many).astype(np.int64), many - 1)
        found = self.base_s.copy()
        found[rows] = self.values[self.first[rows] + place] * self.scale_s[rows]
        return found


def _rows_by_user(user: IntArray) -> Iterator[tuple[int, IntArray]]:
    rows = np.argsort(user, kind="stable")
    if len(rows):
        users, first = np.unique(user[rows], return_index=True)
        for who, mine in zip(users, np.split(rows, first[1:]), strict=True):
            yield int(who), mine


def _by_user(user: IntArray, values: FloatArray) -> dict[int, FloatArray]:
    if not len(values):
        return {}
    order = np.lexsort((values, user))
    users, first = np.unique(user[order], return_index=True)
    groups: list[Any] = np.split(values[order], first[1:])
    return {int(who): group for who, group in zip(users, groups, strict=True)
            if len(group) >= LEAST_OF_USER}
