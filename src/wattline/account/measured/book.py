"""The measured ledger in a store: what importers found goes in here, whole or not at all.

Nothing is counted twice: a record that is there already is merged with what it says, so that the
same files in any order, in pieces, or again after a crash leave the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Integer, func, select

from wattline.account import schema
from wattline.account.measured.attributing import settle as settle_series
from wattline.account.measured.records import Found, LifeKey
from wattline.account.measured.series_store import enter_series
from wattline.account.measured.settling import chunks, settle
from wattline.account.measured.tables import facts, lives, steps
from wattline.account.measured.told import enter_lives, enter_steps
from wattline.account.measured.touched import Touched
from wattline.account.store import Store


@dataclass(frozen=True)
class Entered:
    """What the ledger has of the jobs of a file, once it is entered."""

    jobs: int = 0
    lives: int = 0
    new: int = 0
    changed: int = 0
    steps: int = 0
    waiting_steps: int = 0
    """Steps of jobs that nobody has told of yet."""
    rows: int = 0
    """Rows with joules."""
    energy_j: float = 0.0
    covered_s: float = 0.0
    """Node-seconds of which the joules are known."""
    node_s: float = 0.0
    without_joules: int = 0
    """Lives of which no source knows the joules."""
    disagreeing: int = 0
    """Lives told twice with another end or other joules: the later end and more joules count."""
    running: int = 0


class MeasuredLedger:
    """Measured jobs in a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        schema.migrate(store)

    def enter(self, found: Found) -> Entered:
        """Enter what was found, all of it or nothing; a writer at the same time is waited for."""
        with self.store.session() as session:
            connection = session.connection()
            schema.lock(connection)
            told = enter_lives(connection, found.lives)
            seen = enter_steps(connection, found.steps)
            metered = enter_series(connection, found.series)
            touched = settle(connection, told.touched | seen.touched)
            settle_series(connection, metered.touched | Touched(lives=touched))
            return Entered(
                new=told.new, changed=told.changed, disagreeing=told.disagreeing,
                steps=len(found.steps), waiting_steps=_waiting(connection, found),
                **_known(connection, {life.key for life in found.lives}))

    def known(self, found: Found) -> Entered:
        """What the ledger has of these lives and steps, each counted once."""
        with self.store.session() as session:
            connection = session.connection()
            return Entered(steps=len(found.steps), waiting_steps=_waiting(connection, found),
                           **_known(connection, {life.key for life in found.lives}))

    def is_empty(self) -> bool:
        """Whether nobody has entered anything measured."""
        with self.store.session() as session:
            return session.execute(select(lives.c.id).limit(1)).first() is None


def _waiting(connection: Connection, found: Found) -> int:
    """How many of a file's steps began before every life of their job."""
    waiting = 0
    for cluster, labels in chunks({(step.cluster, step.label) for step in found.steps}):
        first = select(lives.c.label, func.min(lives.c.start_s).label("start_s")).where(
            lives.c.cluster == cluster, lives.c.label.in_(labels)).group_by(
            lives.c.label).subquery()
        query = select(func.count()).select_from(
            steps.outerjoin(first, steps.c.label == first.c.label)).where(
            steps.c.cluster == cluster, steps.c.label.in_(labels),
            (first.c.start_s.is_(None)) | (steps.c.start_s < first.c.start_s))
        waiting += int(connection.execute(query).scalar() or 0)
    return waiting


def _known(connection: Connection, keys: set[LifeKey]) -> dict[str, Any]:
    """What the ledger has of these lives."""
    found: dict[str, Any] = {"jobs": len({(key.cluster, key.label) for key in keys}),
                             "lives": len(keys)}
    rows = without = running = 0
    energy_j = covered_s = node_s = 0.0
    until_s = func.coalesce(lives.c.end_s, lives.c.seen_s, lives.c.start_s)
    for cluster, labels in chunks({(key.cluster, key.label) for key in keys}):
        query = select(
            lives.c.label, lives.c.start_s, lives.c.energy_j, lives.c.coverage, lives.c.nodes,
            until_s, lives.c.end_s.is_(None).cast(Integer), func.count(facts.c.id),
        ).outerjoin(facts, facts.c.life_id == lives.c.id).where(
            lives.c.cluster == cluster, lives.c.label.in_(labels)).group_by(
            lives.c.id, lives.c.label, lives.c.start_s, lives.c.energy_j, lives.c.coverage,
            lives.c.nodes, lives.c.end_s, lives.c.seen_s)
        for label, start_s, joules, coverage, nodes, end_s, runs, count in _listed(
                connection.execute(query)):
            if LifeKey(cluster, label, int(start_s)) not in keys:
                continue
            whole_s = max(1, nodes) * max(0.0, float(end_s) - float(start_s))
            rows += count
            energy_j += joules or 0.0
            without += joules is None
            running += runs
            node_s += whole_s
            covered_s += whole_s * (coverage or 0.0)
    return found | {"rows": rows, "energy_j": energy_j, "covered_s": covered_s, "node_s": node_s,
                    "without_joules": without, "running": running}


def _listed(rows: Iterable[Any]) -> list[Any]:
    """In a fixed order, so that sums are the same to the last bit."""
    return sorted(rows, key=lambda row: (row[0], row[1]))
