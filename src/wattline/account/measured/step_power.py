"""What steps drew by the meters of their nodes: the part of their job, while each of them ran.

Steps of a job overlap (`extern` runs all the time, `batch` around those of srun), so these joules
are kept to be looked at and never added up: what the job drew is told by its own rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, and_, func, or_, select

from wattline.account.attribution import CutShares
from wattline.account.measured.holdings import MARKED_S, Holding, hosts_of
from wattline.account.measured.records import Source
from wattline.account.measured.series_store import DAY_S
from wattline.account.measured.tables import lives, steps
from wattline.model.signal import FloatArray


@dataclass(frozen=True)
class StepThere:
    """A step on a node."""

    life: int
    name: str
    start_s: float
    end_s: float


def steps_there(
    connection: Connection, cluster: str, start_s: float, end_s: float, wanted: set[str]
) -> dict[str, list[StepThere]]:
    """By node the steps that ran between two times; of one that runs, up to what was seen."""
    of_life, of_step = lives.c, steps.c
    until_s = func.coalesce(of_life.end_s, of_life.seen_s, of_life.start_s)
    own = and_(of_step.cluster == of_life.cluster, of_step.label == of_life.label,
               of_step.start_s >= of_life.start_s, of_step.start_s <= until_s)
    rows = connection.execute(
        select(of_life.id, until_s, of_life.node_list, of_step.step, of_step.start_s,
               of_step.end_s, of_step.node_list, of_life.label)
        .join(steps, own).where(
            of_life.cluster == cluster, of_life.start_s < end_s + MARKED_S,
            or_(of_life.end_s.is_(None), of_life.end_s > start_s - MARKED_S))
        .order_by(of_life.start_s, of_step.start_s).execution_options(yield_per=10_000))
    found: dict[tuple[str, str, int], tuple[StepThere, str]] = {}
    for life, until, job_nodes, name, begin, ended, nodes, label in rows:
        step = StepThere(int(life), name, float(begin), float(until if ended is None else ended))
        # Where one life ends and the next begins in the same second, it is the later one's.
        found[label, name, begin] = step, nodes or job_nodes
    by_node: dict[str, list[StepThere]] = {}
    for step, nodes in found.values():
        for host in hosts_of(nodes) & wanted:
            by_node.setdefault(host, []).append(step)
    return by_node


def step_facts(
    node: str, there: Holding, found: Sequence[StepThere], first: int, last: int,
    divide: Callable[[FloatArray], CutShares],
) -> Iterator[tuple[Any, ...]]:
    """Rows per step and day, from the first day to the last; `divide` cuts what the node drew."""
    pieces = _pieces(there, found, first, last)
    if not pieces:
        return
    edges = np.unique(np.concatenate([
        [first * DAY_S, (last + 1) * DAY_S],
        *([begin_s, end_s] for _, _, begin_s, end_s in pieces)])).astype(np.float64)
    shares, count = divide(edges), edges.size - 1
    stay = np.array([at for _, at, _, _ in pieces])
    begin = np.searchsorted(edges, [begin_s for _, _, begin_s, _ in pieces])
    end = np.searchsorted(edges, [end_s for _, _, _, end_s in pieces])
    pair = shares.stay * count + shares.interval
    low, high = (np.searchsorted(pair, stay * count + each) for each in (begin, end))
    sums = [_sums(each, low, high) for each in (
        shares.energy_j, shares.covered_s, shares.filled_j, shares.idle_j)]
    for at, (step, _, begin_s, end_s) in enumerate(pieces):
        energy_j, covered_s, filled_j, idle_j = (float(each[at]) for each in sums)
        if covered_s > 0 or filled_j > 0:
            yield (step.name, node, str(Source.SERIES), False, step.life, begin_s, end_s, energy_j,
                   covered_s, filled_j, idle_j)


def _pieces(
    there: Holding, found: Sequence[StepThere], first: int, last: int
) -> list[tuple[StepThere, int, float, float]]:
    """Each step cut at days, with its job's stay: within that, it begins and ends."""
    place = {int(life): at for at, life in enumerate(there.life)}
    pieces: dict[tuple[int, str, float], tuple[StepThere, int, float, float]] = {}
    for step in found:
        at = place.get(step.life)
        if at is None:
            continue
        begin_s = max(step.start_s, float(there.held.start_s[at]), float(first * DAY_S))
        end_s = min(step.end_s, float(there.held.end_s[at]), float((last + 1) * DAY_S))
        while begin_s < end_s:
            cut_s = min(end_s, (math.floor(begin_s / DAY_S) + 1) * DAY_S)
            pieces[step.life, step.name, begin_s] = step, at, begin_s, float(cut_s)
            begin_s = float(cut_s)
    return list(pieces.values())


def _sums(values: FloatArray, low: Any, high: Any) -> FloatArray:
    """What lies from each low place to before its high one, added up."""
    padded = np.append(values, 0.0)
    both = np.stack([low, high], axis=1).ravel()
    return np.where(high > low, np.add.reduceat(padded, both)[::2], 0.0)
