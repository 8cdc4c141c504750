"""The course of a live machine since the server was started: a sample per second, in memory."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass

import numpy as np

from wattline.web.sources.run_history import kept_rows
from wattline.web.sources.shape import Gaps, History

DAY_SAMPLES = 86_400
FIELDS = 5
"""Time, power, cap, target, queued."""


@dataclass(frozen=True)
class Sample:
    time_s: float
    power_w: float | None
    cap_w: float | None
    target_w: float | None
    queued: int


class Course:
    """The last day at most, whatever is asked of it."""

    def __init__(self, most: int = DAY_SAMPLES) -> None:
        self.rows = np.full((most, FIELDS), np.nan)
        self.count = 0
        self.lock = threading.Lock()

    def add(self, sample: Sample) -> None:
        """A sample of a later time; what is told twice is kept once."""
        with self.lock:
            if self.count and self.rows[(self.count - 1) % len(self.rows), 0] >= sample.time_s:
                return
            self.rows[self.count % len(self.rows)] = [
                math.nan if value is None else value for value in (
                    sample.time_s, sample.power_w, sample.cap_w, sample.target_w, sample.queued)]
            self.count += 1

    def above_since(self) -> float | None:
        """Since when the power is above the cap; None where it is not."""
        rows = self._ordered()
        if not len(rows):
            return None
        over = rows[:, 1] > rows[:, 2] * (1 + 1e-9)
        if not over[-1]:
            return None
        below = np.flatnonzero(~over)
        return float(rows[below[-1] + 1 if below.size else 0, 0])

    def history(self, from_s: float, to_s: float, points: int) -> History:
        rows = self._ordered()
        rows = rows[(rows[:, 0] >= from_s) & (rows[:, 0] <= to_s)]
        power_w = np.where(np.isnan(rows[:, 1]), -1.0, rows[:, 1])
        rows = rows[kept_rows(rows[:, 0], power_w, points)]
        target = None if np.isnan(rows[:, 3]).all() else _gaps(rows[:, 3])
        return History(rows[:, 0].tolist(), _gaps(rows[:, 1]), _gaps(rows[:, 2]), target,
                       _gaps(rows[:, 4]))

    def _ordered(self) -> np.ndarray:
        with self.lock:
            if self.count <= len(self.rows):
                return self.rows[:self.count].copy()
            return np.roll(self.rows, -(self.count % len(self.rows)), axis=0)


def _gaps(values: np.ndarray) -> Gaps:
    return [None if math.isnan(value) else value for value in values.tolist()]
