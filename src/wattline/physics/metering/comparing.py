"""A meter against a reference: how far off it is, how late, and how noisy.

Both are read now and then, not at the same times, and either may be a counter or a power. The
reference becomes stretches of mean power; each reading of the meter is held against what the
reference says of its own time, shifted by every lag that comes into question. The lag is the shift
at which a straight line explains the meter best, so that neither an offset nor a wrong scale is
taken for one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from wattline.model.signal import FloatArray
from wattline.physics.metering.stretches import Stretches

LONGEST_LAG_S = 10.0
LAG_STEP_S = 0.05
AROUND = round(1.0 / LAG_STEP_S)
"""Steps on each side of a reading that are looked at for whether the power is steady: a second."""
FEWEST = 10
"""Readings below which nothing is said."""
EXPLAINED = 0.5
"""So much of what the meter shows must follow from the reference for a lag to be told."""
TO_SIGMA = 1.4826
"""From the median deviation to the standard deviation of a normal distribution."""


@dataclass(frozen=True, eq=False)
class Series:
    """Readings of one channel; NaN where there was none."""

    time_s: FloatArray
    value: FloatArray
    counts: bool
    """Whether it counts joules; otherwise it shows watts."""
    broken: FloatArray
    """Not 0 where a counter was reset: what it shows there does not follow on what was before."""

    def stretches(self) -> Stretches:
        """Mean powers: of a counter between two readings, of watts halfway to the neighbours."""
        if self.counts:
            rise_j = np.where(self.broken[1:] != 0, np.nan, np.diff(self.value))
            return Stretches.measured(self.time_s, rise_j / np.diff(self.time_s))
        middle = (self.time_s[1:] + self.time_s[:-1]) / 2
        first, last = 2 * self.time_s[0] - middle[0], 2 * self.time_s[-1] - middle[-1]
        return Stretches.measured(np.concatenate([[first], middle, [last]]), self.value)


@dataclass(frozen=True)
class Compared:
    """What a meter does beside the reference; NaN where it cannot be told, with a remark."""

    readings: int
    """Of the meter, with a reference beside them."""
    bias_w: float = math.nan
    """By how much it shows more, on average."""
    bias_share: float = math.nan
    gain: float = math.nan
    """Watts that it shows more for each watt more."""
    lag_s: float = math.nan
    noise_w: float = math.nan
    """Standard deviation about the line while the power is steady."""
    remark: str = ""


def compared(reference: Stretches, meter: Series) -> Compared:
    """One meter beside the reference."""
    start, end, shown_w = _windows(meter, float(np.median(np.diff(reference.edge_s))))
    longest_s = min(LONGEST_LAG_S, (reference.edge_s[-1] - reference.edge_s[0]) / 4)
    steps = max(int(longest_s / LAG_STEP_S), 1)
    shifts_s = np.asarray(LAG_STEP_S * np.arange(-steps, steps + 1), dtype=np.float64)
    drawn_w = np.array([_mean_w(reference, start - shift, end - shift) for shift in shifts_s])
    known = ~np.isnan(drawn_w).any(axis=0) & ~np.isnan(shown_w)
    if known.sum() >= FEWEST:
        return _judged(shifts_s, drawn_w[:, known], shown_w[known])
    beside_w = drawn_w[steps]
    known = ~np.isnan(beside_w) & ~np.isnan(shown_w)
    if known.sum() < FEWEST:
        return Compared(int(known.sum()),
                        remark=f"fewer than {FEWEST} readings with a reference beside them")
    return _unmoved(beside_w[known], shown_w[known], "too few readings to tell lag and gain")


def _judged(shifts_s: FloatArray, drawn_w: FloatArray, shown_w: FloatArray) -> Compared:
    explained = np.array([_explained(row, shown_w) for row in drawn_w])
    best = int(np.argmax(explained))
    told = explained[best] >= EXPLAINED and 0 < best < shifts_s.size - 1
    place = best if told else shifts_s.size // 2
    steady = _steady(drawn_w, place)
    row, shown_w, readings = drawn_w[place][steady], shown_w[steady], shown_w.size
    found = _unmoved(row, shown_w, "", readings)
    if not told or row.var() < 1e-9:
        remark = ("it does not follow the reference" if drawn_w[place].std() > 0.05 * row.mean()
                  else "the power changed too little to tell lag and gain")
        return replace(found, remark=remark)
    gain = float(np.cov(row, shown_w)[0, 1] / np.var(row, ddof=1))
    return replace(found, gain=gain, lag_s=_peak(shifts_s, explained, best),
                   noise_w=_noise_w(shown_w - gain * row))


def _unmoved(
    drawn_w: FloatArray, shown_w: FloatArray, remark: str, readings: int | None = None
) -> Compared:
    """Bias and noise alone."""
    mean_w, bias_w = float(drawn_w.mean()), float(shown_w.mean() - drawn_w.mean())
    return Compared(shown_w.size if readings is None else readings, bias_w,
                    bias_w / mean_w if mean_w > 0 else math.nan,
                    noise_w=_noise_w(shown_w - drawn_w), remark=remark)


def _steady(drawn_w: FloatArray, place: int) -> npt.NDArray[np.bool_]:
    """The half of the readings around which the reference changed least.

    Where it changes, a mean over some time and a value at an instant differ for no fault of the
    meter's; only the lag is found there.
    """
    around = drawn_w[max(place - AROUND, 0) : place + AROUND + 1]
    change_w = around.max(axis=0) - around.min(axis=0)
    return np.asarray(change_w <= np.median(change_w))


def _windows(meter: Series, width_s: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The time that each reading is of, and the watts that it shows."""
    if meter.counts:
        found = meter.stretches()
        return found.edge_s[:-1], found.edge_s[1:], found.power_w
    return meter.time_s - width_s / 2, meter.time_s + width_s / 2, meter.value


def _mean_w(reference: Stretches, start: FloatArray, end: FloatArray) -> FloatArray:
    seen = reference.between(start, end)
    whole = seen.covered_s >= 0.99 * (end - start)
    return np.where(whole, seen.energy_j / (end - start), np.nan)


def _explained(drawn_w: FloatArray, shown_w: FloatArray) -> float:
    """Which share of what the meter shows a straight line explains; a falling one does not."""
    apart = np.sqrt(drawn_w.var() * shown_w.var())
    if apart < 1e-9:
        return 0.0
    likeness = float(np.mean((drawn_w - drawn_w.mean()) * (shown_w - shown_w.mean())) / apart)
    return max(likeness, 0.0) ** 2


def _peak(shifts_s: FloatArray, explained: FloatArray, best: int) -> float:
    """Where the parabola through the best and its neighbours is highest."""
    before, at, after = explained[best - 1 : best + 2]
    bend = before - 2 * at + after
    aside = 0.0 if bend >= 0 else 0.5 * (before - after) / bend
    return float(shifts_s[best] + LAG_STEP_S * aside)


def _noise_w(residue_w: FloatArray) -> float:
    return float(TO_SIGMA * np.median(np.abs(residue_w - np.median(residue_w))))
