"""Jobs with our mark that Slurm was free to start: a hold that comes after that is their user's.

A job is submitted held for us, and held by its user in the same way. What tells them apart is what
was seen before: once a job has waited at Slurm, or was passed on to it, nobody but its user holds
it, unless we do so ourselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from wattline.controller.kept_names import keep_names, kept_names
from wattline.live.slurm.reading import WAITING, SlurmJob
from wattline.model.errors import InputError

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
        self._write()

    def flush(self) -> None:
        """Write them where they have changed. On a full disk, or where no controller has been yet,
        jobs are passed on all the same: all that is lost is whose a later hold is."""
        with suppress(InputError):
            self._write()

    def _write(self) -> None:
        if self.folder is not None and self.labels != self._kept:
            keep_names(self.folder / FILE, self.labels)
            self._kept = set(self.labels)


class SeesHolds:
    """What a watcher keeps to know whose hold it is."""

    def __init__(self) -> None:
        self.freed = Freed()
        self.starting: Callable[[str], bool] = lambda label: False
        """Whether others than the books have just told a job to start."""
        self.only_held = False
        """Whether waiting jobs of ours that Slurm may start are held first, and told of then."""
        self.left: set[str] = set()
        """Labels of jobs that the books have had and that were left to Slurm."""

    def see_hold(self, job: SlurmJob, mark: str, ours: Callable[[], bool]) -> None:
        """Note of a job that the books do not have whether Slurm may start it."""
        if job.state not in WAITING or (job.held and job.label in self.freed and mark
                                        and not job.marked(mark)):
            self.freed.discard(job.label)
        elif not (job.held or self.only_held or job.label in self.freed
                  or self.starting(job.label)) and (
                      ours() or job.label in self.left):
            self.freed.add(job.label)
