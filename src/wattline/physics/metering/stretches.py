"""Stretches of time with the mean power that a meter saw in each, and the joules of any part.

Whatever a meter tells (watts at instants, joules since a beginning) becomes stretches: they follow
each other without overlapping, and where nothing is known the power is NaN. A gap may be filled,
and is then known as filled: joules always come with the seconds that were really measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray

LONGEST_GAP_S = 900.0
"""Longer gaps are not filled unless one says so: nobody knows what happened in them."""


class Filling(StrEnum):
    """What stands for the power in a gap between two measured stretches."""

    HELD = "held"
    """The last power that was measured before it."""
    INTERPOLATED = "interpolated"
    """The mean of the powers before and after it."""
    MEAN = "mean"
    """The mean of all that was measured."""
    NONE = "none"
    """Nothing: its joules are missing."""


@dataclass(frozen=True, eq=False)
class Joules:
    """What was drawn between two times, one value per pair of times."""

    energy_j: FloatArray
    """Measured and filled."""
    covered_s: FloatArray
    """Seconds that were measured."""
    filled_j: FloatArray
    """The part of the joules that stands for gaps."""
    filled_s: FloatArray
    """Seconds of gaps that joules stand for."""


@dataclass(frozen=True, eq=False)
class Stretches:
    """Edges of stretches and the mean power in each; NaN where it is unknown."""

    edge_s: FloatArray
    power_w: FloatArray
    filled: npt.NDArray[np.bool_]
    """Whether the power of a stretch was not measured but stands for a gap."""

    @classmethod
    def measured(cls, edge_s: npt.ArrayLike, power_w: npt.ArrayLike) -> Stretches:
        edges = np.asarray(edge_s, dtype=np.float64)
        power = np.asarray(power_w, dtype=np.float64)
        if edges.size != power.size + 1 or not (np.diff(edges) > 0).all():
            raise InputError("stretches need rising times, one more than powers")
        if (power < 0).any() or np.isinf(power).any():
            raise InputError("a meter cannot show a power below 0 W, or an infinite one")
        return cls(edges, power, np.zeros(power.size, dtype=np.bool_))

    def fill(self, how: Filling, longest_s: float = LONGEST_GAP_S) -> Stretches:
        """Give gaps between two measured stretches a power.

        Nothing is made up before the first measurement or after the last, nor in gaps that last
        longer than `longest_s`.
        """
        gaps = np.isnan(self.power_w)
        known = np.flatnonzero(~gaps)
        if how is Filling.NONE or not known.size or known.size == gaps.size:
            return self
        gap = np.flatnonzero(gaps[known[0] : known[-1]]) + known[0]
        before, after = _neighbours(known, gap)
        lasts_s = self.edge_s[after] - self.edge_s[before + 1]
        if how is Filling.MEAN:
            power = np.full(gap.size, self.mean_w)
        else:
            power = self.power_w[before]
            if how is Filling.INTERPOLATED:
                power = (power + self.power_w[after]) / 2
        short = lasts_s <= longest_s
        filled_w, filled = self.power_w.copy(), self.filled.copy()
        filled_w[gap[short]] = power[short]
        filled[gap[short]] = True
        return Stretches(self.edge_s, filled_w, filled)

    @property
    def mean_w(self) -> float:
        """The mean power while it was measured; NaN where it never was."""
        known = ~np.isnan(self.power_w) & ~self.filled
        lasts_s = np.diff(self.edge_s)[known]
        return float(self.power_w[known] @ lasts_s / lasts_s.sum()) if known.any() else np.nan

    def within(self, start_s: float, end_s: float) -> Stretches | None:
        """The part between two times; None where there is none."""
        first, last = max(start_s, self.edge_s[0]), min(end_s, self.edge_s[-1])
        if not first < last:
            return None
        begin = int(np.searchsorted(self.edge_s, first, side="right")) - 1
        end = int(np.searchsorted(self.edge_s, last, side="left"))
        edges = self.edge_s[begin : end + 1].copy()
        edges[0], edges[-1] = first, last
        return Stretches(edges, self.power_w[begin:end], self.filled[begin:end])

    def between(self, start_s: npt.ArrayLike, end_s: npt.ArrayLike) -> Joules:
        """Joules, measured seconds and filled joules between pairs of times."""
        start, end = np.atleast_1d(start_s), np.atleast_1d(end_s)
        return Joules(*(to - since for to, since in zip(
            self._until(end), self._until(start), strict=True)))

    def along(self, edge_s: FloatArray) -> Joules:
        """The same between each time and the next."""
        return Joules(*(np.diff(each) for each in self._until(edge_s)))

    def _until(self, time_s: FloatArray) -> list[FloatArray]:
        """Each of the sums up to some times."""
        time_s = np.clip(time_s, self.edge_s[0], self.edge_s[-1])
        place = np.minimum(np.searchsorted(self.edge_s, time_s, side="right"),
                           self.edge_s.size - 1)
        before, after = self.edge_s[place - 1], self.edge_s[place]
        part = (time_s - before) / (after - before)
        return [sums[place - 1] + part * (sums[place] - sums[place - 1]) if sums.size
                else np.zeros(time_s.size) for sums in self._sums]

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Joules, measured seconds, filled joules and seconds, from the first edge to each."""
        lasts_s = np.diff(self.edge_s)
        unknown = np.isnan(self.power_w)
        energy_j = np.where(unknown, 0.0, self.power_w) * lasts_s
        covered_s = np.where(unknown | self.filled, 0.0, lasts_s)
        none = np.zeros(0)  # most days have no gaps: nothing to add up
        filled = [np.where(self.filled, each, 0.0) for each in (energy_j, lasts_s)] if (
            self.filled.any()) else [none, none]
        return tuple(  # type: ignore[return-value]
            np.concatenate(([0.0], np.cumsum(each))) if each.size else each
            for each in (energy_j, covered_s, *filled))


def layered(first: Stretches, second: Stretches) -> Stretches:
    """Where the first knows the power, the first; elsewhere the second."""
    edges, (one, other) = _aligned([first, second])
    return Stretches(edges, np.where(np.isnan(one), other, one),
                     np.zeros(edges.size - 1, dtype=np.bool_))


def added(parts: Sequence[Stretches]) -> Stretches:
    """What all draw together; unknown where one of them is."""
    edges, powers = _aligned(parts)
    filled = _at(edges, [part.edge_s for part in parts],
                 [part.filled.astype(np.float64) for part in parts])
    return Stretches(edges, np.sum(powers, axis=0), np.nan_to_num(filled).max(axis=0) > 0)


def _aligned(parts: Sequence[Stretches]) -> tuple[FloatArray, FloatArray]:
    """Edges of all, and a row per part with its power between them, NaN where it has none."""
    edges = np.unique(np.concatenate([part.edge_s for part in parts]))
    return edges, _at(edges, [part.edge_s for part in parts], [part.power_w for part in parts])


def _at(edges: FloatArray, own: Sequence[FloatArray], values: Sequence[FloatArray]) -> FloatArray:
    rows = []
    for own_edges, own_values in zip(own, values, strict=True):
        place = np.searchsorted(own_edges, edges[:-1], side="right") - 1
        inside = (place >= 0) & (place < own_values.size)
        rows.append(np.where(inside, own_values[np.clip(place, 0, own_values.size - 1)], np.nan))
    return np.array(rows)


def _neighbours(
    known: npt.NDArray[np.int64], gap: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each stretch of a gap, the last measured one before it and the first after it."""
    place = np.searchsorted(known, gap)
    return known[place - 1], known[place]
