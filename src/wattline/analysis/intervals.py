"""Means of a few draws, with what the draws leave open."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

# Student's t at 97.5 % by degrees of freedom; from 30 on the normal distribution is near enough.
_T = (math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201,
      2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
      2.060, 2.056, 2.052, 2.048, 2.045)
NORMAL = 1.96


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half the width of its 95 % interval; NaN where one value says nothing of it."""
    count = len(values)
    if not count:
        return math.nan, math.nan
    mean = float(np.mean(values))
    if count == 1:
        return mean, math.nan
    error = float(np.std(values, ddof=1)) / math.sqrt(count)
    return mean, error * (_T[count - 1] if count - 1 < len(_T) else NORMAL)
