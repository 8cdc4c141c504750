"""What the ledger must know after a kill: small files, each replaced as a whole."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from wattline.controller.joules.gathering import Lost, Marked

FILE = "ledger.json"
LOST = "lost.json"


@dataclass
class Unsaid:
    """A job that is over and whose comment does not say its joules yet."""

    label: str
    start_s: int
    since_s: float
    """When it was seen to be over."""


@dataclass
class Memory:
    """What is entered is entered; this says what is not."""

    seen: dict[str, tuple[int, int, float]] = field(default_factory=dict)
    """Per node the life of its spool, the next reading to ask for, and joules of earlier lives."""
    marks: list[Marked] = field(default_factory=list)
    """Of jobs that nobody has told of yet."""
    unsaid: list[Unsaid] = field(default_factory=list)
    accounted_s: float = math.nan
    """Until when Slurm's accounting was asked."""

    def save(self, folder: Path) -> None:
        said = asdict(self)
        if math.isnan(self.accounted_s):
            said["accounted_s"] = None
        _replace(folder / FILE, said)


def recalled(folder: Path) -> Memory:
    """As it was saved; nothing where it was not, or cannot be read."""
    try:
        said = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return Memory(
            {node: (int(life), int(number), float(base_j))
             for node, (life, number, base_j) in said["seen"].items()},
            [Marked(**each) for each in said["marks"]],
            [Unsaid(each["label"], each["start_s"], each["since_s"]) for each in said["unsaid"]],
            math.nan if said["accounted_s"] is None else float(said["accounted_s"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Memory()


def save_lost(folder: Path, lost: Iterable[Lost]) -> None:
    """At once: the next look would not find it any more."""
    _replace(folder / LOST, [asdict(each) for each in lost])


def recalled_lost(folder: Path) -> list[Lost]:
    """As they were saved; none where none were, or they cannot be read."""
    try:
        return [Lost(**each) for each in json.loads((folder / LOST).read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []


def _replace(path: Path, said: object) -> None:
    made = path.with_name(f".{path.name}")
    with made.open("w", encoding="utf-8") as file:
        json.dump(said, file)
        file.flush()
        os.fsync(file.fileno())
    made.replace(path)
