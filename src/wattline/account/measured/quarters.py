"""Quarters of an hour, joined to hours where power is even.

Months of some zones end at a half or a quarter past the hour of UTC, and markets have prices per
quarter. Four times as many rows would say so of every hour; most hours need no more than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wattline.account.attribution import CutShares, Held
from wattline.model.signal import FloatArray

HOUR_S = 3600
QUARTER_S = 900
EVEN = 0.05
"""A quarter of an hour may differ by so much from a quarter of the hour's joules or seconds."""


def even_said(time_s: Iterable[float | None]) -> str:
    """What must be said where joules are cut at these times; nothing where they are cut there."""
    cuts = [time for time in time_s if time is not None and time % HOUR_S]
    if not cuts:
        return ""
    return ("power is taken as even within an hour of UTC whose quarters differ by less than "
            f"{EVEN:.0%}" + (", and within quarters" if any(t % QUARTER_S for t in cuts) else ""))


@dataclass(frozen=True, eq=False)
class FactRows:
    """One entry per stay and hour, or per stay and quarter where that hour is uneven."""

    stay: npt.NDArray[np.int64]
    start_s: FloatArray
    end_s: FloatArray
    energy_j: FloatArray
    covered_s: FloatArray
    filled_j: FloatArray
    idle_j: FloatArray


def fact_rows(found: CutShares, held: Held, edge_s: FloatArray) -> FactRows:
    """Shares that were cut at quarters of an hour; those of which nothing is known are left out."""
    stay, quarter = found.stay, found.interval
    start_s = np.maximum(held.start_s[stay], edge_s[quarter])
    end_s = np.minimum(held.end_s[stay], edge_s[quarter + 1])
    figures = (found.energy_j, found.covered_s, found.filled_j, found.idle_j)
    if not stay.size:
        return FactRows(stay, start_s, end_s, *figures)
    hour = (edge_s[quarter] // HOUR_S).astype(np.int64)
    begins = np.append(True, (np.diff(stay) != 0) | (np.diff(hour) != 0))
    group = np.cumsum(begins) - 1
    uneven = _uneven(group, end_s - start_s, figures)
    row = np.cumsum(begins | uneven[group]) - 1
    first = np.flatnonzero(np.append(True, np.diff(row) != 0))
    last = np.append(first[1:], row.size) - 1
    sums = [np.bincount(row, each).astype(np.float64) for each in figures]
    known = (sums[1] > 0) | (sums[2] > 0)
    return FactRows(stay[first][known], start_s[first][known], end_s[last][known],
                    *(each[known] for each in sums))


def _uneven(
    group: npt.NDArray[np.int64], lasts_s: FloatArray, figures: Sequence[FloatArray]
) -> npt.NDArray[np.bool_]:
    """Per group of quarters, whether one differs in joules, or in seconds that are covered."""
    whole_s = np.bincount(group, lasts_s)
    energy_j, covered_s, _, idle_j = figures
    whole_j = np.bincount(group, energy_j)
    found = np.zeros(whole_s.size, dtype=np.bool_)
    for each, whole in ((energy_j, whole_j), (idle_j, whole_j), (covered_s, whole_s)):
        even = np.bincount(group, each)[group] * lasts_s / whole_s[group]
        found |= np.bincount(group, np.abs(each - even) > EVEN / 4 * whole[group]) > 0
    return found


def rest_rows(
    edge_s: FloatArray, metered_j: FloatArray, covered_s: FloatArray, others: Sequence[FloatArray]
) -> list[FloatArray]:
    """Start, end, joules, seconds and other joules of hours, and of quarters of uneven ones.

    The edges are those of whole hours, cut in quarters.
    """
    whole_j = metered_j.reshape(-1, 4).sum(axis=1)
    uneven = _differ(covered_s, np.full(whole_j.size, float(HOUR_S)))
    for each in (metered_j, *others):
        uneven |= _differ(each, whole_j)
    own = np.repeat(uneven, 4)
    own[::4] = True
    row = np.cumsum(own) - 1
    first = np.flatnonzero(own)
    last = np.append(first[1:], own.size) - 1
    figures = [np.bincount(row, each).astype(np.float64)
               for each in (metered_j, covered_s, *others)]
    known = np.flatnonzero((figures[1] > 0) | (figures[0] > 0))
    return [each[known] for each in (edge_s[:-1][first], edge_s[1:][last], *figures)]


def _differ(figure: FloatArray, whole: FloatArray) -> npt.NDArray[np.bool_]:
    quarters = figure.reshape(-1, 4)
    apart = np.abs(quarters - quarters.mean(axis=1, keepdims=True))
    return np.asarray((apart > EVEN / 4 * whole[:, None]).any(axis=1))
