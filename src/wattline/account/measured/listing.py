"""What the measured ledger has row by row: steps and facts of lives, and its clusters."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, select

from wattline.account.measured.questions import Asked, lives_asked
from wattline.account.measured.tables import facts, lives, steps
from wattline.account.store import Store


def step_rows(store: Store, asked: Asked) -> dict[int, list[dict[str, Any]]]:
    """The steps with joules, by the number of their life."""
    own = and_(*(steps.c[name] == lives.c[name] for name in ("cluster", "label")),
               steps.c.step == facts.c.step, steps.c.start_s == facts.c.start_s)
    query = select(facts, steps.c.state).join(lives, facts.c.life_id == lives.c.id).outerjoin(
        steps, own).where(facts.c.step != "", lives_asked(asked)).order_by(
        facts.c.start_s, facts.c.step)
    found: dict[int, list[dict[str, Any]]] = {}
    with store.session() as session:
        for row in session.execute(query).mappings():
            found.setdefault(int(row["life_id"]), []).append(dict(row))
    return found


def clusters_of(store: Store) -> list[str]:
    """The clusters of which there are jobs, in order."""
    with store.session() as session:
        return sorted(session.scalars(select(lives.c.cluster).distinct()))


def facts_of(store: Store, life_id: int) -> list[dict[str, Any]]:
    """The facts of a life, in order of time."""
    query = select(facts).where(facts.c.life_id == life_id).order_by(
        facts.c.start_s, facts.c.step, facts.c.node)
    with store.session() as session:
        return [dict(row) for row in session.execute(query).mappings()]
