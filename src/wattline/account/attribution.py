"""Whose joules: what a node drew, divided among the jobs that held it.

A job alone on a node has all that the node draws. Jobs that share it have the idle power by what
they hold of it, and what is drawn above that by the processor time they used; a GPU's joules go to
whoever holds it. What nobody holds stays nobody's. Nothing is lost and nothing counted twice: the
shares of a node and its rest add up to what its meter saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.metering.stretches import Stretches

NOBODY = -1


class IdleRule(StrEnum):
    """By what the idle power of a shared node is divided."""

    CORES = "cores"
    MEMORY = "memory"
    EQUAL = "equal"


@dataclass(frozen=True, eq=False)
class Held:
    """Who held a node: one entry per job and stay."""

    start_s: FloatArray
    end_s: FloatArray
    cores: FloatArray
    """Of the node's cores, those that the job was given."""
    cpu_s: FloatArray
    """Processor time that it used on this node; NaN where that is not known."""
    memory: FloatArray = field(default_factory=lambda: np.zeros(0))
    """What it was given of the node's memory, in the node's unit; empty where it is not known."""

    @classmethod
    def of(
        cls, start_s: npt.ArrayLike, end_s: npt.ArrayLike, cores: npt.ArrayLike,
        cpu_s: npt.ArrayLike | None = None, memory: npt.ArrayLike | None = None,
    ) -> Held:
        starts, ends, held = (np.asarray(each, dtype=np.float64)
                              for each in (start_s, end_s, cores))
        if not starts.size == ends.size == held.size or not (starts <= ends).all():
            raise InputError("a stay on a node needs a start, an end not before it, and cores")
        used = np.full(starts.size, np.nan) if cpu_s is None else np.asarray(cpu_s, dtype=float)
        given = np.zeros(0) if memory is None else np.asarray(memory, dtype=np.float64)
        return cls(starts, ends, held, used, given)

    def __len__(self) -> int:
        return int(self.start_s.size)


@dataclass(frozen=True)
class Node:
    """What attribution needs to know of a node."""

    cores: float = 0.0
    """0 where that is not known: then its jobs hold all of it."""
    idle_w: float = 0.0
    """What it draws without any job; 0 where that is not known: then all of it is dynamic."""
    memory: float = 0.0
    cpu_w: float = 0.0
    gpu_w: float = 0.0
    """What each core and each GPU in use adds; 0 of cores where that is not known: then what is
    drawn above idle goes by processor time."""


@dataclass(frozen=True, eq=False)
class Gpus:
    """The GPUs of a node: the meter of each, and the stays that held it."""

    meters: Mapping[int, Stretches] = field(default_factory=dict)
    holders: Mapping[int, npt.NDArray[np.int64]] = field(default_factory=dict)
    unnamed: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Per stay how many GPUs it holds of which nobody says which; empty where there are none."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Joules of each stay, and of nobody."""

    nobody_j: float
    nobody_covered_s: float
    energy_j: FloatArray
    idle_j: FloatArray
    """The part of them that is the node's idle power."""
    covered_s: FloatArray
    filled_j: FloatArray


@dataclass(frozen=True, eq=False)
class CutShares:
    """Joules of each stay in each interval that it was there in; and of each interval the rest."""

    stay: npt.NDArray[np.int64]
    interval: npt.NDArray[np.int64]
    rest: Rest
    energy_j: FloatArray
    idle_j: FloatArray
    covered_s: FloatArray
    filled_j: FloatArray


@dataclass(frozen=True, eq=False)
class Rest:
    """Per interval all that the meter saw, and of it what is no job's."""

    metered_j: FloatArray
    covered_s: FloatArray
    filled_j: FloatArray
    idle_j: FloatArray
    """Idle power that no job held the node, the cores or the GPU for."""
    unattributed_j: FloatArray
    """Drawn above the idle power, where that is known, while no job was there; and by GPUs that
    may be anybody's."""


def attribute(
    series: Stretches, held: Held, node: Node, *, rule: IdleRule = IdleRule.CORES,
    gpus: Gpus | None = None,
) -> Shares:
    """Divide what a node's meter saw, its GPUs included, among the stays of jobs on it."""
    parts = _Parts.of(series, held)
    found = _Divided.of(parts, held, node, rule, gpus or Gpus())
    owned = np.bincount(parts.part, minlength=parts.lasts_s.size) > 0
    return Shares(
        float((found.rest_idle_j + found.rest_above_j).sum()),
        float(parts.covered_s[~owned].sum()),
        *_sums(parts.stay, len(held), found.energy_j, found.idle_j, parts.covered_s[parts.part],
               found.filled_j))


def attribute_between(
    series: Stretches, held: Held, node: Node, edge_s: FloatArray, *,
    rule: IdleRule = IdleRule.CORES, gpus: Gpus | None = None,
) -> CutShares:
    """The same, cut at these times: an interval lies between each two of them.

    The first must not lie after the beginning of the series, nor the last before its end.
    """
    parts = _Parts.of(series, held, edge_s)
    found = _Divided.of(parts, held, node, rule, gpus or Gpus())
    count = edge_s.size - 1
    of_part = np.clip(np.searchsorted(edge_s, parts.edge_s[:-1], side="right") - 1, 0, count - 1)
    pair, at = np.unique(parts.stay * count + of_part[parts.part], return_inverse=True)
    rest = Rest(*_sums(of_part, count, parts.energy_j, parts.covered_s, parts.filled_j,
                       found.rest_idle_j, found.rest_above_j))
    return CutShares(pair // count, pair % count, rest, *_sums(
        at, pair.size, found.energy_j, found.idle_j, parts.covered_s[parts.part], found.filled_j))


def _sums(
    place: npt.NDArray[np.int64], size: int, *values: FloatArray
) -> Iterator[FloatArray]:
    """Each of these added up by place."""
    for each in values:
        yield np.bincount(place, each, size).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Divided:
    """Joules per pair of part and stay, and per part those of nobody."""

    energy_j: FloatArray
    idle_j: FloatArray
    filled_j: FloatArray
    rest_idle_j: FloatArray
    rest_above_j: FloatArray

    @classmethod
    def of(cls, parts: _Parts, held: Held, node: Node, rule: IdleRule, gpus: Gpus) -> _Divided:
        size = parts.lasts_s.size
        owned = np.bincount(parts.part, minlength=size) > 0
        rest_j = parts.energy_j.copy()
        gpu_j, unheld_j, unsure_j = np.zeros(parts.part.size), np.zeros(size), np.zeros(size)
        named = {gpu: _gpu_share(parts, gpus.holders.get(gpu, ())) for gpu in gpus.meters}
        free = {gpu: np.bincount(parts.part, share, size) <= 0 for gpu, share in named.items()}
        unnamed, claimed = _unnamed_share(parts, gpus.unnamed, free)
        for gpu, meter in gpus.meters.items():
            # A node's meter that lags, or is coarser, may show less than its GPUs for a moment.
            drawn_j = np.minimum(meter.along(parts.edge_s).energy_j, rest_j)
            rest_j -= drawn_j
            gpu_j += drawn_j[parts.part] * np.where(free[gpu][parts.part], unnamed, named[gpu])
            unheld_j += np.where(free[gpu] & (claimed <= 0), drawn_j, 0.0)
            unsure_j += np.where(free[gpu] & (claimed > 0), drawn_j * (1.0 - claimed), 0.0)
        idle_part_j = np.minimum(node.idle_w * parts.known_s, rest_j)
        idle_share = _held_share(parts, held, node, rule)
        idle_j = idle_part_j[parts.part] * idle_share
        energy_j = gpu_j + idle_j + (
            (rest_j - idle_part_j)[parts.part] * _used_share(parts, held))
        with np.errstate(invalid="ignore", divide="ignore"):
            made_up = np.nan_to_num(parts.filled_j / parts.energy_j)[parts.part]
        # Whoever is there has all that is drawn above idle; where nobody is, it is nobody's.
        not_held = np.maximum(0.0, 1.0 - np.bincount(parts.part, idle_share, size))
        known_idle_j = np.minimum(node.idle_w * parts.known_s, parts.energy_j)
        alone_j = known_idle_j if node.idle_w > 0 else parts.energy_j
        return cls(energy_j, idle_j, energy_j * made_up,
                   np.where(owned, idle_part_j * not_held + unheld_j, alone_j),
                   np.where(owned, unsure_j, parts.energy_j - alone_j))


@dataclass(frozen=True, eq=False)
class _Parts:
    """The time of a node, cut wherever a job comes or goes: who is there in each part."""

    edge_s: FloatArray
    energy_j: FloatArray
    covered_s: FloatArray
    filled_j: FloatArray
    known_s: FloatArray
    """Seconds of each part for which there are joules, measured or filled."""
    part: npt.NDArray[np.int64]
    """With `stay`: each part with each stay that is there in it."""
    stay: npt.NDArray[np.int64]

    @property
    def lasts_s(self) -> FloatArray:
        return np.diff(self.edge_s)

    @classmethod
    def of(cls, series: Stretches, held: Held, cut_s: FloatArray | None = None) -> _Parts:
        first, last = series.edge_s[0], series.edge_s[-1]
        also = np.zeros(0) if cut_s is None else cut_s
        cuts = np.clip(np.concatenate([held.start_s, held.end_s, also]), first, last)
        edges = np.unique(np.concatenate([[first, last], cuts]))
        seen = series.along(edges)
        begins = np.searchsorted(edges, np.clip(held.start_s, first, last))
        ends = np.searchsorted(edges, np.clip(held.end_s, first, last))
        counts = ends - begins
        stay = np.repeat(np.arange(len(held)), counts)
        offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        part = np.repeat(begins, counts) + offset
        return cls(edges, seen.energy_j, seen.covered_s, seen.filled_j,
                   seen.covered_s + seen.filled_s, part, stay)


def _held_share(parts: _Parts, held: Held, node: Node, rule: IdleRule) -> FloatArray:
    """Of each part, what each stay has of the idle power; what is held by nobody is nobody's."""
    size = parts.lasts_s.size
    mine = held.cores if rule is IdleRule.CORES else held.memory
    if rule is IdleRule.EQUAL:
        mine = np.ones(len(held))
    elif mine.size != len(held):
        raise InputError(f"idle power by {rule}: the jobs do not say how much of it they hold")
    each = mine[parts.stay]
    whole = np.bincount(parts.part, each, size)
    known = {IdleRule.CORES: node.cores, IdleRule.MEMORY: node.memory}.get(rule, 0.0)
    if known > 0:
        # Where more is given out than there is (oversubscription), all of it is theirs.
        return each / np.maximum(whole, known)[parts.part]
    # Nobody knows how much the node has: what is held is all there is.
    each = np.where(whole[parts.part] > 0, each, 1.0)
    return each / np.bincount(parts.part, each, size)[parts.part]


def _used_share(parts: _Parts, held: Held) -> FloatArray:
    """Of each part, what each stay has of the power above idle: by processor time, else cores."""
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = held.cpu_s / (held.end_s - held.start_s)
    unknown = ~np.isfinite(rate)
    size = parts.lasts_s.size
    blind = np.bincount(parts.part, unknown[parts.stay].astype(float), size) > 0
    used = np.bincount(parts.part, np.where(unknown, 0.0, rate)[parts.stay], size)
    by_cores = (blind | ~(used > 0))[parts.part]
    each = np.where(by_cores, held.cores[parts.stay], np.where(unknown, 0.0, rate)[parts.stay])
    # Jobs without any cores (they hold GPUs or memory) share alike.
    none = np.bincount(parts.part, each, size) <= 0
    each = np.where(none[parts.part], 1.0, each)
    return each / np.bincount(parts.part, each, size)[parts.part]


def _gpu_share(parts: _Parts, holders: npt.ArrayLike) -> FloatArray:
    """Of what a GPU draws in each part, what each stay that holds it has: alike where several."""
    each = np.isin(parts.stay, np.asarray(holders, dtype=np.int64)).astype(np.float64)
    whole = np.bincount(parts.part, each, parts.lasts_s.size)[parts.part]
    return np.divide(each, whole, out=np.zeros(each.size), where=whole > 0)


def _unnamed_share(
    parts: _Parts, held: FloatArray, free: Mapping[int, npt.NDArray[np.bool_]]
) -> tuple[FloatArray, FloatArray]:
    """Of a GPU that nobody names, what each stay has, and per part what all have together.

    Whoever holds one of four such GPUs, nobody says which, has a quarter of what each draws.
    """
    size = parts.lasts_s.size
    if not held.size or not free:
        return np.zeros(parts.part.size), np.zeros(size)
    each = held[parts.stay]
    claimed = np.bincount(parts.part, each, size)
    there = np.maximum(claimed, np.sum(list(free.values()), axis=0))
    share = np.divide(claimed, there, out=np.zeros(size), where=there > 0)
    whole = there[parts.part]
    return np.divide(each, whole, out=np.zeros(each.size), where=whole > 0), share
