"""Rows of points that were computed before, by the content of the point, in the user's cache."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from wattline.model.user_cache import say_nothing_is_kept, user_cache

BUSY_S = 30.0
AT_ONCE = 500


def cache_file() -> Path:
    return user_cache() / "points.sqlite"


class PointCache:
    """A table of keys and rows. Where it cannot be opened nothing is cached, which is said."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as store, store:
                store.execute("create table if not exists points (key text primary key, row text)")
        except (sqlite3.Error, OSError) as error:
            say_nothing_is_kept(error)

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=BUSY_S)

    def find(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The rows of those keys that are known."""
        found: dict[str, dict[str, Any]] = {}
        wanted = list(dict.fromkeys(key for key in keys if key))
        with suppress(sqlite3.Error, OSError), closing(self._open()) as store:
            for begin in range(0, len(wanted), AT_ONCE):
                some = wanted[begin:begin + AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = store.execute(f"select key, row from points where key in ({marks})", some)
                found.update((key, json.loads(row)) for key, row in rows)
        return found

    def keep(self, rows: Iterable[tuple[str, dict[str, Any]]]) -> None:
        told = [(key, json.dumps(row)) for key, row in rows if key]
        try:
            with closing(self._open()) as store, store:
                store.executemany("insert or replace into points values (?, ?)", told)
        except (sqlite3.Error, OSError) as error:
            say_nothing_is_kept(error)


class NoCache:
    """Remembers nothing."""

    def find(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        return {}

    def keep(self, rows: Iterable[tuple[str, dict[str, Any]]]) -> None:
        return
