"""Jobs that look as if they were told twice, as two: in two clusters, in two zones, by two numbers.

What is surely one life is merged when it is entered (`told`). A dump that comes again under another
zone or cluster is refused, or takes the place of what is there: a job is known by its cluster, its
number and its submission, and here all times of most jobs are off by the same quarters of an hour.
What only looks like one life is said, because a bill has it twice, and `wattline account forget`
takes one of them back.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, or_, select

from wattline.account.measured.bulk import chunks as numbers
from wattline.account.measured.forgetting import Unwanted, forget_jobs
from wattline.account.measured.records import Life
from wattline.account.measured.settling import chunks
from wattline.account.measured.tables import lives
from wattline.model.errors import InputError
from wattline.model.units import counted, format_duration

QUARTER_S = 900
FARTHEST_S = 26 * 3600
"""Zones differ by whole quarters of an hour, and by no more than that."""
ByLabel = Mapping[str, list[Life]]
_COLUMNS = (lives.c.id, lives.c.cluster, lives.c.label, lives.c.start_s, lives.c.end_s,
            lives.c.submit_s, lives.c.user, lives.c.node_list)


@dataclass
class Entered:
    """Jobs or meters of a file that a cluster of the ledger has already, all off by one time."""

    what: str
    """The word for one of them."""
    cluster: str
    by_s: int
    own: set[str] = field(default_factory=set)
    """Their clusters by the file."""
    names: set[str] = field(default_factory=set)
    ids: set[int] = field(default_factory=set)

    def said(self) -> str:
        """Say how many these are, in which cluster if not in their own, and how much later."""
        where = f"in cluster '{self.cluster}'" if self.own != {self.cluster} else ""
        shift = f"{format_duration(abs(self.by_s))} {'later' if self.by_s > 0 else 'earlier'}" \
            if self.by_s else ""
        place = ", ".join(filter(None, (where, shift)))
        return f"{counted(len(self.names), self.what)} {place}"


def refused(what: str, said: str) -> InputError:
    """Return the error for a file whose records are in the ledger already."""
    return InputError(
        f"{what}: {said}; was it entered with another --zone or --cluster? Nothing of it is "
        "entered, as a bill would have it twice: take the same again, or give --replace to put "
        "this in the place of what is there")


def refuse_again(connection: Connection, found: Collection[Life], replace: bool) -> list[str]:
    """Refuse lives that are there already under another zone or cluster, or let them replace those.

    Answers what was replaced.
    """
    again = _entered_before(connection, found)
    if not again:
        return []
    said = " and ".join(each.said() for each in again)
    if not replace:
        raise refused("jobs that the ledger has already, with the same number, user, nodes, wait "
                      "and run time", said)
    for each in again:
        for some in numbers(each.ids):
            forget_jobs(connection, Unwanted(ids=tuple(some)))
    return [f"replaced, as --replace says: {said}"]


def _entered_before(connection: Connection, found: Collection[Life]) -> list[Entered]:
    """By cluster and shift, where it is so of at least half of the jobs that both have.

    In summer zones may be further apart than in winter: then there are two shifts.
    """
    by_label: dict[str, list[Life]] = {}
    for life in found:
        by_label.setdefault(life.key.label, []).append(life)
    rows = list(_rows(connection, by_label))
    known = {(row.cluster, row.label, row.start_s): row.submit_s for row in rows}
    common: dict[str, set[str]] = {}
    groups: dict[tuple[str, int], Entered] = {}
    for row in rows:
        for life in by_label[row.label]:
            key = life.key
            submit_s = known.get((key.cluster, key.label, key.start_s), math.inf)
            if submit_s is None or submit_s == life.submit_s or math.isnan(life.submit_s):
                continue  # it is there as it is told here
            common.setdefault(row.cluster, set()).add(row.label)
            by_s = _shift_s(row, life)
            if by_s is not None:
                group = groups.setdefault((row.cluster, by_s), Entered("job", row.cluster, by_s))
                group.own.add(key.cluster)
                group.names.add(row.label)
                group.ids.add(int(row.id))
    off = {cluster: set[str]() for cluster in common}
    for group in groups.values():
        off[group.cluster] |= group.names
    return [group for (cluster, _), group in sorted(groups.items())
            if 2 * len(off[cluster]) >= len(common[cluster])]


def _shift_s(row: Row[Any], life: Life) -> int | None:
    """By how much the ledger's life is later, where it is one that is told again; else None."""
    by_s = int(row.start_s - life.key.start_s)
    if not _has_same_owner(row, life) or by_s % QUARTER_S or abs(by_s) > FARTHEST_S:
        return None
    if row.cluster == life.key.cluster and not by_s:
        return None
    if row.submit_s is None or row.submit_s - life.submit_s != by_s:
        return None  # by its submission it is known, and without one it is not certain
    has_ends = row.end_s is not None and life.end_s == life.end_s
    return None if has_ends and row.end_s - life.end_s != by_s else by_s


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
