"""The energy ledger: joules per job, step, user, account, application and node class, in SQL."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    Select,
    Table,
    Text,
    UniqueConstraint,
    and_,
    delete,
    func,
    inspect,
    select,
    update,
)

from wattline.account import schema
from wattline.account.entries import Entries
from wattline.account.records import JobRecord
from wattline.account.store import Store, long_text, metadata, name_type, shown_url
from wattline.model.errors import InputError

NAME = name_type()

runs = Table(
    "ledger_run", metadata,
    Column("id", Integer, primary_key=True),
    Column("name", NAME, nullable=False, unique=True),
    Column("digest", NAME, nullable=False, unique=True),
    Column("machine", NAME, nullable=False),
    Column("epoch_s", Float(53), nullable=False),
    Column("energy_j", Float(53), nullable=False),
    Column("left_out", Text, nullable=False),
    Column("assumed", Text, nullable=False),
)
jobs = Table(
    "ledger_job", metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("ledger_run.id", ondelete="CASCADE"), nullable=False),
    Column("job_id", BigInteger, nullable=False),
    Column("restart", Integer, nullable=False),
    *(Column(name, NAME, nullable=False)
      for name in ("user", "account", "partition", "application", "node_class", "state",
                   "quality")),
    *(Column(name, Integer, nullable=False) for name in ("nodes", "cores")),
    Column("node_list", long_text(), nullable=False),
    *(Column(name, Float(53), nullable=False)
      for name in ("submit_s", "start_s", "end_s", "limit_s", "energy_j")),
    Column("frequency_hz", Float(53)),
    Column("asked_frequency", NAME, nullable=False, server_default=""),
    UniqueConstraint("run_id", "job_id", "restart"),
    Index("ix_ledger_job_user", "run_id", "user"),
)
steps = Table(
    "ledger_step", metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("ledger_run.id", ondelete="CASCADE"), nullable=False),
    Column("job_id", BigInteger, nullable=False),
    Column("restart", Integer, nullable=False),
    Column("step_id", Integer, nullable=False),
    *(Column(name, Float(53), nullable=False) for name in ("start_s", "end_s", "energy_j")),
    UniqueConstraint("run_id", "job_id", "restart", "step_id"),
)
power = Table(
    "ledger_power", metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("ledger_run.id", ondelete="CASCADE"), nullable=False),
    Column("job_id", BigInteger, nullable=False),
    Column("restart", Integer, nullable=False),
    Column("step_id", Integer, nullable=False),
    Column("time_s", Float(53), nullable=False),
    Column("power_w", Float(53), nullable=False),
    Index("ix_ledger_power_job", "run_id", "job_id"),
)

GROUPS = ("user", "account", "partition", "application", "node_class")
BATCH = 20_000


@dataclass(frozen=True)
class Total:
    """Joules of one user, account, application or class."""

    name: str
    jobs: int
    node_s: float
    energy_j: float


@dataclass(frozen=True)
class Chosen:
    """Conditions that jobs must all match; empty ones hold for every job.

    Of a period, all jobs that were in the system at some time of it, as `sacct` does.
    """

    job_ids: Sequence[int] = ()
    users: Sequence[str] = ()
    accounts: Sequence[str] = ()
    start_s: float | None = None
    end_s: float | None = None

    def holds(self, record: JobRecord) -> bool:
        """The same for a record that is not in a store."""
        return ((not self.job_ids or record.job_id in self.job_ids)
                and (not self.users or record.user in self.users)
                and (not self.accounts or record.account in self.accounts)
                and (self.start_s is None or record.end_s >= self.start_s)
                and (self.end_s is None or record.submit_s <= self.end_s))


ALL = Chosen()


@dataclass(frozen=True)
class Entered:
    """What became of a run that was to be entered: its name in the ledger, and its jobs."""

    name: str
    jobs: int
    already: bool = False
    """It was there before, perhaps under another name; nothing was entered."""


class Ledger:
    """Runs and their jobs in a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        store.create(runs, jobs, steps, power)
        schema.migrate(store)
        missing = [column.name for table in (runs, jobs) for column in table.columns
                   if column.name not in _kept(store, table)]
        if missing:
            raise InputError(
                f"the store {shown_url(store.url)} has a ledger of an earlier version, without "
                f"{', '.join(missing)}; enter the runs in a new store"
            )

    def add(self, name: str, records: Iterable[JobRecord] | Callable[[], Entries], *,
            machine: str = "", energy_j: float = 0.0, epoch_s: float = 0.0, digest: str = "",
            replace: bool = False,
            left_out: Mapping[str, Mapping[str, float]] | None = None,
            assumed: Iterable[str] = ()) -> Entered:
        """Enter a run, all of it or nothing.

        A run is known by its digest: the same one is not entered twice, whatever it is called, and
        another one of the same name gets a name of its own, unless it is to replace it. Without a
        digest the name is all there is to know a run by, and what had that name is replaced. What
        is called for its `records` is called only where they are entered.
        """
        if not name:
            raise InputError("a run in the ledger needs a name")
        with self.store.session() as session:
            connection = session.connection()
            if digest:
                known = select(runs.c.name).where(runs.c.digest == digest)
                there = connection.execute(known).scalar()
                if there is not None:
                    return Entered(there, 0, already=True)
            if digest and not replace:
                name = _free_name(connection, name)
            else:
                self._remove(connection, name)
            row = runs.insert().values(name=name, machine=machine, energy_j=energy_j,
                                       epoch_s=epoch_s, left_out=json.dumps(left_out or {}),
                                       assumed=json.dumps(list(assumed)),
                                       digest=digest or f"name {name}")
            key = session.connection().execute(row).inserted_primary_key
            assert key is not None
            entries = records() if callable(records) else Entries.of(records)
            _insert(session.connection(), int(key[0]), entries)
        return Entered(name, len(entries))

    def set_epoch(self, name: str, epoch_s: float) -> None:
        """Say at which Unix time the clock of a run stood at 0."""
        with self.store.session() as session:
            session.execute(update(runs).where(runs.c.name == name).values(epoch_s=epoch_s))

    def remove(self, name: str) -> None:
        with self.store.session() as session:
            self._remove(session.connection(), name)

    def run_names(self) -> list[str]:
        with self.store.session() as session:
            return list(session.scalars(select(runs.c.name).order_by(runs.c.id)))

    def run_of(self, name: str = "") -> dict[str, Any]:
        """The row of a run; without a name, of the one that was entered last."""
        query = select(runs).order_by(runs.c.id.desc())
        if name:
            query = query.where(runs.c.name == name)
        with self.store.session() as session:
            row = session.execute(query).first()
        if row is None:
            known = ", ".join(self.run_names()) or "none yet"
            where = shown_url(self.store.url)
            raise InputError(f"the ledger has no run '{name}'; it has {known}" if name
                             else f"the ledger {where} is empty; enter a run folder first")
        return {**row._mapping, "left_out": json.loads(row.left_out),
                "assumed": json.loads(row.assumed)}

    def jobs_of(self, run_id: int, chosen: Chosen = ALL) -> list[dict[str, Any]]:
        """Jobs that match all given conditions, in order of their numbers."""
        query = _chosen(select(jobs), run_id, chosen)
        with self.store.session() as session:
            return [dict(r._mapping) for r in session.execute(
                query.order_by(jobs.c.job_id, jobs.c.restart))]

    def submissions(self, run_id: int) -> tuple[float, float]:
        """When the first and the last job of a run was submitted; 0 in a run without jobs."""
        asked = select(func.min(jobs.c.submit_s), func.max(jobs.c.submit_s))
        with self.store.session() as session:
            first_s, last_s = session.execute(asked.where(jobs.c.run_id == run_id)).one()
        return float(first_s or 0.0), float(last_s or 0.0)

    def unknown(self, run_id: int, column: str, asked: Sequence[Any]) -> list[Any]:
        """Those of the names asked for that no job of the run has in a column."""
        if not asked:
            return []
        has = jobs.c[column]
        with self.store.session() as session:
            there = set(session.scalars(
                select(has).where(jobs.c.run_id == run_id, has.in_(asked)).distinct()))
        return [name for name in asked if name not in there]

    def steps_of(self, run_id: int) -> dict[tuple[int, int], list[dict[str, Any]]]:
        """The steps by job and restart."""
        query = select(steps).where(steps.c.run_id == run_id).order_by(
            steps.c.job_id, steps.c.restart, steps.c.step_id)
        found: dict[tuple[int, int], list[dict[str, Any]]] = {}
        with self.store.session() as session:
            for row in session.execute(query):
                found.setdefault((int(row.job_id), int(row.restart)), []).append(dict(row._mapping))
        return found

    def power_of(
        self, run_id: int, job_id: int, restart: int = 0
    ) -> list[tuple[int, float, float]]:
        """The power of a job over time as (step, time, watts)."""
        query = select(power.c.step_id, power.c.time_s, power.c.power_w).where(
            power.c.run_id == run_id, power.c.job_id == job_id, power.c.restart == restart
        ).order_by(power.c.step_id, power.c.time_s)
        with self.store.session() as session:
            return [(int(s), float(t), float(w)) for s, t, w in session.execute(query)]

    def power_rows(self, run_id: int) -> tuple[npt.NDArray[Any], ...]:
        """The power of all jobs over time: job, restart, step, time, watts, and the step's end."""
        same = [power.c[name] == steps.c[name] for name in ("run_id", "job_id", "restart",
                                                            "step_id")]
        query = select(power.c.job_id, power.c.restart, power.c.step_id, power.c.time_s,
                       power.c.power_w, steps.c.end_s).join(steps, and_(*same)).where(
            power.c.run_id == run_id
        ).order_by(power.c.job_id, power.c.restart, power.c.step_id, power.c.time_s)
        with self.store.session() as session:
            rows = session.execute(query).all()
        columns = list(zip(*rows, strict=True)) or [()] * 6
        kinds = (np.int64, np.int64, np.int64, np.float64, np.float64, np.float64)
        return tuple(np.array(column, dtype=kind)
                     for column, kind in zip(columns, kinds, strict=True))

    def totals(self, run_id: int, by: str, chosen: Chosen = ALL) -> list[Total]:
        """Joules by user, account, partition, application or node class, most first."""
        refuse_group(by)
        node_s = func.sum(jobs.c.nodes * (jobs.c.end_s - jobs.c.start_s))
        energy = func.sum(jobs.c.energy_j)
        query = _chosen(select(jobs.c[by], func.count(), node_s, energy), run_id, chosen).where(
            jobs.c.nodes > 0
        ).group_by(jobs.c[by]).order_by(energy.desc(), jobs.c[by])
        with self.store.session() as session:
            return [Total(str(n), int(c), float(s), float(e))
                    for n, c, s, e in session.execute(query)]

    def _remove(self, connection: Any, name: str) -> None:
        found = connection.execute(select(runs.c.id).where(runs.c.name == name)).scalar()
        if found is None:
            return
        # Said for each table, because not every database is set to cascade.
        for table in (power, steps, jobs):
            connection.execute(delete(table).where(table.c.run_id == found))
        connection.execute(delete(runs).where(runs.c.id == found))


def refuse_group(by: str) -> None:
    """Refuse what jobs cannot be added up by."""
    if by not in GROUPS:
        raise InputError(f"cannot add up by '{by}'; choose {', '.join(GROUPS)}")


def _free_name(connection: Any, name: str) -> str:
    taken = set(connection.execute(select(runs.c.name)).scalars())
    names = (f"{name}-{number}" if number > 1 else name for number in count(1))
    return next(free for free in names if free not in taken)


def _kept(store: Store, table: Table) -> set[str]:
    """The columns that a table has in the store."""
    return {column["name"] for column in inspect(store.engine).get_columns(table.name)}


def _chosen(query: Select[Any], run_id: int, chosen: Chosen) -> Select[Any]:
    query = query.where(jobs.c.run_id == run_id)
    for column, wanted in ((jobs.c.job_id, chosen.job_ids), (jobs.c.user, chosen.users),
                           (jobs.c.account, chosen.accounts)):
        if wanted:
            query = query.where(column.in_(list(wanted)))
    if chosen.start_s is not None:
        query = query.where(jobs.c.end_s >= chosen.start_s)
    if chosen.end_s is not None:
        query = query.where(jobs.c.submit_s <= chosen.end_s)
    return query


def _insert(connection: Any, run_id: int, entries: Entries) -> None:
    its, steps_in = entries.jobs, entries.steps
    _insert_rows(connection, jobs, run_id, {**its, "node_list": entries.node_lists})
    job_id, restart = (np.array(its[name], dtype=np.int64) for name in ("job_id", "restart"))
    columns = {"job_id": job_id[steps_in.job], "restart": restart[steps_in.job],
               "step_id": steps_in.step_id}
    _insert_rows(connection, steps, run_id, {
        **{name: column.tolist() for name, column in columns.items()},
        **{name: getattr(steps_in, name).tolist() for name in ("start_s", "end_s", "energy_j")}})
    _insert_rows(connection, power, run_id, {
        **{name: column[steps_in.step].tolist() for name, column in columns.items()},
        **{name: getattr(steps_in, name).tolist() for name in ("time_s", "power_w")}})


def _insert_rows(
    connection: Any, table: Table, run_id: int, columns: Mapping[str, list[Any]]
) -> None:
    names = list(columns)
    rows = zip(*columns.values(), strict=True)
    while batch := [dict(zip(names, row, strict=True), run_id=run_id)
                    for row in islice(rows, BATCH)]:
        connection.execute(table.insert(), batch)
