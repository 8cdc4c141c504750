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
from itertools import pairwise

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

    def spanning(self, start_s: float, end_s: float) -> Stretches:
        """The same with gaps before and after, so that it reaches from one time to the other."""
        before, after = int(start_s < self.edge_s[0]), int(end_s > self.edge_s[-1])
        edges = np.concatenate([[start_s] * before, self.edge_s, [end_s] * after])
        gaps = [np.full(side, np.nan) for side in (before, after)]
        none = [np.zeros(side, dtype=np.bool_) for side in (before, after)]
        return Stretches(edges, np.concatenate([gaps[0], self.power_w, gaps[1]]),
                         np.concatenate([none[0], self.filled, none[1]]))

    def between(self, start_s: npt.ArrayLike, end_s: npt.ArrayLike) -> Joules:
        """Joules, measured seconds and filled joules between pairs of times."""
        start, end = np.atleast_1d(start_s), np.atleast_1d(end_s)
        found = [np.interp(end, self.edge_s, sums) - np.interp(start, self.edge_s, sums)
                 for sums in self._sums]
        return Joules(*found)

    def along(self, edge_s: FloatArray) -> Joules:
        """The same between each of rising times and the next.

        Each sum is made of the stretches between two times alone: what lies before or after
        changes not even its last bit.
        """
        whole = self.within(float(edge_s[0]), float(edge_s[-1]))
        if whole is None or whole.edge_s[0] > edge_s[0] or whole.edge_s[-1] < edge_s[-1]:
            return self.spanning(float(edge_s[0]), float(edge_s[-1])).along(edge_s)
        return whole._along(edge_s)

    def _along(self, edge_s: FloatArray) -> Joules:
        unknown = np.isnan(self.power_w)
        power = np.where(unknown, 0.0, self.power_w)
        cuts = _Cuts.of(self.edge_s, edge_s)
        energy_j = cuts.sums(power)
        covered_s = cuts.sums((~(unknown | self.filled)).astype(np.float64))
        if not self.filled.any():
            return Joules(energy_j, covered_s, np.zeros(energy_j.size), np.zeros(energy_j.size))
        filled = self.filled.astype(np.float64)
        return Joules(energy_j, covered_s, cuts.sums(power * filled), cuts.sums(filled))

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Joules, measured seconds, filled joules and seconds, from the first edge to each."""
        lasts_s = np.diff(self.edge_s)
        energy_j = np.nan_to_num(self.power_w) * lasts_s
        covered_s = np.where(np.isnan(self.power_w) | self.filled, 0.0, lasts_s)
        filled_j = np.where(self.filled, energy_j, 0.0)
        filled_s = np.where(self.filled, lasts_s, 0.0)
        return tuple(  # type: ignore[return-value]
            np.concatenate(([0.0], np.cumsum(each)))
            for each in (energy_j, covered_s, filled_j, filled_s))


@dataclass(frozen=True, eq=False)
class _Cuts:
    """Where parts of time begin and end among stretches that reach as far as they do."""

    lasts_s: FloatArray
    """Of each stretch."""
    first: npt.NDArray[np.int64]
    """Per part the stretch that it begins in, and that it ends in."""
    last: npt.NDArray[np.int64]
    head_s: FloatArray
    """Of the first stretch, and of the last where that is another, what lies in the part."""
    tail_s: FloatArray

    @classmethod
    def of(cls, own_s: FloatArray, edge_s: FloatArray) -> _Cuts:
        place = np.clip(np.searchsorted(own_s, edge_s, side="right") - 1, 0, own_s.size - 2)
        first, last = place[:-1], place[1:]
        head_s = np.minimum(own_s[first + 1], edge_s[1:]) - edge_s[:-1]
        tail_s = np.where(first < last, edge_s[1:] - own_s[last], 0.0)
        return cls(np.diff(own_s), first, last, head_s, tail_s)

    def sums(self, rate: FloatArray) -> FloatArray:
        """A rate of each stretch times the time of it in each part, added up."""
        whole = np.append(rate * self.lasts_s, 0.0)
        bounds = np.column_stack([self.first + 1, self.last]).ravel()
        inside = np.add.reduceat(whole, bounds)[::2]
        inside = np.where(self.first + 1 < self.last, inside, 0.0)
        found = rate[self.first] * self.head_s + inside + rate[self.last] * self.tail_s
        return np.asarray(found, dtype=np.float64)


def joined(parts: Sequence[Stretches]) -> Stretches:
    """Stretches that follow each other, with gaps where they do not touch."""
    if len(parts) == 1:
        return parts[0]
    edges, powers, filled = [parts[0].edge_s], [parts[0].power_w], [parts[0].filled]
    for before, part in pairwise(parts):
        touches = part.edge_s[0] == before.edge_s[-1]
        edges.append(part.edge_s[1:] if touches else part.edge_s)
        powers.append(part.power_w if touches else np.insert(part.power_w, 0, np.nan))
        filled.append(part.filled if touches else np.insert(part.filled, 0, False))
    return Stretches(np.concatenate(edges), np.concatenate(powers), np.concatenate(filled))


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
