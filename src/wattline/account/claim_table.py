"""Claims in the SQL store: imported as a whole or not at all, corrected by every run."""

from __future__ import annotations

import math
from collections.abc import Iterable

from sqlalchemy import Column, Float, Integer, Table, UniqueConstraint, delete, select

from wattline.account.store import Store, metadata, name_type
from wattline.physics.claims import Claim, ClaimBook, Measured, Setting, Verification

NO_CAP_W = 0.0
"""Stands in the table for "no cap": databases differ in what they think of infinity."""

table = Table(
    "claim", metadata,
    Column("id", Integer, primary_key=True),
    Column("application", name_type(), nullable=False),
    Column("node_class", name_type(), nullable=False),
    Column("threads", name_type(64), nullable=False),
    Column("cap_w", Float(53), nullable=False),
    Column("nodes", Integer, nullable=False),
    Column("time_s", Float(53), nullable=False),
    Column("energy_j", Float(53), nullable=False),
    Column("runs", Integer, nullable=False),
    Column("time_error", Float(53)),
    Column("energy_error", Float(53)),
    Column("predictions", Integer, nullable=False),
    UniqueConstraint("application", "node_class", "threads", "cap_w", "nodes"),
)


class ClaimTable:
    """The claims of a site."""

    def __init__(self, store: Store) -> None:
        self.store = store
        store.create(table)

    def load(self) -> ClaimBook:
        with self.store.session() as session:
            return ClaimBook(_claim(row) for row in
                             session.execute(select(table).order_by(table.c.id)))

    def save(self, claims: Iterable[Claim]) -> int:
        """Put claims in, each replacing what was claimed for the same thing; all or none."""
        book = ClaimBook(claims)
        with self.store.session() as session:
            for claim in book:
                row = _row(claim)
                session.execute(delete(table).where(
                    *(table.c[name] == row[name]
                      for name in ("application", "node_class", "threads", "cap_w", "nodes"))
                ))
            if len(book):
                session.execute(table.insert(), [_row(claim) for claim in book])
        return len(book)

    def verified(self, book: ClaimBook) -> set[tuple[str, str, Setting]]:
        """Keys of claims that runs have corrected and that a claim of the book would undo."""
        runs = {claim.key: claim.runs for claim in book}
        return {claim.key for claim in self.load()
                if claim.predictions and claim.runs > runs.get(claim.key, claim.runs)}

    def record(self, runs: Iterable[Measured]) -> list[Verification]:
        """Verify the claims by runs and keep the corrected ones."""
        corrected, found = self.load().record(runs)
        touched = {v.corrected.key for v in found}
        self.save(claim for claim in corrected if claim.key in touched)
        return found


def _row(claim: Claim) -> dict[str, object]:
    setting = claim.setting
    return {
        "application": claim.application, "node_class": claim.node_class,
        "threads": setting.threads,
        "cap_w": NO_CAP_W if math.isinf(setting.cap_w) else setting.cap_w,
        "nodes": setting.nodes, "time_s": claim.time_s, "energy_j": claim.energy_j,
        "runs": claim.runs, "predictions": claim.predictions,
        "time_error": None if math.isnan(claim.time_error) else claim.time_error,
        "energy_error": None if math.isnan(claim.energy_error) else claim.energy_error,
    }


def _claim(row: object) -> Claim:
    found = row._mapping  # type: ignore[attr-defined]
    cap_w = float(found["cap_w"])
    setting = Setting(found["threads"], math.inf if cap_w == NO_CAP_W else cap_w, found["nodes"])
    return Claim(
        found["application"], found["node_class"], setting, found["time_s"], found["energy_j"],
        found["runs"], _number(found["time_error"]), _number(found["energy_error"]),
        found["predictions"],
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
