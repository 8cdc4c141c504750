"""The SQL store: one URL, one engine, one metadata that every table of the package joins.

SQLite is the default; MariaDB (`mariadb+pymysql://...`) and PostgreSQL (`postgresql+psycopg://...`)
work by changing the URL and installing that driver. A module that keeps something declares its
table on `metadata` when it is imported, and `Store` creates the tables that are missing.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    inspect,
)
from sqlalchemy.dialects.mysql import MEDIUMTEXT, VARCHAR
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.orm import Session, sessionmaker

from wattline.model.errors import InputError, WattlineError
from wattline.model.files import possible_path

DEFAULT_URL = "sqlite:///wattline.db"
WAIT_S = 60.0
_CREATING_S = 5.0
_NO_STORE = "not a database"
"""What SQLite says of a file that is something else."""
_FILES = ("", "-wal", "-shm", "-journal")
"""What SQLite makes for one database, by the ends of their names."""
_AT_ONCE = re.compile("already exists|duplicate key|database is locked|Deadlock|concurrent DDL",
                      re.IGNORECASE)
_BUSY = re.compile("locked|lock wait timeout|deadlock", re.IGNORECASE)

# Constraints have names, because MariaDB and PostgreSQL can alter only what has one.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def name_type(length: int = 255) -> String:
    """Text that is compared letter by letter in every database.

    MariaDB's own comparison takes `EP.A` and `ep.a`, and `ann` and `Ann`, for the same.
    """
    exact = VARCHAR(length, charset="utf8mb4", collation="utf8mb4_bin")
    return String(length).with_variant(exact, "mysql", "mariadb")


def long_text() -> Text:
    """Text of any length, which MariaDB has only where it is asked for.

    A host list of tens of thousands of scattered nodes is longer than its usual text.
    """
    return Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb")


class Store:
    """A database and its sessions; use it as a context manager, or call `close`.

    >>> with Store("sqlite://") as store, store.session() as session:
    ...     session.connection().exec_driver_sql("SELECT 1").scalar()
    1
    """

    def __init__(self, url: str | Path = DEFAULT_URL, *, create: bool = True) -> None:
        self.url = store_url(url)
        self.metadata = metadata
        self.engine = _engine(self.url)
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)
        if create:
            missing = self._missing_file()
            try:
                self.create()
            except WattlineError:
                self.close()
                if missing is not None:  # on a full disk empty files would be left
                    for ending in _FILES:
                        with suppress(OSError):  # none, or no name of a file
                            Path(f"{missing}{ending}").unlink()
                raise

    def create(self, *tables: Table) -> None:
        """Create what is missing: these tables, or all that are declared by now."""
        until_s = time.monotonic() + _CREATING_S
        while True:
            try:
                self._create_missing(tables or metadata.sorted_tables)
                return
            except DBAPIError as error:
                if _again(error, until_s):
                    continue
                if isinstance(error, OperationalError) or _NO_STORE in _reason(error):
                    raise InputError(
                        f"cannot open the store {shown_url(self.url)}: {_reason(error)}"
                    ) from error
                raise WattlineError(
                    f"the store {shown_url(self.url)} refused: {_reason(error)}"
                ) from error

    def _create_missing(self, tables: Iterable[Table]) -> None:
        """Which are there is asked once: to ask for each took longer than to open a store."""
        there = set(inspect(self.engine).get_table_names())
        missing = [table for table in tables if table.name not in there]
        if missing:
            metadata.create_all(self.engine, tables=missing)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """One transaction: kept when the block ends, undone as a whole when it raises."""
        try:
            with self._sessions() as session, session.begin():
                yield session
        except DBAPIError as error:
            held = _BUSY.search(_reason(error))
            busy = ", because another program writes to it" if held else ""
            raise WattlineError(f"the store {shown_url(self.url)} refused{busy}; nothing was "
                                f"entered: {_reason(error)}") from error

    def alter(self, work: Callable[[Connection], None]) -> None:
        """One transaction that makes or changes tables, begun anew where another program does so
        at the same time: in MariaDB each such statement ends the transaction and its locks."""
        until_s = time.monotonic() + WAIT_S
        while True:
            try:
                with self.session() as session:
                    work(session.connection())
                return
            except WattlineError as error:
                if not (isinstance(error.__cause__, DBAPIError)
                        and _again(error.__cause__, until_s)):
                    raise

    def insert(self, table: Table, rows: list[dict[str, Any]]) -> None:
        """Add many rows in one transaction."""
        if rows:
            with self.engine.begin() as connection:
                connection.execute(table.insert(), rows)

    def _missing_file(self) -> Path | None:
        """The SQLite file that is not there yet and will be made."""
        file = self.engine.url.database
        on_disk = self.engine.dialect.name == "sqlite" and file and file != ":memory:"
        return Path(str(file)) if on_disk and not os.path.exists(str(file)) else None

    def close(self) -> None:
        self.engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def refuse_missing(url: str | Path, advice: str = "") -> None:
    """Refuse an SQLite file that is not there or empty, for whoever only reads.

    Opening would make one, and put tables into an empty file that may be anything. The advice says
    what to do about one that is not there.
    """
    parsed = _engine(store_url(url)).url  # connects to nothing yet, and knows a wrong URL
    file = parsed.database
    if parsed.get_backend_name() != "sqlite" or not file or file == ":memory:":
        return
    if not Path(file).is_file():
        raise InputError(f"there is no store {file}" + (f"; {advice}" if advice else ""))
    if not Path(file).stat().st_size:
        raise InputError(f"the store {file} is an empty file; nothing was entered yet")


def store_url(url: str | Path) -> str:
    """A URL from a URL or from the path of an SQLite file."""
    text = str(url).strip()
    possible_path(text)
    if not text:
        raise InputError(f"the store needs a URL or a file name, for example {DEFAULT_URL}")
    return text if "://" in text else f"sqlite:///{text}"


def shown_url(url: str) -> str:
    """The URL without its password, for messages and logs."""
    return make_url(url).render_as_string(hide_password=True)


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        sqlite = parsed.get_backend_name() == "sqlite"
        # Another writer, or a backup, may hold an SQLite file for a while; `?timeout=` says for how
        # long to wait.
        patience = {"timeout": WAIT_S} if sqlite and "timeout" not in parsed.query else {}
        # A server closes idle connections; a ping before use costs nothing beside a failed run.
        engine = create_engine(parsed, pool_pre_ping=not sqlite, connect_args=patience)
    except (ArgumentError, NoSuchModuleError) as error:
        raise InputError(
            f"'{url}' is no database URL; right are {DEFAULT_URL}, "
            "mariadb+pymysql://user@host/wattline or postgresql+psycopg://user@host/wattline"
        ) from error
    except ModuleNotFoundError as error:
        raise InputError(
            f"the store {shown_url(url)} needs the Python package '{error.name}'; install it"
        ) from error
    if sqlite:
        event.listen(engine, "connect", _set_up_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys=ON")
    # Readers must not wait for the writer: the live controller writes while people read.
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    # 64 MiB instead of 2: indexes of a month's facts do not fit into less.
    cursor.execute("PRAGMA cache_size=-65536")
    cursor.close()


def _again(error: DBAPIError, until_s: float) -> bool:
    """Wait a little and return True if another program changes the same tables, until `until_s`."""
    if not _AT_ONCE.search(_reason(error)) or time.monotonic() >= until_s:
        return False
    time.sleep(0.1)
    return True


def _reason(error: DBAPIError) -> str:
    return " ".join(str(error.orig).split())
