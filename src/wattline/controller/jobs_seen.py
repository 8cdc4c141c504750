"""Which jobs came and how long they ran, by the journals of a controller.

Journals are read from their end back: the last days say more of the next hours than the last year.
Their lines are taken as they are. Whoever asks them again (`wattline replay`) checks them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattline.books import Changed, Decision, Ended, NotStarted, Paced, Started, Submitted
from wattline.books.events import Key
from wattline.books.journal import JournalEntry
from wattline.policies.control import Control
from wattline.scenario.work_seen import WorkSeen

MOST_BYTES = 64_000_000
"""Of journals; one that would be beyond it is not read."""
_EVENTS: dict[str, type] = {kind.__name__.lower(): kind for kind in (
    Submitted, Started, Ended, NotStarted, Changed, Paced)}
_NOTHING = Control()


@dataclass
class JobsSeen:
    """Jobs as the journals tell of them."""

    since_s: float = float("inf")
    """When the first journal that was read begins."""
    came: list[tuple[float, Submitted]] = field(default_factory=list)
    """Every submission with its time."""
    work: WorkSeen = field(default_factory=WorkSeen)
    asked_s: dict[Key, float] = field(default_factory=dict)
    """The last time that each job asked for."""

    @property
    def ended(self) -> list[tuple[Submitted, float, float]]:
        """Jobs that were seen from submission to end: what they asked for, and how long they ran
        at full speed."""
        return [(job, self.asked_s[job.job], self.work.total_s(job.job)) for _, job in self.came
                if job.job in self.work.ended and job.job in self.work.begun_s]

    def read(self, entry: JournalEntry) -> None:
        for event in entry.events:
            if isinstance(event, Submitted):
                self.came.append((entry.time_s, event))
                self.asked_s[event.job] = event.requested_s
            elif isinstance(event, Changed):
                self.asked_s[event.job] = event.requested_s
        self.work.read([entry])


def read_jobs(journals: Sequence[Path], most_bytes: int = MOST_BYTES) -> JobsSeen:
    """What the last of these journals tell; the last one is read whatever its size."""
    found = JobsSeen()
    for path in _last(journals, most_bytes):
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):  # it was deleted meanwhile, or is no journal
            continue
        found.since_s = min(found.since_s, _begun_s(lines[0]) if lines else float("inf"))
        for entry in map(_entry, lines[1:]):
            if entry is not None:
                found.read(entry)
    return found


def _begun_s(head: str) -> float:
    """When a journal begins; never, where its first line does not say it."""
    try:
        return float(json.loads(head[9:])["start_s"])
    except (ValueError, TypeError, KeyError):
        return float("inf")


def _last(journals: Sequence[Path], most_bytes: int) -> list[Path]:
    kept: list[Path] = []
    size = 0
    for path in reversed(journals):
        size += path.stat().st_size if path.exists() else 0
        if kept and size > most_bytes:
            break
        kept.insert(0, path)
    return kept


def _entry(line: str) -> JournalEntry | None:
    """What of a line is about jobs that come, run and go; None where nothing is."""
    try:
        value = json.loads(line[9:])
        if not isinstance(value, list) or not isinstance(value[1], list):
            return None
        decided = value[2] if len(value) > 2 and value[2] else ()
        return JournalEntry(float(value[0]), tuple(_events(value[1])), tuple(
            Decision(kind, job, rate, power_w, _NOTHING)
            for kind, job, rate, power_w, _ in decided))
    except (ValueError, TypeError, IndexError):  # a line that is being written
        return None


def _events(values: Sequence[Any]) -> Iterator[Any]:
    for name, given in values:
        kind = _EVENTS.get(name)
        if kind is not None:
            yield kind(**given)
