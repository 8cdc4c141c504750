"""From series to facts: what nodes drew, by hours or quarters of them, and whose it was.

What is touched is computed anew, node by node and day by day, so that the ledger comes out the
same whichever came first, the jobs or their power, and memory holds one node at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, select

from wattline.account.attribution import CutShares, IdleRule, attribute_between
from wattline.account.measured.border_gaps import Sure, certain_s, sure_parts
from wattline.account.measured.bulk import insert_rows
from wattline.account.measured.counting import count_sources
from wattline.account.measured.entities import gpu_of, is_above, node_of
from wattline.account.measured.filling import fill_by_mean
from wattline.account.measured.holdings import Holding, Holdings, holdings
from wattline.account.measured.node_power import AROUND, Days, NodePower, node_power
from wattline.account.measured.notes import Notes
from wattline.account.measured.quarters import QUARTER_S, fact_rows, rest_rows
from wattline.account.measured.records import Source
from wattline.account.measured.rules import HIGHEST_ABOVE_W, Rules
from wattline.account.measured.series_store import DAY_S, read_days
from wattline.account.measured.step_power import StepThere, step_facts, steps_there
from wattline.account.measured.tables import facts, lives, rests
from wattline.account.measured.tables import series as series_table
from wattline.account.measured.touched import Touched
from wattline.account.measured.windows import touched_days
from wattline.model.signal import FloatArray
from wattline.physics.metering.stretches import Filling, added

ROWS_AT_ONCE = 100_000
DAYS_READ = 33
"""A month and the day on either side of it, which it touches too."""
DAYS_AT_ONCE = 11
"""So much is computed at once; more would only wait for memory."""
FACT = ("step", "node", "source", "counts", "life_id", "start_s", "end_s", "energy_j",
        "covered_s", "filled_j", "idle_j")
REST = ("cluster", "entity", "start_s", "end_s", "metered_j", "covered_s", "filled_j", "idle_j",
        "unattributed_j", "suspect_j")


@dataclass(frozen=True)
class Settled:
    """What was computed anew, and what must be known of it."""

    lives: frozenset[int]
    nodes: int
    facts: int
    rests: int
    remarks: tuple[str, ...] = ()


def settle(connection: Connection, touched: Touched, rules: Rules | None = None) -> Settled:
    """Compute anew what follows from the series and lives that were touched."""
    rules = rules or Rules()
    work = _Work(connection, rules.of_nodes, set(touched.lives))
    for cluster, nodes in touched_days(connection, touched).items():
        every = [day for days in nodes.values() for day in days]
        window = min(every) * DAY_S, (max(every) + 1) * DAY_S
        held = holdings(connection, cluster, *window, set(nodes))
        work.notes.unreadable += held.unreadable
        work.notes.suspended += held.suspended
        work.steps = steps_there(connection, cluster, *window, set(nodes))
        parts = _parts_of(connection, cluster, set(nodes))
        for node in sorted(nodes):
            for first, last in _runs(nodes[node]):
                work.node(cluster, node, parts.get(node, []), held, first, last)
    work.flush()
    if rules.filling is Filling.MEAN:
        fill_by_mean(connection, work.lives)
    count_sources(connection, work.lives)
    return Settled(frozenset(work.lives), work.nodes, work.facts, work.rests,
                   work.notes.remarks(work.rules))


def settle_all(connection: Connection, rules: Rules | None = None) -> Settled:
    """Compute the whole ledger anew, after a change of rules."""
    table = series_table.c
    days: dict[tuple[str, str], set[int]] = {}
    for cluster, entity, day in connection.execute(
            select(table.cluster, table.entity, table.day).distinct()):
        days.setdefault((cluster, entity), set()).add(day)
    every = connection.scalars(select(lives.c.id))
    return settle(connection, Touched({key: frozenset(value) for key, value in days.items()},
                                      frozenset(every)), rules)


@dataclass
class _Work:
    connection: Connection
    rules: Rules
    lives: set[int]
    nodes: int = 0
    facts: int = 0
    rests: int = 0
    notes: Notes = field(default_factory=Notes)
    steps: Mapping[str, list[StepThere]] = field(default_factory=dict)
    fact_rows: list[tuple[Any, ...]] = field(default_factory=list)
    rest_rows: list[tuple[Any, ...]] = field(default_factory=list)

    def node(
        self, cluster: str, node: str, parts: list[str], held: Holdings, first: int, last: int
    ) -> None:
        """One node, or a meter above nodes, over a run of days."""
        self.nodes += 1
        self.flush(ROWS_AT_ONCE)
        self._forget(cluster, node, first, last)
        own = read_days(self.connection, cluster, node, first - AROUND, last + AROUND)
        gpus = {gpu: read_days(self.connection, cluster, part, first - AROUND, last + AROUND)
                for part in parts if (gpu := gpu_of(part)) is not None}
        self.notes.undivided.update(part for part in parts if gpu_of(part) is None)
        holding = held.of(node)
        for begin in range(first, last + 1, DAYS_AT_ONCE):
            end = min(begin + DAYS_AT_ONCE - 1, last)
            self._days(cluster, node, own, gpus, holding, begin, end)

    def _days(
        self, cluster: str, node: str, own: Days, gpus: Mapping[int, Days], holding: Holding,
        first: int, last: int,
    ) -> None:
        begin_s, end_s = first * DAY_S, (last + 1) * DAY_S
        there = holding.between(begin_s, end_s)
        edges = np.arange(begin_s, end_s + 1, QUARTER_S, dtype=np.float64)
        parts = {gpu: power for gpu, days in gpus.items()
                 if (power := self._power(node, days, first, last))}
        meters = {gpu: power.power for gpu, power in parts.items()}
        found = self._power(node, own, first, last)
        if found is None and not meters:
            return
        if found is None:
            self.notes.by_gpus.add(node)
        if meters:
            self.notes.blind_gpus.update(int(life) for life, index, count in zip(
                there.life, there.gpu_index, there.gpu_count, strict=True) if count and not index)
        if self.rules.idle_by is IdleRule.MEMORY:
            self.notes.without_memory.update(there.life[there.held.memory <= 0].tolist())
        drawn = found.power if found else added(list(meters.values()))
        known = self.rules.of(node)
        if known.cpu_w > 0:  # cards with meters of their own are divided by these
            there = there.by_parts(known.cpu_w, 0.0 if meters else known.gpu_w)

        def divide(edge_s: FloatArray) -> CutShares:
            return attribute_between(drawn, there.held, known, edge_s,
                                     rule=self.rules.idle_by, gpus=there.gpus(meters))

        suspect_j = self._suspects(node, [*parts.values(), *([found] if found else [])], edges)
        self._keep(cluster, node, there, divide(edges), edges, suspect_j, sure_parts(there, own))
        self.fact_rows.extend(
            step_facts(node, there, self.steps.get(node, ()), first, last, divide))

    def _suspects(self, node: str, found: list[NodePower], edges: FloatArray) -> FloatArray:
        """Joules of readings that look like faults, and a note of them."""
        whole_j = np.zeros(edges.size - 1)
        for power in found:
            self.notes.suspects += power.suspects
            for odd in power.suspect:
                whole_j += odd.along(edges).energy_j
        if whole_j.any():
            self.notes.suspect_j[node] = self.notes.suspect_j.get(node, 0.0) + float(whole_j.sum())
        return whole_j

    def _power(self, node: str, days: Days, first: int, last: int) -> NodePower | None:
        """The power of a node or of one of its GPUs, and a note of what must be said of it."""
        limit_w = HIGHEST_ABOVE_W if is_above(node) else self.rules.highest_w
        found = node_power(days, first, last, self.rules, limit_w) if days else None
        if found is not None and found.several:
            self.notes.several.setdefault(node, set()).update(found.meters)
        if found is not None and found.impossible:
            self.notes.impossible[node] = self.notes.impossible.get(node, 0) + found.impossible
        if found is not None and found.unsure:
            self.notes.unsure.add(node)
        return found

    def _keep(
        self, cluster: str, node: str, there: Holding, found: CutShares, edges: FloatArray,
        suspect_j: FloatArray, sure: Sure,
    ) -> None:
        rest = found.rest
        none = is_above(node)  # beneath it lie nodes, and theirs is what is idle
        zero = np.zeros(edges.size - 1)
        columns = rest_rows(edges, rest.metered_j, rest.covered_s, (
            rest.filled_j, zero if none else rest.idle_j, zero if none else rest.unattributed_j,
            suspect_j))
        self.rest_rows.extend(
            (cluster, node, *row) for row in zip(*(each.tolist() for each in columns), strict=True))
        self.fact_rows.extend(_fact_rows(node, there, found, edges, sure))
        self.lives.update(there.life[found.stay].tolist())

    def _forget(self, cluster: str, node: str, first: int, last: int) -> None:
        begin_s, end_s = first * DAY_S, (last + 1) * DAY_S
        mine = select(lives.c.id).where(lives.c.cluster == cluster)
        old = ((facts.c.node == node) & (facts.c.start_s >= begin_s) & (facts.c.start_s < end_s)
               & (facts.c.source == str(Source.SERIES)) & facts.c.life_id.in_(mine))
        before = set(self.connection.scalars(select(facts.c.life_id).where(old).distinct()))
        if before:
            self.lives |= before
            self.connection.execute(delete(facts).where(old))
        self.connection.execute(delete(rests).where(
            rests.c.cluster == cluster, rests.c.entity == node, rests.c.start_s >= begin_s,
            rests.c.start_s < end_s))

    def flush(self, most: int = 0) -> None:
        """Write what is waiting, where it is more than so many rows."""
        if len(self.fact_rows) > most:
            self.facts += len(self.fact_rows)
            self.fact_rows.sort(key=itemgetter(4, 5))  # neighbours in the index
            insert_rows(self.connection, facts, FACT, self.fact_rows)
            self.fact_rows = []
        if len(self.rest_rows) > most:
            self.rests += len(self.rest_rows)
            insert_rows(self.connection, rests, REST, self.rest_rows)
            self.rest_rows = []


def _fact_rows(
    node: str, there: Holding, found: CutShares, edges: FloatArray, sure: Sure
) -> Iterator[tuple[Any, ...]]:
    rows = fact_rows(found, there.held, edges)
    covered_s = certain_s(rows.covered_s, rows.stay, rows.start_s, sure)
    columns = (there.life[rows.stay], rows.start_s, rows.end_s, rows.energy_j,
               covered_s * there.told_share[rows.stay], rows.filled_j, rows.idle_j)
    source = str(Source.SERIES)
    for row in zip(*(each.tolist() for each in columns), strict=True):
        yield ("", node, source, True, *row)


def _parts_of(connection: Connection, cluster: str, nodes: set[str]) -> dict[str, list[str]]:
    """The entities that are parts of these nodes."""
    table = series_table.c
    found: dict[str, list[str]] = {}
    for entity in connection.scalars(select(table.entity).where(
            table.cluster == cluster, table.entity.like("%/%")).distinct()):
        if node_of(entity) in nodes:
            found.setdefault(node_of(entity), []).append(entity)
    return {node: sorted(parts) for node, parts in found.items()}


def _runs(days: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Days as runs of neighbours, first and last, no longer than memory should hold."""
    first = last = None
    for day in sorted(days):
        if first is not None and last is not None and day == last + 1 < first + DAYS_READ:
            last = day
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = day
    if first is not None and last is not None:
        yield first, last
