"""For how much of the time in which nodes were metered a meter above them was metered too."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import ColumnElement, Connection, and_, func, not_, or_, select, true

from wattline.account.measured.entities import ABOVE
from wattline.account.measured.questions import Conditions, hour_of, within
from wattline.account.measured.tables import rests
from wattline.account.store import Store

NEARLY = 0.99
"""A meter that saw less of the time than this cannot be held against what lies beneath it."""


def seen_shares(store: Store, asked: Conditions, meters: Iterable[str]) -> dict[str, float]:
    """By meter, the share of the nodes' metered time that it saw; without metered nodes, none."""
    found: dict[str, float] = {}
    above = or_(*(rests.c.entity.startswith(f"{kind}:") for kind in ABOVE))
    with store.session() as session:
        connection = session.connection()
        nodes = _by_hour(connection, asked, not_(above))
        whole_s = sum(nodes.values())
        for meter in meters if whole_s else ():
            own = _by_hour(connection, asked, rests.c.entity == meter)
            found[meter] = sum(min(seen_s, own.get(hour, 0.0))
                               for hour, seen_s in nodes.items()) / whole_s
    return found


def said(shares: dict[str, float]) -> list[str]:
    """A line per meter that saw too little."""
    return [f"{meter} has data for {share:.1%} of the time in which nodes' meters have: what it "
            "saw cannot be held against them, and there is no residual"
            for meter, share in shares.items() if share < NEARLY]


def _by_hour(
    connection: Connection, asked: Conditions, chosen: ColumnElement[bool]
) -> dict[int, float]:
    """Seconds of each hour that were metered, by the one that has most."""
    hour = hour_of(connection, rests.c.start_s)
    clusters = rests.c.cluster.in_(asked.clusters) if asked.clusters else true()
    each = select(hour.label("hour"), func.sum(rests.c.covered_s).label("covered_s")).where(
        and_(chosen, clusters, within(rests.c.start_s, rests.c.end_s, asked))).group_by(
        rests.c.cluster, rests.c.entity, hour).subquery()
    return {int(at): float(seen_s) for at, seen_s in connection.execute(
        select(each.c.hour, func.max(each.c.covered_s)).group_by(each.c.hour))}
