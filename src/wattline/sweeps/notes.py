"""Rows that a task with much work writes down as it goes, for when it does not come back.

Such a task gives its rows when all of them are done. A node that is lost, a time limit or a client
that is killed must not take those with them that were done long before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

FOLDER = "rows"

Row = dict[str, Any]


class Notes:
    """The files of a sweep's tasks, in a folder that the tasks see."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def begin(self) -> str:
        """A file of its own for a task."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return str(self._folder / f"{uuid4().hex}.jsonl")

    def files(self) -> list[str]:
        return sorted(map(str, self._folder.glob("*.jsonl")))

    def forget(self) -> None:
        """The rows are in the journal of the sweep."""
        for file in self.files():
            Path(file).unlink(missing_ok=True)
        with suppress(OSError):  # there is none, or a task of a sweep before has just written
            self._folder.rmdir()


def note(file: str, key: str, row: Row) -> None:
    """Write down a row; the file is opened each time, as tasks and their machines come and go."""
    with Path(file).open("a", encoding="utf-8") as opened:
        opened.write(json.dumps({"key": key, **row}) + "\n")


def lines_in(file: str) -> int:
    path = Path(file)
    return path.read_bytes().count(b"\n") if path.is_file() else 0


def noted(file: str | Path) -> Iterator[tuple[str, Row]]:
    """Keys and rows; a line that was not finished, or that a power cut left, is none."""
    path = Path(file)
    if not path.is_file():
        return
    for line in path.read_bytes().split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:  # also of bytes that are no text
            continue
        if _is_row(row):
            yield row.pop("key", ""), row


def _is_row(row: Any) -> bool:
    return (isinstance(row, dict) and isinstance(row.get("key", ""), str)
            and isinstance(row.get("number"), int)
            and (isinstance(row.get("error"), str) or _are_figures(row.get("figures"))))


def _are_figures(figures: Any) -> bool:
    return isinstance(figures, dict) and all(
        value is None or isinstance(value, (int, float)) for value in figures.values())
