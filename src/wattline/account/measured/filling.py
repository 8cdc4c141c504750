"""Gaps filled by what the job itself drew on that node, in the mean of the time that was measured.

Other fillings are of a node's power, before it is divided; this one is of a job's own share. It
adds to the rows that are there, in proportion: at which time of a gap it was drawn, nobody knows.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, select

from wattline.account.measured.bulk import among, chunks, update_rows
from wattline.account.measured.records import Source
from wattline.account.measured.tables import facts, lives


def fill_by_mean(connection: Connection, life_ids: Collection[int]) -> None:
    """Bring these lives' joules of each node that was measured up to all of their time there."""
    for some in chunks(life_ids):
        held = {row.id: _until_s(row) - row.start_s for row in connection.execute(
            select(lives.c.id, lives.c.start_s, lives.c.end_s, lives.c.seen_s)
            .where(among(lives.c.id, some)))}
        stays: dict[tuple[int, str], list[Any]] = {}
        for row in connection.execute(
                select(facts.c.id, facts.c.life_id, facts.c.node, facts.c.energy_j,
                       facts.c.filled_j, facts.c.covered_s)
                .where(among(facts.c.life_id, some), facts.c.source == str(Source.SERIES),
                       facts.c.step == "")
                .order_by(facts.c.life_id, facts.c.node, facts.c.start_s)):
            stays.setdefault((row.life_id, row.node), []).append(row)
        filled = []
        for (life, _), rows in stays.items():
            covered_s = sum(row.covered_s for row in rows)
            part = max(0.0, held[life] / covered_s - 1) if covered_s > 0 else 0.0
            for row in rows:
                own_j = row.energy_j - row.filled_j  # an earlier fill is made anew
                filled.append((own_j * (1 + part), own_j * part, row.id))
        update_rows(connection, facts, ("energy_j", "filled_j"), filled)


def _until_s(row: Any) -> float:
    return float(next(each for each in (row.end_s, row.seen_s, row.start_s) if each is not None))
