"""Joules of a period by name, quickly: most lives lie within it as a whole.

Of these the settled figures are added up; only lives that cross an end of the period, or run, are
worked out from their facts, each cut in proportion to its time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    func,
    not_,
    or_,
    select,
)

from wattline.account.measured.bulk import among, chunks
from wattline.account.measured.tables import facts, lives

FIGURES = ("energy_j", "idle_j", "covered_s")


def inside(start_s: float, end_s: float) -> ColumnElement[bool]:
    """Lives that lie in the period as a whole."""
    return and_(lives.c.start_s >= start_s, lives.c.end_s.is_not(None), lives.c.end_s <= end_s)


def sums_inside(start_s: float, end_s: float) -> list[ColumnElement[Any]]:
    """Joules, idle joules and node-seconds covered, of lives that lie in the period as a whole."""
    within = inside(start_s, end_s)
    return [func.sum(case((within, func.coalesce(lives.c[figure], 0.0)), else_=0.0))
            for figure in FIGURES]


def sums_across(
    connection: Connection, name: ColumnElement[Any], start_s: float, end_s: float,
    condition: ColumnElement[bool],
) -> dict[Any, tuple[float, float, float]]:
    """The same by a column of the lives, of those that cross an end of the period, or run."""
    found: dict[Any, tuple[float, float, float]] = {}
    crossing = select(lives.c.id, name).where(
        lives.c.start_s < end_s, or_(lives.c.end_s.is_(None), lives.c.end_s > start_s),
        not_(inside(start_s, end_s)), condition)
    names = {int(row[0]): row[1] for row in connection.execute(crossing)}
    for some in chunks(names):  # asked for by number: a database would begin with all facts
        for life, *figures in connection.execute(_cut(some, start_s, end_s)):
            if life in names:
                _add(found, names[life], figures)
    return found


def _add(
    found: dict[Any, tuple[float, float, float]], key: Any, figures: Sequence[float]
) -> None:
    before = found.get(key, (0.0, 0.0, 0.0))
    energy_j, idle_j, covered_s = (
        one + float(more) for one, more in zip(before, figures, strict=True))
    found[key] = energy_j, idle_j, covered_s


def _cut(some: list[int], start_s: float, end_s: float) -> Select[Any]:
    """What counts of some lives in the period, by life."""
    part = _part(start_s, end_s)
    return select(facts.c.life_id, *(func.sum(facts.c[figure] * part) for figure in FIGURES)).where(
        among(facts.c.life_id, some), facts.c.counts, facts.c.start_s < end_s,
        facts.c.end_s > start_s).group_by(facts.c.life_id)


def _part(start_s: float, end_s: float) -> ColumnElement[Any]:
    """The share of a fact that lies in the period."""
    first = case((facts.c.start_s < start_s, start_s), else_=facts.c.start_s)
    last = case((facts.c.end_s > end_s, end_s), else_=facts.c.end_s)
    return case((facts.c.end_s > facts.c.start_s,
                 (last - first) / (facts.c.end_s - facts.c.start_s)), else_=1.0)
