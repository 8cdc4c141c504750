"""Whose joules: what a node drew, divided among the jobs that held it.

A job alone on a node has all that the node draws. Jobs that share it have the idle power by what
they hold of it, and what is drawn above that by the processor time they used; a GPU's joules go to
whoever holds it. What nobody holds stays nobody's. Nothing is lost and nothing counted twice: the
shares of a node and its rest add up to what its meter saw.
"""

from __future__ import annotations

from collections.abc import Mapping
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

    cores: float
    idle_w: float = 0.0
    """What it draws without any job; 0 where that is not known: then all of it is dynamic."""
    memory: float = 0.0


@dataclass(frozen=True, eq=False)
class Shares:
    """Joules of each stay, and of nobody."""

    energy_j: FloatArray
    idle_j: FloatArray
    """The part of them that is the node's idle power."""
    covered_s: FloatArray
    filled_j: FloatArray
    nobody_j: float
    nobody_covered_s: float


def attribute(
    series: Stretches, held: Held, node: Node, *, rule: IdleRule = IdleRule.CORES,
    gpus: Mapping[int, Stretches] | None = None,
    gpu_holders: Mapping[int, npt.NDArray[np.int64]] | None = None,
) -> Shares:
    """Divide what a node's meter saw, its GPUs included, among the stays of jobs on it.

    `gpus` are the meters of its GPUs, `gpu_holders` of each the stays that held it.
    """
    parts = _Parts.of(series, held)
    energy_j, idle_j, filled_j = (np.zeros(len(held)) for _ in range(3))
    rest_j = parts.energy_j.copy()
    for gpu, meter in (gpus or {}).items():
        holders = np.asarray((gpu_holders or {}).get(gpu, ()), dtype=np.int64)
        drawn_j = meter.between(parts.edge_s[:-1], parts.edge_s[1:]).energy_j
        # A node's meter that lags, or is coarser, may show less than its GPUs for a moment.
        drawn_j = np.minimum(drawn_j, rest_j)
        rest_j -= drawn_j
        mine = np.isin(parts.stay, holders)
        np.add.at(energy_j, parts.stay[mine], _equally(parts, mine, drawn_j))
    idle_part_j = np.minimum(node.idle_w * parts.lasts_s, rest_j)
    weight = _idle_weight(held, node, rule)
    own_idle_j = idle_part_j[parts.part] * _held_share(parts, weight)
    own_dynamic_j = (rest_j - idle_part_j)[parts.part] * _used_share(parts, held)
    np.add.at(energy_j, parts.stay, own_idle_j + own_dynamic_j)
    np.add.at(idle_j, parts.stay, own_idle_j)
    covered_s = np.zeros(len(held))
    np.add.at(covered_s, parts.stay, parts.covered_s[parts.part])
    with np.errstate(invalid="ignore", divide="ignore"):
        made_up = np.nan_to_num(parts.filled_j / parts.energy_j)[parts.part]
    np.add.at(filled_j, parts.stay, (own_idle_j + own_dynamic_j) * made_up)
    owned = np.bincount(parts.part, minlength=parts.lasts_s.size) > 0
    return Shares(energy_j, idle_j, covered_s, filled_j,
                  nobody_j=float(parts.energy_j.sum() - energy_j.sum()),
                  nobody_covered_s=float(parts.covered_s[~owned].sum()))


@dataclass(frozen=True, eq=False)
class _Parts:
    """The time of a node, cut wherever a job comes or goes: who is there in each part."""

    edge_s: FloatArray
    energy_j: FloatArray
    covered_s: FloatArray
    filled_j: FloatArray
    part: npt.NDArray[np.int64]
    """With `stay`: each part with each stay that is there in it."""
    stay: npt.NDArray[np.int64]

    @property
    def lasts_s(self) -> FloatArray:
        return np.diff(self.edge_s)

    @classmethod
    def of(cls, series: Stretches, held: Held) -> _Parts:
        first, last = series.edge_s[0], series.edge_s[-1]
        cuts = np.clip(np.concatenate([held.start_s, held.end_s]), first, last)
        edges = np.unique(np.concatenate([[first, last], cuts]))
        seen = series.between(edges[:-1], edges[1:])
        begins = np.searchsorted(edges, np.clip(held.start_s, first, last))
        ends = np.searchsorted(edges, np.clip(held.end_s, first, last))
        counts = ends - begins
        stay = np.repeat(np.arange(len(held)), counts)
        offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        part = np.repeat(begins, counts) + offset
        return cls(edges, seen.energy_j, seen.covered_s, seen.filled_j, part, stay)


def _idle_weight(held: Held, node: Node, rule: IdleRule) -> FloatArray:
    """What each stay holds of the node, as a part of the whole; equal ones as 1 of infinitely."""
    if rule is IdleRule.EQUAL:
        return np.full(len(held), np.inf)
    whole = node.cores if rule is IdleRule.CORES else node.memory
    mine = held.cores if rule is IdleRule.CORES else held.memory
    if mine.size != len(held) or not whole > 0:
        raise InputError(f"idle power by {rule}: neither the node nor its jobs say how much of it "
                         "they hold")
    return mine / whole


def _held_share(parts: _Parts, weight: FloatArray) -> FloatArray:
    """Of each part, what each stay has of the idle power; what is held by nobody is nobody's."""
    equal = np.isinf(weight).all() and weight.size > 0
    each = np.where(equal, 1.0, weight)[parts.stay]
    held = np.bincount(parts.part, each, parts.lasts_s.size)
    # Where more is given out than there is (oversubscription), all of it is theirs.
    whole = held if equal else np.maximum(held, 1.0)
    return each / whole[parts.part]


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


def _equally(parts: _Parts, mine: npt.NDArray[np.bool_], drawn_j: FloatArray) -> FloatArray:
    """What a GPU drew, to those that held it in each part; more than one share it alike."""
    holders = np.bincount(parts.part[mine], minlength=parts.lasts_s.size)
    return drawn_j[parts.part[mine]] / holders[parts.part[mine]]
