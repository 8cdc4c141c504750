"""Which version the tables of a store have, and how an older store becomes one of today.

A store says its version in one row. One without that row is of version 1, which had the ledger of
simulated runs alone. Each step goes from one version to the next and loses nothing, so a short
list of functions does; a migration tool would bring more files than there are steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    Table,
    inspect,
    literal,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateColumn

from wattline.account.measured import tables
from wattline.account.store import Store, metadata, shown_url
from wattline.model.errors import InputError

version = Table(
    "schema_version", metadata,
    # One row, which writers also lock while they write.
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
)
MEASURED = (tables.lives, tables.steps, tables.series, tables.facts, tables.rests)


def _add_measured(connection: Connection) -> None:
    """Version 2: the measured ledger beside that of simulated runs."""
    metadata.create_all(connection, tables=list(MEASURED))


def _add_rules(connection: Connection) -> None:
    """Version 3: the rules by which measured joules are divided."""
    metadata.create_all(connection, tables=[tables.rules])


def _widen_claims(connection: Connection) -> None:
    """Of version 4: GPUs in the settings of claims, in tables of new names.

    A key cannot be widened in place in every database. Not all of them take back a table that was
    made or dropped, either: a step that was cut off is done again, and what it dropped is safe.
    """
    from wattline.account import claim_table

    for old, new in (("claim", claim_table.table), ("claim_run", claim_table.counted)):
        new.create(connection, checkfirst=True)
        if not inspect(connection).has_table(old):
            continue
        before = Table(old, MetaData(), autoload_with=connection)
        values: dict[str, Any] = {"gpu": literal(""), "gpus": literal(0),
                                  "gpu_cap_w": literal(claim_table.NO_CAP_W)}
        kept = [column.name for column in before.columns]
        connection.execute(new.delete())
        connection.execute(new.insert().from_select(
            [*kept, *values], select(before, *values.values())))
        before.drop(connection)


def _add_columns(connection: Connection) -> None:
    """Version 4 too: what steps ended as, and which frequencies jobs of runs allowed."""
    from wattline.account import ledger

    for table, name in ((tables.steps, "state"), (ledger.jobs, "asked_frequency")):
        _add_column(connection, table, name)


def _add_column(connection: Connection, table: Table, name: str) -> None:
    """To a table that is there, and lacks it."""
    known = inspect(connection)
    if known.has_table(table.name) and name not in {
            column["name"] for column in known.get_columns(table.name)}:
        column = CreateColumn(table.c[name]).compile(dialect=connection.dialect)
        connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {column}")


def _settle_anew(connection: Connection) -> None:
    """Version 4 too: which joules of Slurm count, and before which meters, for all alike."""
    from wattline.account.measured import kept_rules, settling

    lives = tables.lives.c
    jobs = {(cluster, label) for cluster, label in connection.execute(
        select(lives.cluster, lives.label).distinct())}
    settling.settle(connection, jobs, kept_rules.load(connection).highest_w)


def _cut_at_quarters(connection: Connection) -> None:
    """Version 4 too: hours in quarters where power is uneven, and which joules are suspect.

    Both follow from the series, so that they are computed anew by the rules of the store.
    """
    from wattline.account.measured import kept_rules
    from wattline.account.measured.attributing import settle_all

    there = {column["name"] for column in inspect(connection).get_columns(tables.rests.name)}
    if "suspect_j" not in there:
        tables.rests.drop(connection)
        tables.rests.create(connection)
    if connection.scalar(select(tables.series.c.id).limit(1)) is not None:
        settle_all(connection, kept_rules.load(connection))


def _version_4(connection: Connection) -> None:
    _widen_claims(connection)
    _add_columns(connection)
    _settle_anew(connection)
    _cut_at_quarters(connection)


def _add_stays(connection: Connection) -> None:
    """Version 5: when jobs held their nodes, to the moment."""
    metadata.create_all(connection, tables=[tables.stays])


def _index_told(connection: Connection) -> None:
    """Of version 6: lives with joules of Slurm are found without reading all of them."""
    for index in tables.lives.indexes:
        if index.name == "ix_measured_life_told":
            index.create(connection, checkfirst=True)


def _measure_steps(connection: Connection) -> None:
    """Of version 6: what steps drew by the meters of their nodes, as it follows from the rest."""
    from wattline.account.measured import kept_rules
    from wattline.account.measured.attributing import settle_all

    if all(connection.scalar(select(table.c.id).limit(1)) is not None
           for table in (tables.steps, tables.series)):
        settle_all(connection, kept_rules.load(connection))


def _add_given_back(connection: Connection) -> None:
    """Version 7: when Slurm says that jobs gave nodes back."""
    _add_column(connection, tables.stays, "told_s")


def _version_6(connection: Connection) -> None:
    _index_told(connection)
    _add_given_back(connection)  # what follows is divided as in today's stores
    _measure_steps(connection)


STEPS: Mapping[int, Callable[[Connection], None]] = {
    2: _add_measured, 3: _add_rules, 4: _version_4, 5: _add_stays, 6: _version_6,
    7: _add_given_back,
}
"""By the version that each leads to."""
LATEST = max(STEPS)


def migrate(store: Store) -> int:
    """Bring a store to today's version; returns the one that it had. Writes only where it must."""
    store.create(version)
    found = _told(store)
    if found == LATEST:
        return found
    if found > LATEST:
        raise InputError(f"the store {shown_url(store.url)} has tables of version {found}; this "
                         f"program knows those up to {LATEST}: install a newer one")
    store.alter(_bring)
    return found


def _bring(connection: Connection) -> None:
    """All steps that are left: another program may have done them by now."""
    lock(connection)
    found: int = connection.execute(select(version.c.version)).scalar_one()
    for step in range(found + 1, LATEST + 1):
        STEPS[step](connection)
    connection.execute(update(version).values(version=LATEST))


def _told(store: Store) -> int:
    """The version in the row, which is written where there is none."""
    with store.session() as session:
        found = session.scalar(select(version.c.version))
    if found is not None:
        return int(found)
    with suppress(IntegrityError), store.engine.begin() as connection:  # another may be first
        connection.execute(version.insert().values(id=1, version=1))
    return 1


def lock(connection: Connection) -> None:
    """Let no other writer in before this transaction ends; the others wait.

    What is merged is read first and written then, and two who do so at once would each miss what
    the other has read. An update takes the lock in every database before anything is read.
    """
    connection.execute(update(version).values(version=version.c.version))
