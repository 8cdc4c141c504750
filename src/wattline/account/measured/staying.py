"""Stays in the store: merged so that neither order nor repetition matters, and read by life."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, select, update

from wattline.account.measured.records import Stay
from wattline.account.measured.settling import Job, chunks
from wattline.account.measured.tables import lives, stays

Times = tuple[float, float, float]
"""Begin and end, NaN where nobody marked it; and when Slurm says that it was given back."""
TIMES = ("begin_s", "end_s", "told_s")
WHOLE_SECONDS_S = 1.0
"""Slurm's starts are whole seconds: a mark may seem to be so much later."""
Place = tuple[int, str]
"""The start of a life of a job, and the node."""


def enter_stays(connection: Connection, found: Iterable[Stay]) -> set[Job]:
    """Merge what was marked; the jobs of which something is new."""
    told: dict[Job, dict[Place, Times]] = {}
    for stay in found:
        mine = told.setdefault((stay.key.cluster, stay.key.label), {})
        place = stay.key.start_s, stay.node
        mine[place] = _merged(mine.get(place), (stay.begin_s, stay.end_s, stay.told_s))
    touched: set[Job] = set()
    for cluster, labels in chunks(told):
        kept = _kept(connection, cluster, labels)
        new: list[dict[str, Any]] = []
        changed: list[dict[str, Any]] = []
        for label in labels:
            for place, times in told[cluster, label].items():
                number, before = kept.get((label, place), (None, None))
                after = _row(_merged(before, times))
                if before is not None and after == _row(before):
                    continue
                touched.add((cluster, label))
                if number is None:
                    new.append({"cluster": cluster, "label": label, "start_s": place[0],
                                "node": place[1], **after})
                else:
                    changed.append({"key": number, **{f"new_{name}": value
                                                      for name, value in after.items()}})
        _write(connection, new, changed)
    return touched


def _write(
    connection: Connection, new: list[dict[str, Any]], changed: list[dict[str, Any]]
) -> None:
    if new:
        connection.execute(stays.insert(), new)
    if changed:
        connection.execute(update(stays).where(stays.c.id == bindparam("key")).values(
            {name: bindparam(f"new_{name}") for name in TIMES}), changed)


def stays_of(connection: Connection, chosen: ColumnElement[bool]) -> dict[tuple[int, str], Times]:
    """The stays of these lives, by the number of the life and the node.

    A job has one life at a time: where a mark says more, a stay ends when the next life begins.
    """
    same = and_(*(stays.c[name] == lives.c[name] for name in ("cluster", "label", "start_s")))
    found = _as_marked(connection, same, chosen)
    later = lives.alias("later")
    query = select(lives.c.id, stays.c.node, func.min(later.c.start_s)).join(stays, same).join(
        later, and_(later.c.cluster == lives.c.cluster, later.c.label == lives.c.label,
                    later.c.start_s > lives.c.start_s,
                    later.c.start_s + WHOLE_SECONDS_S < stays.c.end_s)).where(chosen).group_by(
        lives.c.id, stays.c.node)
    for life, node, next_s in connection.execute(query):
        begin_s, _, told_s = found[int(life), str(node)]
        found[int(life), str(node)] = begin_s, float(next_s), told_s
    return found


def _as_marked(
    connection: Connection, same: ColumnElement[bool], chosen: ColumnElement[bool]
) -> dict[tuple[int, str], Times]:
    query = select(lives.c.id, stays.c.node, *(stays.c[name] for name in TIMES)).join(
        stays, same).where(chosen)
    return {(int(life), str(node)): (_number(begin_s), _number(end_s), _number(told_s))
            for life, node, begin_s, end_s, told_s in connection.execute(query)}


def _kept(
    connection: Connection, cluster: str, labels: list[str]
) -> dict[tuple[str, Place], tuple[int | None, Times | None]]:
    query = select(stays).where(stays.c.cluster == cluster, stays.c.label.in_(labels))
    return {(row.label, (int(row.start_s), row.node)):
            (int(row.id), (_number(row.begin_s), _number(row.end_s), _number(row.told_s)))
            for row in connection.execute(query)}


def _merged(before: Times | None, now: Times) -> Times:
    """The earlier of both, since an epilog may run again; what is known beats what is not."""
    if before is None:
        return now
    return (min(_known(before[0], now[0]), default=math.nan),
            min(_known(before[1], now[1]), default=math.nan),
            min(_known(before[2], now[2]), default=math.nan))


def _known(*values: float) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _row(times: Times) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value
            for name, value in zip(TIMES, times, strict=True)}


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
