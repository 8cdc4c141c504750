"""A counter of joules, reading by reading: it wraps, is reset, and jumps.

The same rule as `wattline.physics.metering.counters`, without arrays: agents are small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from wattline.live.sensor import Domain, Quality, Reading, missing

UPDATE_S = 1.0
"""Counters are brought up to date now and then: a rise may hold joules of so much time before."""
NEVER_STILL: tuple[Domain, ...] = ("node", "package")
"""They draw something at any time; a graphics unit within a processor may be without power."""


class Counter:
    """Joules since the first reading; what no hardware could have drawn is never added."""

    def __init__(
        self, channel: str, highest_w: float, range_j: float = math.inf, *,
        domain: Domain = "other",
    ) -> None:
        self._channel, self._highest_w, self._range_j = channel, highest_w, range_j
        self._moves = domain in NEVER_STILL
        self._last_j = self._last_s = self._read_s = math.nan
        """What it showed last, when it was first seen to show that, and when last."""
        self._total_j = 0.0

    @property
    def stands_at_j(self) -> float:
        """What the counter showed at the last reading; NaN before the first."""
        return self._last_j

    def resume(self, stood_at_j: float, at_s: float) -> None:
        """Count the next reading from what another process read, at this time of the clock."""
        self._last_j, self._last_s, self._read_s = stood_at_j, at_s, at_s

    def since(self, showed_j: float, passed_s: float) -> float:
        """Joules from a time at which the counter showed this to its last reading.

        NaN where it was reset between, or cannot have shown that.
        """
        rise_j, broken = self._rise(showed_j, self._last_j, passed_s, passed_s)
        return math.nan if broken else rise_j

    def take(self, time_s: float, now_j: float) -> Reading:
        """The reading that a state of the counter stands for.

        One that stands still although time passes is a gap. What it then shows when it moves again
        was drawn since it stood.
        """
        before_j, before_s, read_s = self._last_j, self._last_s, self._read_s
        self._last_j, self._read_s = now_j, time_s
        if math.isnan(before_j):
            self._last_s = time_s
            return Reading(self._channel, time_s, self._total_j, Quality.FIRST)
        still_s = time_s - before_s
        rise_j, broken = self._rise(before_j, now_j, still_s, time_s - read_s)
        if self._moves and now_j == before_j and not broken:
            return (Reading(self._channel, time_s, self._total_j, Quality.GOOD)
                    if still_s < UPDATE_S else missing(
                        self._channel, time_s, f"the counter has stood still for {still_s:.0f} s"))
        self._last_s = time_s
        if broken:
            return Reading(self._channel, time_s, self._total_j, Quality.RESET, broken)
        self._total_j += rise_j
        return Reading(self._channel, time_s, self._total_j, Quality.GOOD)

    def _rise(
        self, before_j: float, now_j: float, passed_s: float, unseen_s: float
    ) -> tuple[float, str]:
        """Joules drawn since it began to show what it did, or why they cannot be known; it can only
        have come round since it was last read."""
        rise_j = now_j - before_j
        if rise_j < 0 and rise_j + self._range_j > self._highest_w * (unseen_s + UPDATE_S):
            return 0.0, (f"the counter fell from {before_j:.0f} to {now_j:.0f} J: it was reset, "
                         "for it cannot have come round to there")
        if rise_j < 0:
            rise_j += self._range_j
        if rise_j > self._highest_w * (passed_s + UPDATE_S):
            return 0.0, f"the counter jumped by {rise_j:.0f} J, more than can have been drawn"
        if rise_j + self._range_j <= self._highest_w * unseen_s:
            return 0.0, "the counter may have come round more than once: read it more often"
        return rise_j, ""


@dataclass(frozen=True)
class CounterFile:
    """A file whose first word is the state of a counter."""

    path: Path
    unit_j: float
    counter: Counter

    def since(self, shown: float, passed_s: float) -> float:
        """Joules from a time at which the file showed this to the last reading of the counter."""
        return self.counter.since(shown * self.unit_j, passed_s)
