"""Claims in the SQL store: imported as a whole or not at all, corrected by every run."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

from sqlalchemy import Column, Float, Integer, Table, UniqueConstraint, delete, inspect, select
from sqlalchemy.orm import Session

from wattline.account import schema
from wattline.account.ledger import jobs
from wattline.account.ledger import runs as ledger_runs
from wattline.account.store import Store, metadata, name_type
from wattline.physics.claims import Claim, ClaimBook, ClaimSetting, ClaimVerification, Measured
from wattline.physics.claims.learning import Ended

NO_CAP_W = 0.0
"""Stands in the table for "no cap": databases differ in what they think of infinity."""

table = Table(
    "application_claim", metadata,
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
    Column("gpu", name_type(64), nullable=False),
    Column("gpus", Integer, nullable=False),
    Column("gpu_cap_w", Float(53), nullable=False),
    UniqueConstraint("application", "node_class", "threads", "cap_w", "nodes", "gpu", "gpus",
                     "gpu_cap_w"),
)
GPU_KEY = ("gpu", "gpus", "gpu_cap_w")
KEY = ("application", "node_class", "threads", "cap_w", "nodes", *GPU_KEY)

counted = Table(
    "application_claim_run", metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", name_type(64), nullable=False, unique=True),
    *(Column(name, table.c[name].type, nullable=False) for name in KEY),
)
"""Runs that claims were verified by, so that none counts twice."""


def ended_jobs(store: Store) -> Iterator[Ended]:
    """The jobs of the ledger's runs; a job is known by the content of its run and its number."""
    with store.session() as session:
        asked = select(ledger_runs.c.digest, jobs).join_from(jobs, ledger_runs)
        there = inspect(session.connection()).has_table(jobs.name)
        for row in session.execute(asked.order_by(jobs.c.id)).all() if there else []:
            yield Ended(f"{row.digest}/{row.job_id}/{row.restart}", row.application,
                        row.node_class, row.nodes, row.end_s - row.start_s, row.energy_j,
                        row.state, row.quality)


class ClaimTable:
    """The claims of a site."""

    def __init__(self, store: Store) -> None:
        self.store = store
        schema.migrate(store)
        store.create(table, counted)

    def load(self) -> ClaimBook:
        with self.store.session() as session:
            return _book(session)

    def save(self, claims: Iterable[Claim]) -> int:
        """Put claims in, each replacing what was claimed for the same thing; all or none."""
        book = ClaimBook(claims)
        with self.store.session() as session:
            _put(session, book)
        return len(book)

    def forget(self, keys: Iterable[tuple[str, str, ClaimSetting]]) -> None:
        """Forget which runs verified these claims: what is claimed no longer rests on them."""
        with self.store.session() as session:
            for application, node_class, setting in keys:
                key = _key(application, node_class, setting)
                session.execute(delete(counted).where(*(counted.c[n] == key[n] for n in KEY)))

    def verified(self, book: ClaimBook) -> set[tuple[str, str, ClaimSetting]]:
        """Keys of claims that runs have corrected and that a claim of the book would undo."""
        runs = {claim.key: claim.runs for claim in book}
        return {claim.key for claim in self.load()
                if claim.predictions and claim.runs > runs.get(claim.key, claim.runs)}

    def record(self, runs: Sequence[Measured]) -> list[ClaimVerification]:
        """Verify the claims by the runs that are new to the store, and keep the corrected ones.

        A run is known by its id, or where it has none by its figures; of runs of one call with the
        same figures each counts.
        """
        digests = _digests(runs)
        with self.store.session() as session:
            known = set(session.scalars(select(counted.c.digest)))
            fresh = {digest: run for digest, run in zip(digests, runs, strict=True)
                     if digest not in known}
            corrected, found = _book(session).record(fresh.values())
            touched = {v.corrected.key for v in found}
            _put(session, [claim for claim in corrected if claim.key in touched])
            if fresh:
                session.execute(counted.insert(), [
                    {"digest": digest, **_key(run.application, run.node_class, run.setting)}
                    for digest, run in fresh.items()])
        return found


def _book(session: Session) -> ClaimBook:
    return ClaimBook(_claim(row) for row in session.execute(select(table).order_by(table.c.id)))


def _put(session: Session, claims: Iterable[Claim]) -> None:
    rows = [_row(claim) for claim in claims]
    for row in rows:
        session.execute(delete(table).where(*(table.c[name] == row[name] for name in KEY)))
    if rows:
        session.execute(table.insert(), rows)


def _digests(runs: Sequence[Measured]) -> list[str]:
    seen: Counter[str] = Counter()
    found = []
    for run in runs:
        key = _key(run.application, run.node_class, run.setting)
        # What is known of runs without GPUs is known from before there were such settings.
        told = [value for name, value in key.items() if run.setting.gpus or name not in GPU_KEY]
        what = [*told, run.run_id]
        text = json.dumps(what if run.run_id else [*what, run.time_s, run.energy_j])
        # An id names one run; without ids, the second of two equal lines is another run.
        number = 0 if run.run_id else seen[text]
        seen[text] += 1
        found.append(sha256(f"{text} {number}".encode()).hexdigest())
    return found


def _key(application: str, node_class: str, setting: ClaimSetting) -> dict[str, object]:
    return {
        "application": application, "node_class": node_class, "threads": setting.threads,
        "cap_w": _limit(setting.cap_w), "nodes": setting.nodes,
        "gpu": setting.gpu, "gpus": setting.gpus, "gpu_cap_w": _limit(setting.gpu_cap_w),
    }


def _limit(cap_w: float) -> float:
    return NO_CAP_W if math.isinf(cap_w) else cap_w


def _limited(stored_w: float) -> float:
    return math.inf if stored_w == NO_CAP_W else stored_w


def _row(claim: Claim) -> dict[str, object]:
    return {
        **_key(claim.application, claim.node_class, claim.setting),
        "time_s": claim.time_s, "energy_j": claim.energy_j,
        "runs": claim.runs, "predictions": claim.predictions,
        "time_error": None if math.isnan(claim.time_error) else claim.time_error,
        "energy_error": None if math.isnan(claim.energy_error) else claim.energy_error,
    }


def _claim(row: object) -> Claim:
    found = row._mapping  # type: ignore[attr-defined]
    setting = ClaimSetting(found["threads"], _limited(found["cap_w"]), found["nodes"], found["gpu"],
                      found["gpus"], _limited(found["gpu_cap_w"]))
    return Claim(
        found["application"], found["node_class"], setting, found["time_s"], found["energy_j"],
        found["runs"], _number(found["time_error"]), _number(found["energy_error"]),
        found["predictions"],
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
