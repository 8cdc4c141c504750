"""Two readings of one device: a counter of joules and sampled watts, which often lag behind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.physics.metering.stretches import Stretches

LONGEST_LAG_S = 5.0
LAG_STEP_S = 0.05


@dataclass(frozen=True)
class Agreement:
    """How the sampled power compares with the counter over the time that both saw."""

    ratio: float
    """Joules of the samples for each joule of the counter; NaN where they share no time."""
    lag_s: float
    """By how much the samples come late: at that shift they differ least from the counter."""


def reconciled(counter: Stretches, samples: Stretches) -> tuple[Stretches, Agreement]:
    """The counter, and in its gaps what was sampled; and how well the two agree.

    A counter misses nothing between two readings; samples are averaged by the device and late.
    """
    return _filled_from(counter, samples), agreement(counter, samples)


def agreement(counter: Stretches, samples: Stretches) -> Agreement:
    known = ~np.isnan(counter.power_w)
    start, end = counter.edge_s[:-1][known], counter.edge_s[1:][known]
    seen = samples.between(start, end)
    whole = seen.covered_s > 0.99 * (end - start)
    if not whole.any():
        return Agreement(np.nan, np.nan)
    counted_j = counter.between(start, end).energy_j
    shifts_s = np.arange(0.0, LONGEST_LAG_S, LAG_STEP_S)
    apart = [_apart(counted_j[whole], samples, start[whole] + shift, end[whole] + shift)
             for shift in shifts_s]
    ratio = float(seen.energy_j[whole].sum() / counted_j[whole].sum())
    return Agreement(ratio, float(shifts_s[int(np.argmin(apart))]))


def _apart(counted_j: np.ndarray, samples: Stretches, start: np.ndarray, end: np.ndarray) -> float:
    """How far the samples are from the counter, as a mean square of watts where both know."""
    seen = samples.between(start, end)
    known = seen.covered_s > 0
    lasts_s = (end - start)[known]
    apart_w = (seen.energy_j[known] - counted_j[known]) / lasts_s
    return float((apart_w**2 * lasts_s).sum() / lasts_s.sum())


def _filled_from(counter: Stretches, samples: Stretches) -> Stretches:
    """The counter's stretches; those that are gaps get the sampled power where that is whole."""
    gap = np.flatnonzero(np.isnan(counter.power_w))
    start, end = counter.edge_s[gap], counter.edge_s[gap + 1]
    seen = samples.between(start, end)
    whole = seen.covered_s >= 0.99 * (end - start)
    power = counter.power_w.copy()
    power[gap[whole]] = (seen.energy_j / (end - start))[whole]
    return Stretches(counter.edge_s, power, counter.filled)
