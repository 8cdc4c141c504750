"""Which days of which nodes must be computed anew, from what was touched."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Connection, Row, func, select

from wattline.account.measured.bulk import AT_ONCE, among, chunks
from wattline.account.measured.entities import is_above, node_of
from wattline.account.measured.holdings import hosts_of
from wattline.account.measured.records import Source
from wattline.account.measured.series_store import DAY_S
from wattline.account.measured.tables import facts, lives
from wattline.account.measured.tables import series as series_table
from wattline.account.measured.touched import Touched

NodeDays = dict[str, set[int]]


def touched_days(connection: Connection, touched: Touched) -> dict[str, NodeDays]:
    """By cluster and node. A day touches the one before and after: a gap may span midnight."""
    found: dict[str, NodeDays] = {}
    for (cluster, entity), days in touched.days.items():
        node = entity if is_above(entity) else node_of(entity)
        mine = found.setdefault(cluster, {}).setdefault(node, set())
        mine.update(near for day in days for near in (day - 1, day, day + 1))
    told: dict[str, NodeDays] = {}
    for row in _touched_lives(connection, touched.lives):
        metered = told.get(row.cluster)
        if metered is None:
            metered = told[row.cluster] = _metered_days(connection, row.cluster)
        _add_life(found.setdefault(row.cluster, {}), metered, row)
    for cluster, node, first_s, last_s in _stale(connection, touched.lives):
        found.setdefault(cluster, {}).setdefault(node, set()).update(
            range(int(first_s) // DAY_S, int(last_s) // DAY_S + 1))
    return {cluster: nodes for cluster, nodes in found.items() if nodes}


def touched_jobs(connection: Connection, jobs: Collection[tuple[str, str]]) -> Touched:
    """All lives of these jobs, each told by its cluster and label."""
    labels: dict[str, list[str]] = {}
    for cluster, label in sorted(jobs):
        labels.setdefault(cluster, []).append(label)
    found: set[int] = set()
    for cluster, mine in labels.items():
        for begin in range(0, len(mine), AT_ONCE):
            found.update(connection.scalars(select(lives.c.id).where(
                lives.c.cluster == cluster, lives.c.label.in_(mine[begin : begin + AT_ONCE]))))
    return Touched(lives=frozenset(found))


def _add_life(found: NodeDays, metered: NodeDays, row: Row[Any]) -> None:
    first = row.start_s // DAY_S
    end_s = next(each for each in (row.end_s, row.seen_s, row.start_s) if each is not None)
    for host in hosts_of(row.node_list):
        if host in metered:
            there = metered[host]
            found.setdefault(host, set()).update(
                range(max(first, min(there)), min(int(end_s) // DAY_S, max(there)) + 1))


def _touched_lives(connection: Connection, ids: Collection[int]) -> Iterator[Any]:
    table = lives.c
    for some in chunks(ids):
        yield from connection.execute(
            select(table.cluster, table.start_s, table.end_s, table.seen_s, table.node_list)
            .where(among(table.id, some)))


def _metered_days(connection: Connection, cluster: str) -> NodeDays:
    """First and last day, and one around, of each node that has a series."""
    table = series_table.c
    found: NodeDays = {}
    for entity, first, last in connection.execute(
            select(table.entity, func.min(table.day), func.max(table.day))
            .where(table.cluster == cluster).group_by(table.entity)):
        if not is_above(entity):
            found.setdefault(node_of(entity), set()).update((first - 1, last + 1))
    return found


def _stale(connection: Connection, ids: Collection[int]) -> Iterator[Any]:
    """Where facts of these lives stand now: they may have gone from there."""
    for some in chunks(ids):
        yield from connection.execute(
            select(lives.c.cluster, facts.c.node, func.min(facts.c.start_s),
                   func.max(facts.c.start_s))
            .join(lives, lives.c.id == facts.c.life_id)
            .where(among(facts.c.life_id, some), facts.c.source == str(Source.SERIES))
            .group_by(lives.c.cluster, facts.c.node))
