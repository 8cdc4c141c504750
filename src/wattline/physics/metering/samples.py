"""Watts at instants, as most sensors and monitoring databases have them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.metering.stretches import Stretches

LATE = 1.5
"""A sample that comes later than so many intervals leaves a gap before it."""


def from_samples(
    time_s: npt.ArrayLike, power_w: npt.ArrayLike, interval_s: float | None = None
) -> Stretches:
    """Each sample stands for the time until the next one, for `interval_s` at most.

    The interval is the usual time between samples where it is not given. A NaN is a gap and no
    zero. Samples may come in any order; of two at one instant the later one in the list counts.
    """
    times = np.asarray(time_s, dtype=np.float64)
    powers = np.asarray(power_w, dtype=np.float64)
    if times.size != powers.size or not times.size or not np.isfinite(times).all():
        raise InputError("a power series needs samples, each with a time")
    order = np.argsort(times, kind="stable")
    times, powers = times[order], powers[order]
    last = np.append(np.diff(times) > 0, True)  # of equal times the last
    times, powers = times[last], powers[last]
    if interval_s is None:
        interval_s = float(np.median(np.diff(times))) if times.size > 1 else 0.0
    if not interval_s > 0:
        raise InputError("one sample alone does not say for how long it stands; give the interval")
    found = standing(times, powers, np.full(times.size, interval_s))
    return Stretches.measured(found.edge_s, found.power_w)


def standing(times: FloatArray, powers: FloatArray, interval_s: FloatArray) -> Stretches:
    """Samples in order of time, each with the longest time for which it stands; not checked."""
    late = np.flatnonzero(np.diff(times) > LATE * interval_s[:-1])
    end_s = times[-1] + interval_s[-1]
    if late.size:  # where samples are missing there is a stretch of its own
        times = np.insert(times, late + 1, times[late] + interval_s[late])
        powers = np.insert(powers, late + 1, np.nan)
    return Stretches(np.append(times, end_s), powers, np.zeros(powers.size, dtype=np.bool_))
