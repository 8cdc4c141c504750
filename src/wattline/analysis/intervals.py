"""Means of a few draws, with what the draws leave open."""

from __future__ import annotations

from collections.abc import Sequence

from wattline.grid import qos


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half the width of its 95 % interval; NaN where one value says nothing of it."""
    mean, low, high = qos.mean_interval(values)
    return mean, (high - low) / 2
