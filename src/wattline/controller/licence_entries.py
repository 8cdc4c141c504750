"""Licences of watts in the journal: who holds how many of them, and how many Slurm may give.

A line is written where that has changed since the last one. So whoever reads a journal can add up
what Slurm let jobs hold, beside what was decided about them (`wattline verify`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wattline.controller.elsewhere import part_here
from wattline.controller.licences import LicenceNet
from wattline.controller.sharing.watching import SharedWatcher
from wattline.controller.suspended_jobs import free_licences
from wattline.live.slurm.reading import ACTIVE, ENDING, STARTING, WATTS

if TYPE_CHECKING:
    from wattline.books.journal import JournalWriter
    from wattline.controller.controller import Controller, Cycle


@dataclass
class LicenceEntries:
    """A listener that writes such lines; each journal begins with all that is held."""

    controller: Controller
    net: LicenceNet
    _held: dict[str, int] = field(default_factory=dict)
    _others: dict[str, Any] = field(default_factory=dict)
    """The figures of the last line, apart from what jobs hold."""
    _journal: JournalWriter | None = None

    def __call__(self, cycle: Cycle) -> None:
        books = self.controller.books
        journal = books.journal
        if journal is None or not cycle.looked:
            return
        held, beside = self._seen()
        others = {"allowed": self._allowed(), "beside": beside, "idle_w": self._idle_w()}
        begins = journal is not self._journal
        changed = held if begins else {
            **{label: watts for label, watts in held.items() if watts != self._held.get(label)},
            **dict.fromkeys(self._held.keys() - held.keys(), 0)}
        if begins or changed or others != self._others:
            # Of the time of the books: no later step of theirs comes before it.
            journal.licences(books.now_s, {**others, "held": changed, "all": begins})
        self._journal, self._held, self._others = journal, held, others

    def _seen(self) -> tuple[dict[str, int], int]:
        """Licences of each job that has nodes, and how many of them stand for no watts here: of
        suspended jobs, which Slurm takes none from, and for nodes of others."""
        watcher = self.controller.watcher
        ours, free = set(watcher.names), free_licences(watcher)
        held, beside = dict[str, int](), 0
        for job in watcher.seen:
            watts = job.licenses.get(WATTS, 0)
            if watts <= 0 or not job.node_list or job.state not in (*ACTIVE, *STARTING, *ENDING):
                continue
            held[job.label] = watts
            part = part_here(job, ours)
            here = part.licenses[WATTS] if part.node_list else 0
            beside += watts if job.label in free else watts - here
        return held, beside

    def _allowed(self) -> int | None:
        """Licences that jobs may hold together, as Slurm was last told; None while it refuses."""
        return self.net.total - self.net.taken if self.net.taken >= 0 else None

    def _idle_w(self) -> float:
        """Power of the nodes that no licence stands for: on shared nodes, of all without jobs."""
        watcher = self.controller.watcher
        return watcher.parts.idle_w if isinstance(watcher, SharedWatcher) else 0.0
