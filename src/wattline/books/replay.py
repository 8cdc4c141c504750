"""Replaying a journal: the same events to fresh books, decision by decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from wattline.books.books import Books
from wattline.books.decision import Decision
from wattline.books.events import Refused
from wattline.books.journal import Entry
from wattline.policies.contract import Composition


@dataclass
class Replay:
    """What came of it."""

    steps: int = 0
    decisions: int = 0
    """Decisions of the journal."""
    different: int = 0
    """Steps in which the books decided otherwise."""
    first_difference: Difference | None = None
    refused: list[Refused] = field(default_factory=list)
    """Events that these books would not take: they contradict what was decided here."""

    @property
    def equal(self) -> bool:
        return self.different == 0 and not self.refused


@dataclass(frozen=True)
class Difference:
    """The first step that was decided otherwise."""

    step: int
    time_s: float
    journal: tuple[Decision, ...]
    here: tuple[Decision, ...]


def replay(
    books: Books, entries: Iterable[Entry],
    make_policy: Callable[[dict[str, Any]], Composition] | None = None,
    watch: Callable[[Entry, tuple[Decision, ...]], None] | None = None,
) -> Replay:
    """Tell the books what a journal says happened, and compare what they decide."""
    found = Replay()
    for entry in entries:
        if entry.policy and make_policy is not None:
            books = books.with_policy(make_policy(entry.policy))
            continue
        if entry.decisions is None:
            books.apply(entry.time_s, entry.events)
            found.refused += books.refused
            continue
        here = books.step(entry.time_s, entry.events)
        found.refused += books.refused
        found.steps += 1
        found.decisions += len(entry.decisions)
        if here != entry.decisions:
            found.different += 1
            if found.first_difference is None:
                found.first_difference = Difference(found.steps, entry.time_s, entry.decisions,
                                                    here)
        if watch is not None:
            watch(entry, here)
    return found
