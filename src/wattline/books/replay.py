"""Replaying a journal: the same events to fresh books, decision by decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from wattline.books.books import Books
from wattline.books.decision import Decision
from wattline.books.encoding import policy_names
from wattline.books.events import Refused
from wattline.books.journal import JournalEntry
from wattline.model.errors import InputError
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
    books: Books | None = None
    """The books after it: others than those of before where the policy changed."""

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


MakePolicy = Callable[[dict[str, Any]], Composition]
"""From what a journal says of a policy (`axes`, and `scenario` where it was said) to the policy."""


def replay(
    books: Books, entries: Iterable[JournalEntry],
    make_policy: MakePolicy | None = None,
    watch: Callable[[JournalEntry, tuple[Decision, ...]], None] | None = None,
) -> Replay:
    """Tell the books what a journal says happened, and compare what they decide."""
    found = Replay(books=books)
    for entry in entries:
        if entry.policy:
            found.books = books = _changed(books, entry, make_policy)
            continue
        if entry.licences:
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


def _changed(books: Books, entry: JournalEntry, make_policy: MakePolicy | None) -> Books:
    """The books under the policy that decides from this entry on."""
    axes = [str(axis) for axis in entry.policy.get("axes", ())]
    if make_policy is None:
        raise InputError(f"at {entry.time_s:g} s the journal goes on under another policy "
                         f"({', '.join(axes)}); give `make_policy` to make it")
    books = books.with_policy(make_policy(entry.policy), entry.policy.get("scenario"))
    mine = policy_names(books.policy)
    if mine != axes:
        raise InputError(f"at {entry.time_s:g} s the journal goes on under {', '.join(axes)}; "
                         f"the policy here is {', '.join(mine)}")
    return books
