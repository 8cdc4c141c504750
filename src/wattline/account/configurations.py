"""The table `job_details`: configurations of applications in the SQL store, and their index.

It has the fields of the RMAP study: id, application, nodes, cores, package cap, time and total
power. A revision is raised in the same transaction as every change, so a scheduler that asks for
the index gets the one in memory as long as nothing has changed, at the cost of reading one number.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Column, Float, Integer, Table, UniqueConstraint, delete, select

from wattline.account.store import Store, metadata, name_type
from wattline.model.errors import InputError
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.pareto import JoinedTables, ParetoIndex, build_index, join

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

_COLUMNS = ("nodes", "cores", "cap_w", "time_s", "power_w")


@dataclass(frozen=True, eq=False)
class Catalogue:
    """All stored configurations, ready for decisions."""

    revision: int
    applications: tuple[str, ...]
    tables: JoinedTables
    index: ParetoIndex

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
        store.create(job_details, job_details_revision)

    def put(self, table: ConfigurationTable) -> None:
        """Keep this table as the application's only one."""
        rows = [
            {"application": table.application, "source": table.source,
             **{name: getattr(table, name)[i].item() for name in _COLUMNS}}
            for i in range(len(table))
        ]
        with self._store.engine.begin() as connection:
            connection.execute(delete(job_details).where(
                job_details.c.application == table.application))
            connection.execute(job_details.insert(), rows)
            changed = connection.execute(job_details_revision.update().values(
                revision=job_details_revision.c.revision + 1))
            if changed.rowcount == 0:
                connection.execute(job_details_revision.insert().values(id=1, revision=1))

    def applications(self) -> tuple[str, ...]:
        query = select(job_details.c.application).distinct().order_by(job_details.c.application)
        with self._store.engine.connect() as connection:
            return tuple(connection.execute(query).scalars())

    def table(self, application: str) -> ConfigurationTable:
        found = job_details.c
        query = select(found.nodes, found.cores, found.cap_w, found.time_s, found.power_w,
                       found.source).where(found.application == application)
        with self._store.engine.connect() as connection:
            rows = connection.execute(query).all()
        if not rows:
            known = ", ".join(self.applications()) or "none"
            raise InputError(
                f"there is no application '{application}' in the store; known are: {known}")
        nodes, cores, cap_w, time_s, power_w, source = zip(*rows, strict=True)
        return ConfigurationTable.build(application, nodes, cores, cap_w, time_s, power_w,
                                        str(source[0]))

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
                raise InputError("the store holds no configurations; `wattline configure --store` "
                                 "or `wattline fit --store` puts them there")
            tables = [self.table(name) for name in names]
            self._catalogue = Catalogue(revision, names, join(tables), build_index(tables))
        return self._catalogue
