"""Why a job waits: asked of the books themselves, and of copies in which one thing is otherwise.

A policy is not asked for its reasons, it is tried: would the job start if the jobs before it were
not there, if there were no cap, or no reservation? So the answer holds for every policy, and for
simulated machines as for real ones. The books that are asked do not change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books.energy_budget import budget_now
from wattline.books.events import Cancelled, CapChanged, Ended, Event, Key, ReservationRemoved
from wattline.books.stuck import is_set_aside, stuck
from wattline.books.waiting import (
    added_each_w,
    added_w,
    ahead_of,
    alone_w,
    before_of,
    eligible_s,
    left_w,
    needed_j,
    reserving,
)
from wattline.model.errors import InputError
from wattline.policies.state import (
    ASIDE,
    CANCELLED,
    DONE,
    HELD,
    PAUSED,
    QUEUED,
    REFUSED,
    RUNNING,
)

if TYPE_CHECKING:
    from wattline.books.books import Books

REASONS = ("nodes", "watts", "set aside", "reservation", "priority", "dependency", "refused",
           "back-off", "energy", "policy", "paused", "starting", "running", "over")
"""What `Explanation.reason` can be."""


@dataclass(frozen=True)
class Explanation:
    """Why a job waits, or that it does not; `figures` has what the sentence counts."""

    job: Key
    reason: str
    sentence: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    expected_s: float | None = None
    """When it is expected to start, if all jobs take the time they asked for; None: not known."""

    @property
    def waits(self) -> bool:
        return self.reason not in ("starting", "running", "over", "refused")

    def to_dict(self) -> dict[str, Any]:
        return {"job": self.job, "reason": self.reason, "sentence": self.sentence,
                "figures": dict(self.figures), "expected_s": self.expected_s}


def explain(
    books: Books, job: Key, *, now_s: float = -math.inf, away: Mapping[str, int] | None = None
) -> Explanation:
    """Why a job of these books waits, in one sentence; it is expected to start `now_s` or later,
    where that is after what the books were told last. `away` says which nodes that the books have
    as out of order are so, or are off, or boot.

    >>> import wattline as wl
    >>> from wattline.books import Submitted, explain
    >>> node = {"node_idle_w": 90, "node_active_w": 300}
    >>> books = wl.open_books(machine=wl.Machine(nodes=8, **node), power="block", cap="1.5kW")
    >>> decided = books.step(0.0, [Submitted("a", 3, 600.0), Submitted("b", 2, 600.0)])
    >>> explain(books, "b").sentence
    'it waits for watts: it adds 420 W and the cap of 1,500 W leaves 150 W'
    """
    if job not in books.roll:
        if job in books.roll.over:
            return Explanation(job, "over", "it is over")
        raise InputError(f"the books know no job {job!r}")
    row = books.roll.row(job)
    state = int(books.state.live[row].state)
    if state == RUNNING:
        return _running(books, job, row)
    if state in (DONE, CANCELLED):
        said = "it was cancelled" if state == CANCELLED else "it has ended"
        return Explanation(job, "over", said)
    if state == REFUSED:
        return _refused(books, job, row)
    if state == HELD:
        found = _held(books, job, row)
    elif state == PAUSED:
        found = Explanation(job, "paused", "the policy has paused it")
    else:
        found = _queued(books, job, row, away or {})
    return replace(found, expected_s=expected_start_s(books, job, now_s=now_s))


def _running(books: Books, job: Key, row: int) -> Explanation:
    live = books.state.live[row]
    figures = {"since_s": float(live.start_s), "power_w": float(live.power_w)}
    if live.unconfirmed:
        return Explanation(job, "starting", "it was told to start and has not been seen to run",
                           figures)
    return Explanation(job, "running", "it runs", figures)


def _refused(books: Books, job: Key, row: int) -> Explanation:
    clock, needs_w = books.state.clock[0], alone_w(books.state, row)
    highest_w = float(clock.cap_w_max)
    figures = {"needs_w": needs_w, "highest_cap_w": highest_w}
    if needs_w > highest_w:
        said = (f"it was refused: alone on the machine it would take it to {needs_w:,.0f} W, above "
                f"the highest cap, {highest_w:,.0f} W")
    else:
        said = "it was refused: the policy could never start it, not even alone on the machine"
    return Explanation(job, "refused", said, figures)


def _held(books: Books, job: Key, row: int) -> Explanation:
    before = before_of(books.state, row)
    until_s = eligible_s(books, row)
    if before is not None and until_s is None:
        other = books.roll.key(before)
        return Explanation(job, "dependency", f"it waits for the end of job {other}",
                           {"after": other})
    if until_s is None:
        return Explanation(job, "dependency", "it waits for a job that has not been told of")
    wait_s = until_s - books.now_s
    if books.roll.jobs[row].after is not None and books.roll.jobs[row].think_s > 0:
        return Explanation(job, "dependency", f"the job before it has ended; it may start in "
                           f"{wait_s:,.0f} s", {"not_before_s": until_s})
    return Explanation(job, "back-off", f"a start of it failed; it is tried again in "
                       f"{wait_s:,.0f} s", {"not_before_s": until_s})


def _queued(books: Books, job: Key, row: int, counted: Mapping[str, int]) -> Explanation:
    """The first thing without which it would start; several together where no single one is it."""
    state = books.state
    clock, units = state.clock[0], int(state.live[row].units)
    figures = {"nodes": units, "free": int(clock.free), "adds_w": added_w(state, row),
               "left_w": left_w(state), "ahead": len(ahead_of(state, row))}
    never = stuck(books, row)
    if never is not None:
        reason = "set aside" if never.aside else "watts"
        return Explanation(job, reason, f"it waits for a higher cap: {never.sentence}",
                           figures | {"alone_w": never.alone_w, "behind": never.behind})
    if units > clock.free:
        away = {name: counted.get(name, int(getattr(clock, name)))
                for name in ("down", "reserved", "off", "changing")}
        shown = "".join(f", {count:,} {name}" for name, count in away.items() if count)
        return Explanation(job, "nodes", f"it waits for nodes: it asks for {units:,} and "
                           f"{int(clock.free):,} of {int(clock.units):,} are free{shown}",
                           figures | away)
    for reason, events in _tries(books, row):
        if events and _starts(books, job, events):
            return Explanation(job, reason, _SENTENCES[reason](books, row), figures)
    budget = budget_now(books)
    if budget is not None:
        return Explanation(job, "energy", "it waits for joules: the energy budget has "
                           f"{max(budget.left_j, 0.0):,.0f} J of this period that nobody was "
                           "promised", figures | {"left_j": budget.left_j})
    return Explanation(job, "policy", "the policy keeps it waiting: neither nodes, watts, "
                       "reservations nor the jobs before it are in its way", figures)


def _tries(books: Books, row: int) -> Iterable[tuple[str, list[Event]]]:
    """What could be otherwise, and how a copy of the books is told it."""
    ahead: list[Event] = [Cancelled(books.roll.key(other)) for other in ahead_of(books.state, row)]
    no_cap: list[Event] = [CapChanged()] if books.state.clock[0].cap_w < math.inf else []
    no_window: list[Event] = [ReservationRemoved(name) for name in reserving(books)]
    yield "priority", ahead
    yield "watts", no_cap
    yield "reservation", no_window
    # Two things in its way: the one that is named is that which the other would leave.
    yield "watts", [*ahead, *no_cap] if ahead and no_cap else []
    yield "reservation", [*ahead, *no_window] if ahead and no_window else []
    yield "watts", [*no_window, *ahead, *no_cap] if no_window and no_cap else []


def _starts(books: Books, job: Key, events: Iterable[Event]) -> bool:
    """Whether the policy would start a job now if these things had happened."""
    other = books.copy()
    other.untold = []
    return any(each.kind in ("start", "resume") and each.job == job
               for each in other.step(books.now_s, events))


def _watts(books: Books, row: int) -> str:
    state = books.state
    cap_w = float(state.clock[0].cap_w)
    adds_w, rest_w = added_w(state, row), left_w(state)
    if adds_w > rest_w:
        return (f"it waits for watts: it adds {adds_w:,.0f} W and the cap of {cap_w:,.0f} W leaves "
                f"{max(rest_w, 0.0):,.0f} W")
    return (f"it waits for watts: it adds {adds_w:,.0f} W, which the cap of {cap_w:,.0f} W has, "
            "but not for as long as it may run")


def _priority(books: Books, row: int) -> str:
    ahead = ahead_of(books.state, row)
    first = books.roll.key(ahead[0])
    never = "" if stuck(books, ahead[0]) is None else (
        ", which does not fit under the cap of now even on an empty machine")
    return (f"it waits for its turn: {len(ahead):,} before it, the first is job {first}{never}"
            if len(ahead) > 1 else f"it waits for its turn: job {first} comes before it{never}")


def _reservation(books: Books, row: int) -> str:
    names = ", ".join(reserving(books)[:3])
    return f"by the time it asks for, it would run into a reservation ({names})"


_SENTENCES: Mapping[str, Callable[[Books, int], str]] = {
    "watts": _watts, "priority": _priority, "reservation": _reservation}

MOST_STEPS = 200
"""So far a copy is run ahead: with thousands of jobs half a second of a processor, at most."""


def expected_start_s(books: Books, job: Key, *, now_s: float = -math.inf) -> float | None:
    """When a waiting job starts if nothing new comes and jobs take what they asked for.

    None where that is not known: it lies too far ahead, or behind a job that is overdue.
    """
    other = books.copy()
    other.untold = []
    now_s = max(books.now_s, now_s)
    events: list[Event] = []
    for _ in range(MOST_STEPS):
        decided = other.step(now_s, events)
        if any(each.kind in ("start", "resume") and each.job == job for each in decided):
            return now_s
        live = other.state.live[: len(other.roll)]
        running = np.flatnonzero(live.state == RUNNING)
        ends_s = live.expected_s[running]
        ahead_s = ends_s[ends_s > now_s]
        next_s = min(float(ahead_s.min(initial=math.inf)), other.next_s())
        if not now_s < next_s < math.inf:
            return None
        now_s = next_s
        due = running[(ends_s <= now_s) & (ends_s > other.now_s)]
        events = [Ended(other.roll.key(int(row))) for row in due]
    return None


def reasons_in_short(
    books: Books, rows: Sequence[int], now_s: float = -math.inf
) -> list[str]:
    """The likely reasons by the figures of the books alone, without trying: for long lists.

    Those of an energy budget are of `now_s`, or of the last step if that is later.
    """
    state = books.state
    free, room_w, budget = int(state.clock[0].free), left_w(state), budget_now(books, now_s)

    def reason(row: int, stage: int, units: int, adds_w: float) -> str:
        if stage == HELD:
            return "dependency" if eligible_s(books, row) is None else "back-off"
        if stage in (QUEUED, ASIDE):
            if stage == ASIDE and is_set_aside(books, row):
                return "set aside"
            if units > free:
                return "nodes"
            if adds_w > room_w:
                return "watts"
            if budget is not None and needed_j(books, row, budget) > budget.left_j:
                return "energy"
        return "paused" if stage == PAUSED else "priority"

    live = state.live[rows]
    return list(map(reason, rows, live["state"].tolist(), live["units"].tolist(),
                    added_each_w(state, rows)))
