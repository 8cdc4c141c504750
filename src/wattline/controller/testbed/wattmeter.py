"""A wattmeter at an emulated node whose faults are known: late, off, noisy."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wattline.live.sensor import Channel, Quality, Reading

KEPT_S = 60.0


@dataclass(frozen=True)
class Faults:
    """What is wrong with a meter."""

    lag_s: float = 0.0
    bias: float = 0.0
    """As a share of the true power."""
    noise_w: float = 0.0
    """Standard deviation."""


class Wattmeter:
    """Shows the true power of so long ago, times so much, with noise.

    `watch` is told the truth at every tick of the emulator; a reading finds what it needs of it.
    """

    def __init__(self, faults: Faults, clock: Callable[[], float], seed: int = 0) -> None:
        self._faults, self._clock = faults, clock
        self._random = random.Random(seed)
        self._seen: deque[tuple[float, float]] = deque()

    def watch(self, time_s: float, power_w: float) -> None:
        self._seen.append((time_s, power_w))
        while self._seen[0][0] < time_s - KEPT_S:
            self._seen.popleft()

    def channels(self) -> Sequence[Channel]:
        return [Channel("power", "W", "node")]

    def read(self) -> Sequence[Reading]:
        now_s = self._clock()
        until_s = now_s - self._faults.lag_s
        true_w = next((power_w for time_s, power_w in reversed(self._seen) if time_s <= until_s),
                      self._seen[0][1])
        shown_w = true_w * (1 + self._faults.bias) + self._random.gauss(0.0, self._faults.noise_w)
        return [Reading("power", now_s, max(shown_w, 0.0), Quality.GOOD)]
