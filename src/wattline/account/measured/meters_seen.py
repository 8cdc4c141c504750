"""What meters saw in a period: of nodes, of what is in them, and of what is above them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, not_, select, true

from wattline.account.measured.entities import is_above
from wattline.account.measured.questions import (
    UNTIL_S,
    Conditions,
    Number,
    inside_period,
    part_of,
    within,
)
from wattline.account.measured.tables import lives, rests
from wattline.account.store import Store

SEEN = ("metered_j", "idle_j", "unattributed_j", "filled_j", "covered_s")


@dataclass(frozen=True)
class Metered:
    """What meters saw in a period."""

    metered_j: float
    idle_j: float
    unattributed_j: float
    filled_j: float
    covered_s: float
    """Of all of them together."""


def metered_together(
    seen: Mapping[str, Metered], meters: Sequence[str] = ()
) -> tuple[Metered | None, Metered | None]:
    """What the nodes' meters saw together, and what those called `meters` did."""
    nodes = [seen[name] for name in nodes_metered(seen) if name not in meters]
    return _added(nodes), _added([seen[name] for name in meters if name in seen])


def nodes_metered(seen: Iterable[str]) -> list[str]:
    """The nodes: a GPU's meter lies within its node's, and nodes lie beneath a feed's."""
    return [name for name in seen if "/" not in name and not is_above(name)]


def metered_by(store: Store, asked: Conditions) -> dict[str, Metered]:
    """What each meter saw, by the name of what it is of, in order."""
    inside = and_(true(), *inside_period(rests, asked))
    with store.session() as session:
        # Most rows lie in the period as a whole, and need no share.
        whole = session.execute(_seen(asked, None, inside)).all()
        across = session.execute(_seen(asked, part_of(rests.c.start_s, rests.c.end_s, asked), and_(
            within(rests.c.start_s, rests.c.end_s, asked), not_(inside)))).all()
    found: dict[str, list[float]] = {}
    for _, name, *figures in (*whole, *across):
        before = found.get(str(name), [0.0] * len(SEEN))
        found[str(name)] = [old + float(new) for old, new in zip(before, figures, strict=True)]
    return {name: Metered(*figures) for name, figures in sorted(found.items())}


def last_metered_s(store: Store, clusters: Sequence[str] = ()) -> float | None:
    """When the last joules were measured, by a meter or of a job; None in an empty ledger."""
    ends = []
    with store.session() as session:
        for table, end_s in ((rests, rests.c.end_s), (lives, UNTIL_S)):
            condition = table.c.cluster.in_(clusters) if clusters else true()
            ends.append(session.scalar(select(func.max(end_s)).where(condition)))
    return max((float(end_s) for end_s in ends if end_s is not None), default=None)


def _seen(asked: Conditions, part: Number | None, condition: ColumnElement[bool]) -> Select[Any]:
    clusters = rests.c.cluster.in_(asked.clusters) if asked.clusters else true()
    # By cluster first, as the table's own index has them: then nothing needs to be sorted.
    names = rests.c.cluster, rests.c.entity
    figures = (rests.c[name] if part is None else rests.c[name] * part for name in SEEN)
    return select(*names, *(func.sum(figure) for figure in figures)).where(
        condition, clusters).group_by(*names)


def _added(found: Sequence[Metered]) -> Metered | None:
    if not found:
        return None
    return Metered(*(sum(getattr(each, name) for each in found)
                     for name in SEEN))
