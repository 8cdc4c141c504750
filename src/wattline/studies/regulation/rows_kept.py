"""Rows of the study that were found before, in a file: a run that was ended goes on from there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.studies.regulation.parts import PolicyOutcome
from wattline.studies.regulation.workloads import Order
from wattline.studies.sources import sources_digest

ROOMS = ("demand_response", "engine", "grid", "policies", "studies/regulation/parts.py",
         "studies/regulation/workloads.py")
"""Sources that decide what a row says: rows of other ones are not ours."""


class KeptRows:
    """A file with one line per order: a digest of what was asked, and its rows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sources = sources_digest(ROOMS)
        self._found: dict[str, list[PolicyOutcome]] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
                self._take(line)
        else:
            self._write("")  # a place that cannot be written is found out now

    def rows(self, order: Order) -> list[PolicyOutcome] | None:
        """What was found of this order; None where nothing was."""
        return self._found.get(self._name(order))

    def add(self, order: Order, rows: Sequence[PolicyOutcome]) -> None:
        name = self._name(order)
        self._write(json.dumps({"order": name, "rows": [asdict(row) for row in rows]}) + "\n")
        self._found[name] = list(rows)

    def _write(self, text: str) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}") from None

    def _name(self, order: Order) -> str:
        return hashlib.sha256((self._sources + repr(order)).encode()).hexdigest()

    def _take(self, line: str) -> None:
        try:
            said = json.loads(line)
            self._found[said["order"]] = [_row(fields) for fields in said["rows"]]
        except (ValueError, TypeError, KeyError):
            return  # cut off where the run was ended, or of another version: found anew


def _row(fields: dict[str, Any]) -> PolicyOutcome:
    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                             for name, value in fields.items()}
    return PolicyOutcome(**plain)
