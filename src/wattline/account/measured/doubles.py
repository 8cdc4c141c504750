"""Jobs that look as if they were told twice, as two: in two clusters, in two zones, by two numbers.

What is surely one life is merged when it is entered (`told`); here is what only looks like one. It
is said, because a bill has it twice, and `wattline account forget` takes one of them back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, Row, or_, select

from wattline.account.measured.records import Life
from wattline.account.measured.settling import chunks
from wattline.account.measured.tables import lives

QUARTER_S = 900
FARTHEST_S = 26 * 3600
"""Zones differ by whole quarters of an hour, and by no more than that."""
ByLabel = Mapping[str, list[Life]]
_COLUMNS = (lives.c.cluster, lives.c.label, lives.c.start_s, lives.c.end_s, lives.c.submit_s,
            lives.c.user, lives.c.node_list)


def told_twice(connection: Connection, found: Collection[Life]) -> Iterator[str]:
    """What to say of the lives of a file, once they are entered."""
    by_label: dict[str, list[Life]] = {}
    for life in found:
        by_label.setdefault(life.key.label, []).append(life)
    told = {(life.key.cluster, life.key.label, life.key.start_s) for life in found}
    elsewhere: dict[str, int] = {}
    shifted = 0
    for row in _rows(connection, by_label):
        mine = [life for life in by_label[row.label] if _has_same_owner(row, life)]
        if any(_is_elsewhere(row, life) for life in mine):
            elsewhere[row.cluster] = elsewhere.get(row.cluster, 0) + 1
        # Lives of one file are in one zone, and a job that was requeued has several.
        if (row.cluster, row.label, row.start_s) not in told:
            shifted += any(_is_shifted(row, life) for life in mine)
    for cluster, number in sorted(elsewhere.items()):
        yield (f"jobs that are in cluster '{cluster}' too, with the same number, start, user and "
               f"nodes: {number}; they count twice, and `wattline account forget --cluster "
               f"'{cluster}'` takes those back")
    if shifted:
        yield (f"jobs that were there already with another start, off by quarters of an hour: "
               f"{shifted}; if that is a wrong --zone they count twice, and `wattline account "
               "forget` takes them back")
    other = _by_other_number(connection, found)
    if other:
        yield (f"jobs that are there by their other number too, like {other[0]}: {len(other)}; "
               "they count twice, and `wattline account forget -j NUMBER` takes one back")


def _rows(connection: Connection, by_label: ByLabel) -> Iterator[Any]:
    """What the ledger has by these labels, in any cluster."""
    for cluster in list(connection.scalars(select(lives.c.cluster).distinct())):
        for _, labels in chunks({(cluster, label) for label in by_label}):
            yield from connection.execute(select(*_COLUMNS).where(
                lives.c.cluster == cluster, lives.c.label.in_(labels)))


def _has_same_owner(row: Row[Any], life: Life) -> bool:
    return bool(row.user == life.user and row.node_list == life.node_list)


def _is_elsewhere(row: Row[Any], life: Life) -> bool:
    return bool(row.cluster != life.key.cluster and row.start_s == life.key.start_s)


def _is_shifted(row: Row[Any], life: Life) -> bool:
    """Whether all times differ by what two zones may."""
    by_s = row.start_s - life.key.start_s
    if row.cluster != life.key.cluster or not by_s or by_s % QUARTER_S or abs(by_s) > FARTHEST_S:
        return False
    known_submit = row.submit_s is not None and life.submit_s == life.submit_s
    return row.end_s is not None and row.end_s - life.end_s == by_s and (
        not known_submit or row.submit_s - life.submit_s == by_s)


def _by_other_number(connection: Connection, found: Collection[Life]) -> list[str]:
    """Tasks and parts (`300_1`, `12+0`) that are there by their raw numbers as well."""
    told = {(life.key.cluster, life.job_id, life.key.start_s) for life in found}
    table = lives.c
    parts = connection.execute(select(
        table.cluster, table.job_id, table.start_s, table.label).where(
        table.job_id.is_not(None),
        or_(table.label.contains("_", autoescape=True), table.label.contains("+"))))
    names = {tuple(key): label for *key, label in parts if tuple(key) in told}
    both: list[str] = []
    for cluster, labels in chunks({(cluster, str(number)) for cluster, number, _ in names}):
        rows = connection.execute(select(table.label, table.start_s).where(
            table.cluster == cluster, table.label.in_(labels)))
        both += [f"{names[cluster, int(label), start_s]} and {label}" for label, start_s in rows
                 if (cluster, int(label), start_s) in names]
    return sorted(both)
