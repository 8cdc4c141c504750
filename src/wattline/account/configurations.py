"""The table `job_details`: configurations of applications in the SQL store, and their index.

It has the fields of the RMAP study: id, application, nodes, cores, package cap, time and total
power. A revision is raised in the same transaction as every change, so a scheduler that asks for
the index gets the one in memory as long as nothing has changed, at the cost of reading one number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import (
    Column,
    Float,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    delete,
    inspect,
    select,
)
from sqlalchemy.exc import DBAPIError

from wattline.account.store import Store, metadata, name_type, refuse_missing, shown_url
from wattline.model.errors import InputError
from wattline.physics.configurations import (
    MEASURED,
    PREDICTED,
    Configuration,
    ConfigurationTable,
)
from wattline.physics.dimensions import CLASSIC
from wattline.physics.pareto import JoinedTables, ParetoIndex, build_index, fastest_within, join

job_details = Table(
    "job_details",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("application", name_type(128), nullable=False, index=True),
    Column("nodes", Integer, nullable=False),
    Column("cores", Integer, nullable=False),
    Column("cap_w", Float(53), nullable=False),
    Column("time_s", Float(53), nullable=False),
    Column("power_w", Float(53), nullable=False),
    Column("source", name_type(16), nullable=False),
    UniqueConstraint("application", "nodes", "cores", "cap_w"),
)

job_details_revision = Table(
    "job_details_revision",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("revision", Integer, nullable=False),
)

job_details_notes = Table(
    "job_details_notes",
    metadata,
    Column("application", name_type(128), primary_key=True),
    Column("note", Text, nullable=False),
)

job_details_scopes = Table(
    "job_details_scopes",
    metadata,
    Column("application", name_type(128), primary_key=True),
    Column("power_scope", name_type(16), nullable=False),
)
"""Of what the watts of an application's configurations are, where that is known."""

job_configurations = Table(
    "job_configurations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("application", name_type(128), nullable=False, index=True),
    Column("nodes", Integer, nullable=False),
    Column("settings", Text, nullable=False),
    Column("time_s", Float(53), nullable=False),
    Column("power_w", Float(53), nullable=False),
    Column("source", name_type(16), nullable=False),
)
"""Configurations that are set by other than cores and a cap for each socket; settings are JSON."""

HOW_TO_KEEP = ("`wattline configure APP --power WATTS --table CSV --keep URL` or `wattline fit "
               "--store URL` puts configurations there")


@dataclass(frozen=True, eq=False)
class Catalogue:
    """All stored configurations, ready for decisions."""

    revision: int
    applications: tuple[str, ...]
    tables: JoinedTables
    index: ParetoIndex
    by_name: Mapping[str, ConfigurationTable]

    def fastest(self, application: str, nodes: int, power_w: float) -> Configuration | None:
        """The fastest configuration within these nodes and watts, found in O(log n)."""
        code = self.code_of(application)
        row = fastest_within(self.index, code, nodes, power_w)
        first = int(self.tables.first_row[code])
        return self.by_name[application].row(int(row) - first) if row >= 0 else None

    def code_of(self, application: str) -> int:
        try:
            return self.applications.index(application)
        except ValueError:
            known = ", ".join(self.applications) or "none"
            raise InputError(
                f"there is no application '{application}' in the store; known are: {known}"
            ) from None


class ConfigurationStore:
    """Keeps configuration tables in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._catalogue: Catalogue | None = None
        store.create(job_details, job_configurations, job_details_revision, job_details_notes,
                     job_details_scopes)

    def put(self, table: ConfigurationTable) -> None:
        """Keep this table as the application's only one."""
        classic = table.names == CLASSIC
        rows = []
        for one in map(table.row, range(len(table))):
            settings = one.settings if classic else {"settings": json.dumps(one.settings)}
            rows.append({"application": table.application, "source": one.basis,
                         "nodes": one.nodes, **settings, "time_s": one.time_s,
                         "power_w": one.power_w})
        with self._store.engine.begin() as connection:
            for kept in (job_details, job_configurations):
                connection.execute(delete(kept).where(kept.c.application == table.application))
            connection.execute((job_details if classic else job_configurations).insert(), rows)
            for said, column, text in ((job_details_notes, "note", table.note),
                                       (job_details_scopes, "power_scope", table.power_scope)):
                connection.execute(delete(said).where(said.c.application == table.application))
                if text:
                    connection.execute(said.insert().values(
                        {"application": table.application, column: text}))
            changed = connection.execute(job_details_revision.update().values(
                revision=job_details_revision.c.revision + 1))
            if changed.rowcount == 0:
                connection.execute(job_details_revision.insert().values(id=1, revision=1))

    def applications(self) -> tuple[str, ...]:
        with self._store.engine.connect() as connection:
            names = {name for kept in (job_details, job_configurations) for name in
                     connection.execute(select(kept.c.application).distinct()).scalars()}
        return tuple(sorted(names))

    def table(self, application: str) -> ConfigurationTable:
        with self._store.engine.connect() as connection:
            rows = [(row.nodes, {"cores": row.cores, "cap_w": row.cap_w}, row) for row in
                    connection.execute(select(job_details).where(
                        job_details.c.application == application))]
            rows += [(row.nodes, json.loads(row.settings), row) for row in
                     connection.execute(select(job_configurations).where(
                         job_configurations.c.application == application))]
            note = connection.execute(select(job_details_notes.c.note).where(
                job_details_notes.c.application == application)).scalar() or ""
            scope = connection.execute(select(job_details_scopes.c.power_scope).where(
                job_details_scopes.c.application == application)).scalar() or ""
        if not rows:
            known = ", ".join(self.applications()) or "none"
            raise InputError(
                f"there is no application '{application}' in the store; known are: {known}")
        nodes, settings, read = zip(*rows, strict=True)
        columns = {name: [one[name] for one in settings] for name in settings[0]}

        def made(rows: Sequence[int], source: str) -> ConfigurationTable:
            return ConfigurationTable.of(
                application, [nodes[at] for at in rows],
                {name: [each[at] for at in rows] for name, each in columns.items()},
                [read[at].time_s for at in rows], [read[at].power_w for at in rows],
                source=source, note=note, power_scope=scope)

        measured = [at for at, row in enumerate(read) if row.source == MEASURED]
        if len(measured) == len(read):
            return made(measured, MEASURED)
        every = made(range(len(read)), PREDICTED)
        return made(measured, MEASURED).filled_by(every) if measured else every

    def revision(self) -> int:
        """A number that rises with every change."""
        with self._store.engine.connect() as connection:
            return connection.execute(select(job_details_revision.c.revision)).scalar() or 0

    def catalogue(self) -> Catalogue:
        """Everything with its index; read and built again only after a change."""
        revision = self.revision()
        if self._catalogue is None or self._catalogue.revision != revision:
            names = self.applications()
            if not names:
                raise InputError(f"the store holds no configurations; {HOW_TO_KEEP}")
            tables = [self.table(name) for name in names]
            self._catalogue = Catalogue(revision, names, join(tables), build_index(tables),
                                        dict(zip(names, tables, strict=True)))
        return self._catalogue


def read_catalogue(url: str) -> Catalogue:
    """Everything that a store holds; a store that is not there is refused, and not made."""
    refuse_missing(url, HOW_TO_KEEP)
    with Store(url, create=False) as store:
        try:
            there = inspect(store.engine)
            if not any(there.has_table(kept.name) for kept in (job_details, job_configurations)):
                raise InputError(f"the store holds no configurations; {HOW_TO_KEEP}")
            return ConfigurationStore(store).catalogue()
        except DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            raise InputError(f"cannot read the store {shown_url(store.url)}: {reason}") from None
