"""The clock of a replay: which second of a run is shown now."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from wattline.web.settings import HELD_S


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


class HeldClock:
    """A clock that shows one second until it is turned, so that what is asked meanwhile agrees.

    Where nobody turns it, it does so by itself: whoever asks seldom is not told of the past.
    """

    def __init__(self, clock: ReplayClock, lasts_s: float = HELD_S) -> None:
        self.clock, self.lasts_s = clock, lasts_s
        self.turn()

    def turn(self) -> None:
        self._shown = self.clock.monotonic(), self.clock.now_s()

    def now_s(self) -> float:
        if self.clock.monotonic() - self._shown[0] > self.lasts_s:
            self.turn()
        return self._shown[1]


def started(start_s: float, begin_s: float, end_s: float, speed: float,
            monotonic: Callable[[], float] = time.monotonic) -> HeldClock:
    """A clock that runs from now on."""
    return HeldClock(ReplayClock(start_s, begin_s, end_s, speed, monotonic, monotonic()))
