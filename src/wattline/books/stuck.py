"""A job that no end of others helps: under the cap of now it would not start on an empty machine.

A cap that is lowered may rise again, so such a job is not refused. A policy that lets nobody pass
keeps all behind it waiting meanwhile, in a simulation as on a real machine; all others set it aside
(`wattline.policies.set_aside`), and nobody stands behind it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wattline.books.events import Cancelled, Ended, Event, Key
from wattline.books.waiting import ahead_of, alone_w, queued_rows
from wattline.model.kernel import uncompiled
from wattline.policies.contract import sets_aside
from wattline.policies.set_aside import lacks_cap

if TYPE_CHECKING:
    from wattline.books.books import Books


@dataclass(frozen=True)
class Stuck:
    """Such a job, and how many stand behind it in the queue."""

    job: Key
    alone_w: float
    """What the machine would draw with it alone, at full speed."""
    cap_w: float
    behind: int
    aside: bool = False
    """True where it was set aside, with its place in the queue kept."""

    @property
    def sentence(self) -> str:
        return (f"it does not fit under the cap of {self.cap_w:,.0f} W even on an empty machine, "
                f"which would draw {self.alone_w:,.0f} W with it{self._who_waits()}")

    def _who_waits(self) -> str:
        if self.aside:
            return ("; it is set aside, and its place in the queue is kept for when the cap rises: "
                    "nobody waits behind it")
        if not self.behind:
            return ""
        return (f"; {self.behind:,} {'job stands' if self.behind == 1 else 'jobs stand'} behind it "
                "in the queue")


def first_stuck(books: Books) -> Stuck | None:
    """The first of the queue, where it is one."""
    queue = queued_rows(books.state)
    return stuck(books, queue[0]) if queue else None


def set_aside(books: Books, rows: Iterable[int] | None = None) -> list[Stuck]:
    """Jobs that only a higher cap lets start, of these rows or of those beside the queue."""
    if rows is None:
        rows = books.state.aside.job[: int(books.state.clock[0].aside)].tolist()
    return [_named(books, row, 0) for row in rows if is_set_aside(books, row)]


def is_set_aside(books: Books, row: int) -> bool:
    """Say whether a job waits beside the queue until the cap rises, or will from the next decision
    on."""
    with uncompiled():
        return bool(sets_aside(books.state, books.policy.admission)
                    and lacks_cap(books.state, books.policy, row))


def _named(books: Books, row: int, behind: int) -> Stuck:
    return Stuck(books.roll.key(row), alone_w(books.state, row), float(books.state.clock[0].cap_w),
                 behind, is_set_aside(books, row))


def stuck(books: Books, row: int) -> Stuck | None:
    """A queued job, where it would not start though all jobs that run ended at once.

    By its figures first, then by trial: a policy may slow it down, or take fewer nodes for it.
    """
    if is_set_aside(books, row):
        return _named(books, row, 0)
    state = books.state
    cap_w, needs_w = float(state.clock[0].cap_w), alone_w(state, row)
    if state.live[row].units > state.clock[0].units - state.clock[0].down:
        return None  # no cap would let it start: it waits for nodes
    if needs_w <= cap_w or _starts_alone(books, row):
        return None
    behind = queued_rows(state)
    return _named(books, row, len(behind) - behind.index(row) - 1 if row in behind else 0)


def _starts_alone(books: Books, row: int) -> bool:
    state = books.state
    running = state.running[: int(state.clock[0].running)].tolist()
    events: list[Event] = [Ended(books.roll.key(other)) for other in running]
    events += [Cancelled(books.roll.key(other)) for other in ahead_of(state, row)]
    other = books.copy()
    other.untold = []
    job = books.roll.key(row)
    return any(each.kind in ("start", "resume") and each.job == job
               for each in other.step(books.now_s, events))
