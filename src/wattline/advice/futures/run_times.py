"""How long jobs may run, from how requested and true times differed in the history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wattline.model.jobs import IntArray, JobTable
from wattline.model.signal import FloatArray

LEAST_OF_USER = 10
"""With fewer jobs of a user, those of all users say more."""
OVERDUE = 0.1
"""A job that has outlived all others of its kind runs on for a tenth of its request."""


class RunTimes:
    """Run times as parts of the requested ones, by user."""

    def __init__(self, history: JobTable) -> None:
        known = history.requested_s > 0
        parts = history.run_s[known] / history.requested_s[known]
        self.count = len(parts)
        self._all = np.sort(parts)
        self._of_user: Mapping[int, FloatArray] = _by_user(history.user[known], parts)

    def draw(self, jobs: JobTable, done_s: FloatArray, chance: FloatArray) -> FloatArray:
        """A run time of each job, given how long it ran already; `chance` is from 0 to 1.

        Equal chances give equal times, so that policies are compared on the same draw.
        """
        found = np.maximum(jobs.requested_s, done_s).astype(np.float64)
        if not self.count:
            return found
        for user in np.unique(jobs.user):
            rows = np.flatnonzero((jobs.user == user) & (jobs.requested_s > 0))
            parts = self._of_user.get(int(user), self._all)
            asked_s = jobs.requested_s[rows]
            # Only those count that ran longer than this one has by now.
            first = np.searchsorted(parts, done_s[rows] / asked_s, side="right")
            first = np.where(done_s[rows] > 0, first, 0)
            place = first + (chance[rows] * (len(parts) - first)).astype(np.int64)
            drawn_s = parts[np.minimum(place, len(parts) - 1)] * asked_s
            outlived = first >= len(parts)
            found[rows] = np.where(outlived, done_s[rows] + OVERDUE * asked_s, drawn_s)
        return found


def _by_user(user: IntArray, parts: FloatArray) -> dict[int, FloatArray]:
    if not len(parts):
        return {}
    order = np.lexsort((parts, user))
    users, first = np.unique(user[order], return_index=True)
    groups: list[Any] = np.split(parts[order], first[1:])
    return {int(who): group for who, group in zip(users, groups, strict=True)
            if len(group) >= LEAST_OF_USER}
