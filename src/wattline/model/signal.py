"""Step functions of time: caps, prices, carbon intensity, regulation signals, availability."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.shown import Shown

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Signal(Shown):
    """A right-continuous step function: `value[i]` holds from `time_s[i]` until the next time.

    Before the first time the first value holds; after the last time the last one does.

    >>> import wattline as wl
    >>> cap_w = wl.Signal([0, 3600], [20e3, 15e3], "W")  # less after an hour
    >>> float(cap_w.at(1800.0))
    20000.0
    """

    time_s: FloatArray
    value: FloatArray
    unit: str = ""

    def __post_init__(self) -> None:
        time_s = np.ascontiguousarray(self.time_s, dtype=np.float64)
        value = np.ascontiguousarray(self.value, dtype=np.float64)
        if time_s.ndim != 1 or time_s.shape != value.shape or time_s.size == 0:
            raise InputError("a signal needs as many times as values, and at least one")
        if not np.isfinite(time_s).all() or (time_s[1:] <= time_s[:-1]).any():
            raise InputError("the times of a signal must be finite and strictly increasing")
        if np.isnan(value).any():
            raise InputError("a signal has a gap: one of its values is not a number")
        time_s.setflags(write=False)
        value.setflags(write=False)
        object.__setattr__(self, "time_s", time_s)
        object.__setattr__(self, "value", value)

    @classmethod
    def constant(cls, value: float, unit: str = "") -> Signal:
        return cls(np.zeros(1), np.array([value]), unit)

    @classmethod
    def from_steps(cls, steps: Iterable[tuple[float, float]], unit: str = "") -> Signal:
        """Build from (time, value) pairs in any order; the last of two equal times wins."""
        by_time = dict(sorted(steps, key=lambda step: step[0]))
        return cls(np.array(list(by_time)), np.array(list(by_time.values())), unit)

    def at(self, time_s: float) -> float:
        """The value that holds at this time."""
        return float(self.value[max(0, int(np.searchsorted(self.time_s, time_s, "right")) - 1)])

    def sample(self, times_s: npt.ArrayLike) -> FloatArray:
        """The values that hold at each of these times."""
        index = np.searchsorted(self.time_s, np.asarray(times_s, dtype=np.float64), "right") - 1
        sampled: FloatArray = self.value[np.maximum(index, 0)]
        return sampled

    def integral(self, start_s: float, end_s: float) -> float:
        """The exact integral over [start_s, end_s]."""
        inner = self.time_s[(self.time_s > start_s) & (self.time_s < end_s)]
        edges = np.concatenate(([start_s], inner, [end_s]))
        return float(np.sum(self.sample(edges[:-1]) * np.diff(edges)))

    def accumulated(self, times_s: npt.ArrayLike) -> FloatArray:
        """The integral from the first time to each of these; negative before it."""
        times = np.asarray(times_s, dtype=np.float64)
        before = np.append(0.0, np.cumsum(self.value[:-1] * np.diff(self.time_s)))
        index = np.maximum(np.searchsorted(self.time_s, times, "right") - 1, 0)
        found: FloatArray = before[index] + self.value[index] * (times - self.time_s[index])
        return found

    def scaled(self, factor: float, unit: str | None = None) -> Signal:
        return Signal(self.time_s, self.value * factor, self.unit if unit is None else unit)
