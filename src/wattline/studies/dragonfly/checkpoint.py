"""What a comparison has found so far, in a file: a run that was ended goes on from there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.reading import is_file, read_text
from wattline.studies.sources import sources_digest

Found = Mapping[tuple[int, int], tuple[Any, ...]]
"""Figures by the number of the workload and that of the run."""

SOURCES = (
    *(f"network/{name}.py" for name in (
        "equilibrium", "flows", "packets", "placement", "rounds", "routes", "traffic", "ways",
        "wiring", "topology/base", "topology/dragonfly")),
    "network/kernels",
    *(f"policies/placement/network/{name}.py" for name in (
        "by_key", "kernels", "layout", "placements")),
    *(f"studies/dragonfly/{name}.py" for name in ("allocator", "compare", "evaluate", "workloads")),
)
"""What decides on the figures of a run: lines of other sources are not ours, and made again. Files
that only read, show or answer are left out, for a change of theirs would cost hours of runs."""
_FIELDS = ("settings", "workload", "run", "figures")


class Checkpoint:
    """A file with one line for each run of a workload: what was asked, which one, its figures.

    A file may hold several comparisons; each finds its own lines by its settings. How often
    workloads are run is not one of them: more runs add to those that are there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = _read(path) if is_file(path) else []

    def known(self, settings: Any) -> Found:
        """What was found under these settings so far."""
        asked = _plain(settings)
        return {(line["workload"], line["run"]): tuple(line["figures"]) for line in self._lines
                if line["settings"] == asked}

    def add(self, settings: Any, numbers: Sequence[int], run: int, figures: Sequence[Any]) -> None:
        """Write the figures of some workloads: several arrays, each with a row per workload."""
        lines = [{"settings": _plain(settings), "workload": int(number), "run": run,
                  "figures": [array[row].tolist() for array in figures]}
                 for row, number in enumerate(numbers)]
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}") from None
        self._lines += lines


def _plain(settings: Any) -> Any:
    fields = asdict(settings) | {"sources": sources_digest(SOURCES)}
    del fields["repeats"]
    return json.loads(json.dumps(fields))


def _read(path: Path) -> list[dict[str, Any]]:
    found = []
    text = read_text(path)
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        try:
            read = json.loads(line)
            found.append({name: read[name] for name in _FIELDS})
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{path}, line {number}: not a line of this study's checkpoint; "
                             "name another file") from None
    if not text.endswith("\n"):
        # The last line was cut off when the run was ended: that workload is made again.
        path.write_text(text[:text.rfind("\n") + 1], encoding="utf-8")
    return found
