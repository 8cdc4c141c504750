"""What an agent must know after a kill: what it found, and which order it obeyed last."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Saved:
    """The whole of it."""

    boot: str = ""
    """Of the kernel that ran then: a node that booted has its own limits again."""
    found: Mapping[str, Any] = field(default_factory=dict)
    order: int = 0
    stamp_us: int = 0
    lease_s: float = 0.0
    """Of the order that holds; 0 where none does."""


def boot_id() -> str:
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


class State:
    """A small file that is replaced as a whole, before anything is done."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.saved = _read(file)

    def save(self, **changes: Any) -> None:
        """Raises OSError, and changes nothing, where it cannot be written."""
        saved = replace(self.saved, **changes)
        beside = self._file.with_suffix(".new")
        with beside.open("w", encoding="utf-8") as file:
            json.dump(asdict(saved), file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._file)
        self.saved = saved


def _read(file: Path) -> Saved:
    try:
        return Saved(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return Saved()  # none yet: a file is never half written
