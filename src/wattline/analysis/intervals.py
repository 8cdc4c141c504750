"""Means of a few draws, with what the draws leave open."""

from __future__ import annotations

from collections.abc import Sequence

from wattline.grid import qos
from wattline.model.signal import FloatArray

ROUNDING = 1e-12
"""A spread below that part of the mean is of the last digits of equal values."""


def mean_interval(values: Sequence[float] | FloatArray) -> tuple[float, float]:
    """The mean, and half the width of its 95 % interval; NaN where one value says nothing of it."""
    mean, low, high = qos.mean_interval(values)
    half = (high - low) / 2
    return mean, 0.0 if half <= ROUNDING * abs(mean) else half


def half_interval(values: FloatArray) -> float:
    """Half the width of the 95 % interval of a mean over runs, however few (Student's t)."""
    return mean_interval(values)[1]
