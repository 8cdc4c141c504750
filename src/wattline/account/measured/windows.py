"""Which days of which nodes must be computed anew, from what was touched."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Connection, func, select

from wattline.account.measured.bulk import AT_ONCE, among, chunks
from wattline.account.measured.entities import is_above, node_of
from wattline.account.measured.holdings import hosts_of
from wattline.account.measured.records import Source
from wattline.account.measured.series_store import DAY_S
from wattline.account.measured.tables import facts, lives
from wattline.account.measured.tables import series as series_table
from wattline.account.measured.touched import Touched

NodeDays = dict[str, set[int]]
Spans = dict[str, tuple[int, int]]


def touched_days(connection: Connection, touched: Touched) -> dict[str, NodeDays]:
    """By cluster and node. A day touches the one before and after: a gap may span midnight."""
    found: dict[str, NodeDays] = {}
    for (cluster, entity), days in touched.days.items():
        node = entity if is_above(entity) else node_of(entity)
        mine = found.setdefault(cluster, {}).setdefault(node, set())
        mine.update(near for day in days for near in (day - 1, day, day + 1))
    told: dict[str, Spans] = {}
    for cluster, node_list, first, last in _touched_stays(connection, touched.lives):
        if cluster not in told:
            told[cluster] = _metered_days(connection, cluster)
        _add_stay(found.setdefault(cluster, {}), told[cluster], node_list, first, last)
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


def _add_stay(
    found: NodeDays, metered: Spans, node_list: str, first: int, last: int
) -> None:
    for host in hosts_of(node_list):
        if host in metered:
            begin, end = metered[host]
            found.setdefault(host, set()).update(range(max(first, begin), min(last, end) + 1))


def _touched_stays(
    connection: Connection, ids: Collection[int]
) -> set[tuple[str, str, int, int]]:
    """Cluster, nodes, first and last day of these lives; most share them with others."""
    table = lives.c
    until_s = func.coalesce(table.end_s, table.seen_s, table.start_s)
    found: set[tuple[str, str, int, int]] = set()
    for some in chunks(ids):
        found.update(
            (cluster, node_list, start_s // DAY_S, int(end_s) // DAY_S)
            for cluster, node_list, start_s, end_s in connection.execute(
                select(table.cluster, table.node_list, table.start_s, until_s)
                .where(among(table.id, some))).all())
    return found


def _metered_days(connection: Connection, cluster: str) -> Spans:
    """First and last day, and one around, of each node that has a series."""
    table = series_table.c
    found: Spans = {}
    for entity, first, last in connection.execute(
            select(table.entity, func.min(table.day), func.max(table.day))
            .where(table.cluster == cluster).group_by(table.entity)):
        if not is_above(entity):
            before = found.get(node_of(entity), (first - 1, last + 1))
            found[node_of(entity)] = min(first - 1, before[0]), max(last + 1, before[1])
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
