"""Events before they are applied: what cannot be is refused by name, the rest is coded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books import stepping as code
from wattline.books.events import (
    ORDER,
    Cancelled,
    CapChanged,
    Changed,
    Ended,
    Event,
    Key,
    Measured,
    NodesDown,
    NodesUp,
    NotStarted,
    Paced,
    Refused,
    ReservationRemoved,
    Reserved,
    Stalled,
    Started,
    Submitted,
)
from wattline.books.possible import (
    MOST_FIGURE,
    MOST_RATE,
    is_number,
    is_whole,
    no_cap,
    no_energy,
    no_event,
    no_figure,
    no_job,
    no_power,
    no_reservation,
    shown,
)
from wattline.books.unit_counts import Units
from wattline.model.errors import InputError
from wattline.policies.control import nodes_of
from wattline.policies.memory import memories
from wattline.policies.state import ASIDE, HELD, OVER, PAUSED, PENDING, QUEUED, REFUSED, RUNNING
from wattline.policies.traits import regulates, routers_read

if TYPE_CHECKING:
    from wattline.books.books import Books

Coded = tuple[int, int, float, float, float]
STATES = {PENDING: "has not been submitted", HELD: "is held", QUEUED: "waits", ASIDE: "waits",
          RUNNING: "runs", PAUSED: "is paused"}


class Checker:
    """The events of one step, looked at in the order in which they will be applied."""

    def __init__(self, books: Books, now_s: float) -> None:
        self.books = books
        self.now_s = now_s
        self.refused: list[Refused] = []
        self.taken: list[Event] = []
        """Those that are not refused, in the order in which they are applied."""
        self._coded: list[Coded] = []
        self._new_state: dict[int, int] = {}
        self._arriving: dict[Key, Submitted] = {}
        self._units = Units.of(books.state)
        self._starts: list[Started] = []
        self._moves: dict[int, str] = {}
        """Starts on other nodes than those asked for, by their events, and why one cannot be."""
        clock = books.state.clock[0]
        self._out = int(clock.down) + int(clock.down_owed)
        self._broken = set(np.flatnonzero(books.state.node_down).tolist())
        self._removed: set[int] = set()
        self.possible = True
        """Whether there can be a step at this time."""

    def coded(self, events: Iterable[Event]) -> list[Coded]:
        """The events that can be, in their order, as the kernel takes them."""
        given = list(events)
        if not is_number(self.now_s) or not self.books.now_s <= self.now_s <= MOST_FIGURE:
            reason = f"the time {shown(self.now_s)} s is no time from {self.books.now_s:.15g} s on"
            self.refused += [Refused(event, reason) for event in given] or [Refused(None, reason)]
            self.possible = False
            return []
        known = []
        for event in given:
            reason = no_event(event)
            if reason:
                self.refused.append(Refused(event, reason))
            else:
                known.append(event)
        self._starts = [event for event in known if isinstance(event, Started)]
        for event in sorted(known, key=self._place):
            if self._arriving and not isinstance(event, Submitted):
                self._admit()
            self._look_at(event)
        self._admit()
        return self._coded

    def _place(self, event: Event) -> tuple[int, int]:
        """Kind first; ends in the order of rows; all else as it was given."""
        rank = _RANK[type(event)]
        if isinstance(event, Ended):
            return rank, self.books.roll.row(event.job) if event.job in self.books.roll else -1
        return rank, 0

    def _look_at(self, event: Event) -> None:
        try:
            reason = _LOOKS[type(event)](self, event)
        except (InputError, TypeError, ValueError, AttributeError, OverflowError) as error:
            reason = str(error) if isinstance(error, InputError) else (
                f"it holds what cannot be read ({error})")
        if reason:
            self.refused.append(Refused(event, reason))
        elif not isinstance(event, Submitted):  # what the policy has to know of those may lack
            self.taken.append(event)

    def _add(self, kind: Any, job: int, value: float = 0.0, more: float = 0.0,
             rest: float = 0.0) -> None:
        self._coded.append((int(kind), job, float(value), float(more), float(rest)))

    def _known(self, key: Key, *states: int) -> tuple[int, str]:
        """The row of a job, and why it is not in one of these states."""
        if key not in self.books.roll:
            return -1, f"no job '{key}' is known"
        row = self.books.roll.row(key)
        state = self._new_state.get(row, int(self.books.state.live[row].state))
        if state in states:
            return row, ""
        return row, f"job '{key}' {STATES.get(state, 'is over')}"

    def _ended(self, event: Ended) -> str:
        row, reason = self._known(event.job, RUNNING, PAUSED)
        reason = reason or no_energy(event.energy_j)
        if reason:
            return reason
        if not self._was_paused(row):  # such a job has given its units back
            self._give_back(row)
        self._new_state[row] = -1
        self._add(code.ENDED, row, 1.0 if event.completed else 0.0, event.energy_j)
        return ""

    def _was_paused(self, row: int) -> bool:
        """Whether a job that is over was paused; the policy lets it go on no more."""
        paused = int(self.books.state.live[row].state) == PAUSED
        if paused:
            for memory in memories(self.books.policy).values():
                memory.forget(row)
        return paused

    def _give_back(self, row: int) -> None:
        """What a job leaves: units that are out of order are not free."""
        state = self.books.state
        self._units.give_back(int(state.live[row].units), nodes_of(state, row))

    def _started(self, event: Started) -> str:
        starts, self._starts = self._starts, []
        self._move(starts)  # all of the step, before the first of them
        if id(event) in self._moves:
            return self._moves.pop(id(event))
        row, reason = self._known(event.job, RUNNING, QUEUED, ASIDE, HELD, REFUSED)
        if reason:
            return reason
        live = self.books.state.live[row]
        if event.nodes and not self.books.state.nodes.size and len(event.nodes) != live.units:
            return f"job '{event.job}' is on {len(event.nodes)} nodes and asked for {live.units}"
        if self._new_state.get(row, int(live.state)) == RUNNING:
            if not live.unconfirmed or row in self._new_state:
                return f"job '{event.job}' was said to run already"
            reason = self._nodes(event.nodes) if self.books.state.nodes.size else ""
            if not reason:
                self._new_state[row] = RUNNING
                self._add(code.CONFIRMED, row)
            return reason
        return self._started_elsewhere(event, row)

    def _move(self, events: list[Started]) -> None:
        """Jobs run on other nodes than those that were asked for: the books follow the machine.

        All of a step give their nodes back before any takes others: they may have changed places.
        """
        moving: dict[int, Started] = {}
        for event in events:
            row = self._moved_row(event)
            if row >= 0:
                moving.setdefault(row, event)
        while moving:
            before = self._units.copy()
            coded = len(self._coded)
            for row in moving:
                self._give_back(row)
                self._add(code.NOT_STARTED, row, 0.0)
            reasons = {row: self._started_elsewhere(event, row) for row, event in moving.items()}
            if not any(reasons.values()):
                self._moves |= {id(event): "" for event in moving.values()}
                return
            self._units = before
            del self._coded[coded:]
            for row, reason in reasons.items():
                self._new_state.pop(row, None)
                if reason:
                    self._moves[id(moving.pop(row))] = reason

    def _moved_row(self, event: Started) -> int:
        """The row of a job that was asked to start on other nodes than it is on, or -1."""
        roll, state = self.books.roll, self.books.state
        if event.job not in roll or not self._other_nodes(event, roll.row(event.job)):
            return -1
        row = roll.row(event.job)
        asked = state.live[row].state == RUNNING and state.live[row].unconfirmed
        return row if asked and row not in self._new_state else -1

    def _other_nodes(self, event: Started, row: int) -> bool:
        """Whether a start names nodes, and not those of the job."""
        if not self.books.state.nodes.size or not isinstance(event.nodes, tuple | list):
            return False
        return bool(event.nodes) and sorted(map(str, event.nodes)) != sorted(
            map(str, nodes_of(self.books.state, row)))

    def _started_elsewhere(self, event: Started, row: int) -> str:
        units = int(self.books.state.live[row].units)
        if units > self._units.most:
            return f"job '{event.job}' needs {units} units, {self._units.most} are free"
        if self.books.state.nodes.size:
            reason = self._nodes(event.nodes)
            if reason:
                return reason
            if len(event.nodes) != units:
                return f"job '{event.job}' is on {len(event.nodes)} nodes and asked for {units}"
            busy = self._units.busy(event.nodes)
            if busy:
                return f"node {busy[0]} is not free for job '{event.job}'"
            for place, node in enumerate(sorted(event.nodes)):
                self._add(code.NODE_OF, row, node, place)
        self._units.take(units, event.nodes)
        self._new_state[row] = RUNNING
        self._add(code.ELSEWHERE, row, len(event.nodes))
        return ""

    def _not_started(self, event: NotStarted) -> str:
        row, reason = self._known(event.job, RUNNING)
        if reason:
            return reason
        if not self.books.state.live[row].unconfirmed or row in self._new_state:
            return f"job '{event.job}' was said to run already"
        reason = no_figure("backoff_s", event.backoff_s)
        if reason:
            return reason
        self._new_state[row] = HELD
        self._give_back(row)
        self._add(code.NOT_STARTED, row, event.backoff_s)
        return ""

    def _nodes(self, nodes: tuple[int, ...]) -> str:
        count = self.books.state.nodes.size
        strange = [node for node in nodes if not is_whole(node) or not 0 <= node < count]
        if strange:
            return f"there is no node {shown(strange[0])}; they are 0 to {count - 1}"
        return "a node is named twice" if len(set(nodes)) < len(nodes) else ""

    def _nodes_down(self, event: NodesDown) -> str:
        return self._outage(event, code.DOWN)

    def _nodes_up(self, event: NodesUp) -> str:
        return self._outage(event, code.UP)

    def _outage(self, event: NodesDown | NodesUp, kind: Any) -> str:
        clock = self.books.state.clock[0]
        up = kind == code.UP
        if self.books.state.nodes.size:
            reason = self._nodes(event.nodes) or ("" if event.nodes else "no node is named") or (
                self._contradicts(event.nodes, up))
            for node in () if reason else event.nodes:
                self._add(kind, node, 1)
            return reason
        most = self._out if up else int(clock.units) - self._out
        if not is_whole(event.units) or not 0 < event.units <= most:
            return (f"{shown(event.units)} units cannot be: {self._out} of {clock.units} are out "
                    "of order")
        self._out += -event.units if up else event.units
        self._add(kind, -1, event.units)
        return ""

    def _contradicts(self, nodes: tuple[int, ...], up: bool) -> str:
        """Why nodes cannot go down or come up: they did before; otherwise they have now."""
        wrong = [node for node in nodes if (node in self._broken) != up]
        if wrong:
            return f"node {wrong[0]} is {'in order' if up else 'out of order already'}"
        self._broken = self._broken - set(nodes) if up else self._broken | set(nodes)
        return ""

    def _reservation_removed(self, event: ReservationRemoved) -> str:
        row = self.books.reservations.get(event.name, -1) if isinstance(event.name, str) else -1
        if row < 0 and any(held.name == event.name for held in self.books.terms.reservations):
            return (f"reservation '{event.name}' was there from the beginning and keeps watts, "
                    "which the cap that is told accounts for")
        if row < 0 or int(self.books.state.windows[row].stage) == OVER:
            return f"no reservation '{event.name}' is known that is not over"
        self._removed.add(row)
        del self.books.reservations[event.name]
        self._add(code.UNRESERVED, -1, row)
        return ""

    def _reserved(self, event: Reserved) -> str:
        reason = no_reservation(event, self.books, self.now_s, self._removed)
        if not reason:
            row = self.books.reserve(event, self.now_s, self._removed)
            self._add(code.RESERVED, -1, row)
        return reason

    def _cap_changed(self, event: CapChanged) -> str:
        reason = no_cap(event.watts)
        if not reason:
            self._add(code.CAP, -1, event.watts)
        return reason

    def _measured(self, event: Measured) -> str:
        reason = no_power(event.watts) or no_energy(event.energy_j)
        if reason:
            return reason
        if event.job is None:
            self._add(code.MACHINE, -1, event.watts)
            return ""
        row, reason = self._known(event.job, RUNNING)
        if not reason:
            self._add(code.MEASURED, row, event.watts, event.energy_j)
        return reason

    def _paced(self, event: Paced) -> str:
        row, reason = self._known(event.job, RUNNING)
        if reason:
            return reason
        for name, value in (("rate", event.rate), ("stretch", event.stretch)):
            if not is_number(value) or not 1 / MOST_RATE <= value <= MOST_RATE:
                return f"{name} is {shown(value)}, must be from {1 / MOST_RATE:g} to {MOST_RATE:g}"
        reason = no_power(event.power_w)
        if not reason:
            self._add(code.PACED, row, event.rate, event.power_w, event.stretch)
        return reason

    def _stalled(self, event: Stalled) -> str:
        routers = routers_read(self.books.policy.placement)
        if not routers:
            return "the placement of these books reads no counters of routers"
        strange = [router for router, stalls in event.stalls.items()
                   if not is_whole(router) or not 0 <= router < routers
                   or no_figure("stalls", stalls)]
        if strange:
            count = shown(event.stalls[strange[0]])
            return f"router {shown(strange[0])}: {count} stalls cannot be"
        for router, stalls in event.stalls.items():
            self._add(code.COUNTED, router, stalls)
        return ""

    def _submitted(self, event: Submitted) -> str:
        roll = self.books.roll
        if event.job in roll or event.job in self._arriving or event.job in roll.over:
            return f"job '{event.job}' was submitted before"
        reason = no_job(event, int(self.books.state.clock[0].units))
        if not reason and regulates(self.books.policy.regulation) and not event.work_s < np.inf:
            reason = "it declares no work (work_s), by which a contract's jobs are judged"
        if not reason and event.place is not None and event.place[0] > self.now_s:
            reason = f"it waits since {event.place[0]:.15g} s, which is to come"
        if reason:
            return f"job '{event.job}': {reason}"
        self._arriving[event.job] = event
        return ""

    def _admit(self) -> None:
        """Write the jobs that arrive into the books together; one by one where one is refused."""
        jobs, self._arriving = self._in_turn(), {}
        if not jobs:
            return
        try:
            self._admitted(jobs)
        except InputError as error:
            if len(jobs) == 1:
                self.refused.append(Refused(jobs[0], str(error)))
                return
            for job in jobs:
                self._arriving = {job.job: job}
                self._admit()

    def _in_turn(self) -> list[Submitted]:
        """The jobs that arrive as they were given, but each behind the one that it waits for."""
        placed: dict[Key, Submitted] = {}
        left = dict(self._arriving)
        for job in self._arriving.values():
            chain: dict[Key, Submitted] = {}
            key: Key | None = job.job
            while key is not None and key in left:
                chain[key] = left.pop(key)
                key = chain[key].after
            if key is not None and key in chain:
                self.refused += [Refused(each, f"job '{each.job}' would wait for itself")
                                 for each in chain.values()]
            else:
                placed |= dict(reversed(chain.items()))
        return list(placed.values())

    def _admitted(self, jobs: list[Submitted]) -> None:
        first = self.books.admit(jobs, self.now_s)
        self.taken += jobs
        for row in range(first, first + len(jobs)):
            self._new_state[row] = QUEUED
            job = jobs[row - first]
            ended_s = self.books.roll.over.get(job.after, -np.inf) if job.after is not None else (
                -np.inf)
            self._add(code.SUBMITTED, row, ended_s + job.think_s)

    def _cancelled(self, event: Cancelled) -> str:
        row, reason = self._known(event.job, QUEUED, ASIDE, HELD, PAUSED)
        if not reason:
            self._was_paused(row)
            self._new_state[row] = -1
            self._add(code.WITHDRAWN, row)
        return reason

    def _changed(self, event: Changed) -> str:
        reason = no_figure("requested_s", event.requested_s)
        if reason:
            return reason
        row, reason = self._known(event.job, QUEUED, ASIDE, HELD, RUNNING)
        if not reason:
            self._add(code.CHANGED, row, event.requested_s)
        return reason


_LOOKS: dict[type, Callable[[Checker, Any], str]] = {
    Ended: Checker._ended, Started: Checker._started, NotStarted: Checker._not_started,
    NodesDown: Checker._nodes_down, NodesUp: Checker._nodes_up,
    ReservationRemoved: Checker._reservation_removed, Reserved: Checker._reserved,
    CapChanged: Checker._cap_changed, Measured: Checker._measured, Paced: Checker._paced,
    Stalled: Checker._stalled, Submitted: Checker._submitted, Cancelled: Checker._cancelled,
    Changed: Checker._changed,
}
_RANK = {kind: rank for rank, kind in enumerate(ORDER)}
