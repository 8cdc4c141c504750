"""Contents of a measured ledger, without the numbers that only say what was written first."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from wattline.account.measured.tables import facts, lives, rests, steps
from wattline.account.store import Store


def rows_of(store: Store) -> list[list[tuple[Any, ...]]]:
    """The rows of every table, a life's number told as what it stands for, in a fixed order."""
    with store.session() as session:
        key = [lives.c.cluster, lives.c.label, lives.c.start_s]
        own = [column for column in facts.c if column.name not in ("id", "life_id")]
        queries = (select(*[c for c in lives.c if c.name != "id"]),
                   select(*[c for c in steps.c if c.name != "id"]),
                   select(*key, *own).join(facts, facts.c.life_id == lives.c.id),
                   select(*[c for c in rests.c if c.name != "id"]))
        return [sorted((tuple(row) for row in session.execute(query)), key=str)
                for query in queries]
