"""Free units over time, with rectangles taken out and put back."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np


class FreeUnits:
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
                if place + 1 == len(self.time_s):
                    return np.inf
                start_s = self.time_s[place + 1]
            place += 1
        return start_s

    def forget(self, now_s: float) -> None:
        """Drop what lies before a time."""
        place = bisect_right(self.time_s, now_s) - 1
        del self.time_s[:place], self.units[:place]
