"""Books that were saved and loaded catch up with their journal and write on at its end."""

from __future__ import annotations

from collections.abc import Callable

from wattline.books.books import Books
from wattline.books.journal import MARK, Journal, JournalEntry, JournalWriter
from wattline.books.replay import MakePolicy, replay
from wattline.model.errors import InputError


def carry_on(
    books: Books, journal: Journal, write: Callable[[str], object],
    make_policy: MakePolicy | None = None, *, keeps_work: bool = True,
) -> Books:
    """Tell loaded books what their journal holds beyond the moment they were saved.

    From then on they write into it again: `write` puts a line at its end. Where the writer was
    interrupted in the middle of a line, cut `journal.torn` off the file first; where it came to
    its end, give `journal.reopened()` and cut `journal.end_line` off. The given books stay as they
    are; others come back that have caught up.
    """
    rest = _not_known_yet(books, journal)
    copy = books.copy()
    found = replay(copy, rest, make_policy)
    if not found.equal:
        raise InputError(f"{journal.source}: these books decide otherwise than the journal says "
                         f"from {rest[0].time_s:g} s on: they were kept under other rules")
    caught_up = found.books or copy
    caught_up.journal = JournalWriter(write, keeps_work=keeps_work, position=journal.position,
                                      version=journal.head[MARK])
    return caught_up


def _not_known_yet(books: Books, journal: Journal) -> list[JournalEntry]:
    """The entries after the books were saved."""
    if books.written is None:
        raise InputError("these books had no journal when they were saved")
    reached, rest = journal.position == books.written, []
    for entry in journal.entries():
        if reached:
            rest.append(entry)
        elif journal.position == books.written:
            reached = True
    if not reached:
        raise InputError(f"{journal.source}: it does not hold what these books had written when "
                         "they were saved: it is another journal, or was changed")
    if journal.complete:
        raise InputError(f"{journal.source}: it came to its end; nothing can be added")
    # After the head and all others.
    torn = len(journal.lines) + 2 + journal.skipped if journal.torn else None
    damaged = [number for number in journal.damaged if number != torn]
    if damaged:
        raise InputError(f"{journal.source}: line {damaged[0]} was changed")
    return rest
