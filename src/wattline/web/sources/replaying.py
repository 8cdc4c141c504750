"""The clock of a replay: which second of a run is shown now."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class ReplayClock:
    """Runs from `begin_s` to `end_s` at a speed, and then again; at speed 0 it stands still."""

    start_s: float
    """Where it stands at first..."""
    begin_s: float
    """...and where it begins again after `end_s`."""
    end_s: float
    speed: float
    monotonic: Callable[[], float] = time.monotonic
    began: float = 0.0
    """What `monotonic` said when it was started."""

    def now_s(self) -> float:
        if self.speed == 0 or self.end_s <= self.begin_s:
            return self.start_s
        passed_s = (self.monotonic() - self.began) * self.speed
        if self.start_s + passed_s < self.end_s:
            return self.start_s + passed_s
        return self.begin_s + (self.start_s + passed_s - self.begin_s) % (
            self.end_s - self.begin_s)


def started(start_s: float, begin_s: float, end_s: float, speed: float,
            monotonic: Callable[[], float] = time.monotonic) -> ReplayClock:
    """A clock that runs from now on."""
    return ReplayClock(start_s, begin_s, end_s, speed, monotonic, monotonic())
