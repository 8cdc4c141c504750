"""SQL that several tests send to stores of their own is put together once in a process.

SQLAlchemy keeps what it makes of a statement for each engine and dialect. A program has one store;
tests open thousands of SQLite's, and a third of their time went into the same statements.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

STORE = "wattline.account.store"


def share_statements() -> None:
    """For stores that are opened from now on, where the tests at hand open any."""
    store = sys.modules.get(STORE)
    if store is not None:
        store._engine = with_known(store._engine)  # type: ignore[attr-defined]


def with_known(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same function; its engines for SQLite know the statements of each other."""
    known: list[tuple[Any, Any]] = []

    @wraps(make)
    def engine(url: Any) -> Any:
        made = make(url)
        if made.dialect.name == "sqlite":
            if not known:  # a store that could not be opened would not know SQLite's version
                first = make("sqlite://")
                first.connect().close()
                known.append((first.dialect, first._compiled_cache))
            made.dialect, made._compiled_cache = known[0]
        return made

    return engine
