"""Jobs with our mark that Slurm was free to start: a hold that comes after that is their user's.

A job is submitted held for us, and held by its user in the same way. What tells them apart is what
was seen before: once a job has waited at Slurm, or was passed on to it, nobody but its user holds
it, unless we do so ourselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from wattline.controller.kept_names import keep_names, kept_names

FILE = "released.json"


@dataclass
class Freed:
    """Their labels, in memory and, where there is a folder, on disk."""

    folder: Path | None = None
    labels: set[str] = field(default_factory=set)
    _kept: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, folder: Path) -> Freed:
        """As the last controller, or the watchdog, left them."""
        found = kept_names(folder / FILE)
        return cls(folder, set(found), found)

    def __contains__(self, label: str) -> bool:
        return label in self.labels

    def add(self, label: str) -> None:
        self.labels.add(label)

    def discard(self, label: str) -> None:
        self.labels.discard(label)

    def only(self, labels: Collection[str]) -> None:
        """Slurm knows no others any more."""
        self.labels.intersection_update(labels)

    def take_back(self, labels: Iterable[str]) -> None:
        """We are about to hold these: that is on disk before, or a kill would leave them held."""
        self.labels.difference_update(labels)
        self.flush()

    def flush(self) -> None:
        """Write them where they have changed."""
        if self.folder is not None and self.labels != self._kept:
            keep_names(self.folder / FILE, self.labels)
            self._kept = set(self.labels)
