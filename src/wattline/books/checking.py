"""Events before they are applied: what cannot be is refused by name, the rest is coded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books import stepping as code
from wattline.books.events import (
    ORDER,
    Cancelled,
    CapChanged,
    Changed,
    Counted,
    Ended,
    Event,
    Key,
    Measured,
    NodesDown,
    NodesUp,
    NotStarted,
    Paced,
    Refused,
    Started,
    Submitted,
)
from wattline.model.errors import InputError
from wattline.policies.state import ASIDE, HELD, PAUSED, PENDING, QUEUED, RUNNING

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
        self._coded: list[Coded] = []
        self._new_state: dict[int, int] = {}
        self._arriving: dict[Key, Submitted] = {}
        self._free = int(books.state.clock[0].free)
        self._taken: set[int] = set()
        self._out = int(books.state.clock[0].down + books.state.clock[0].down_owed)

    def coded(self, events: Iterable[Event]) -> list[Coded]:
        """The events that can be, in their order, as the kernel takes them."""
        given = list(events)
        if self.now_s < self.books.now_s or self.now_s != self.now_s:
            reason = f"the time {self.now_s:g} s lies before {self.books.now_s:g} s"
            self.refused += [Refused(event, reason) for event in given]
            return []
        known = [event for event in given if type(event) in _RANK]
        self.refused += [Refused(event, "this is no event") for event in given
                         if type(event) not in _RANK]
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
            reason = getattr(self, f"_{type(event).__name__.lower()}")(event)
        except (InputError, TypeError, ValueError, OverflowError) as error:
            reason = str(error)
        if reason:
            self.refused.append(Refused(event, reason))

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
        if reason:
            return reason
        if int(self.books.state.live[row].state) == PAUSED:
            return f"job '{event.job}' is paused"
        self._new_state[row] = -1
        self._free += int(self.books.state.live[row].units)
        self._add(code.ENDED, row, 1.0 if event.completed else 0.0)
        return ""

    def _started(self, event: Started) -> str:
        row, reason = self._known(event.job, RUNNING, QUEUED, ASIDE, HELD)
        if reason:
            return reason
        live = self.books.state.live[row]
        if self._new_state.get(row, int(live.state)) == RUNNING:
            if not live.unconfirmed or row in self._new_state:
                return f"job '{event.job}' was said to run already"
            self._new_state[row] = RUNNING
            self._add(code.CONFIRMED, row)
            return ""
        return self._started_elsewhere(event, row)

    def _started_elsewhere(self, event: Started, row: int) -> str:
        units = int(self.books.state.live[row].units)
        if units > self._free:
            return f"job '{event.job}' needs {units} units, {self._free} are free"
        if self.books.state.nodes.size:
            reason = self._nodes(event.nodes)
            if reason:
                return reason
            if len(event.nodes) != units:
                return f"job '{event.job}' is on {len(event.nodes)} nodes and asked for {units}"
            busy = [node for node in event.nodes
                    if not self.books.state.node_free[node] or node in self._taken]
            if busy:
                return f"node {busy[0]} is not free for job '{event.job}'"
            self._taken |= set(event.nodes)
            for place, node in enumerate(sorted(event.nodes)):
                self._add(code.NODE_OF, row, node, place)
        self._free -= units
        self._new_state[row] = RUNNING
        self._add(code.ELSEWHERE, row, len(event.nodes))
        return ""

    def _notstarted(self, event: NotStarted) -> str:
        row, reason = self._known(event.job, RUNNING)
        if reason:
            return reason
        if not self.books.state.live[row].unconfirmed or row in self._new_state:
            return f"job '{event.job}' was said to run already"
        if not 0 <= event.backoff_s < np.inf:
            return f"backoff_s is {event.backoff_s}, must be a number of seconds from 0 on"
        self._new_state[row] = HELD
        self._free += int(self.books.state.live[row].units)
        self._add(code.NOT_STARTED, row, event.backoff_s)
        return ""

    def _nodes(self, nodes: tuple[int, ...]) -> str:
        count = self.books.state.nodes.size
        strange = [node for node in nodes if not isinstance(node, int) or not 0 <= node < count]
        if strange:
            return f"there is no node {strange[0]!r}; they are 0 to {count - 1}"
        return "a node is named twice" if len(set(nodes)) < len(nodes) else ""

    def _nodesdown(self, event: NodesDown) -> str:
        return self._outage(event, code.DOWN)

    def _nodesup(self, event: NodesUp) -> str:
        return self._outage(event, code.UP)

    def _outage(self, event: NodesDown | NodesUp, kind: Any) -> str:
        clock = self.books.state.clock[0]
        if self.books.state.nodes.size:
            reason = self._nodes(event.nodes) or ("" if event.nodes else "no node is named")
            for node in () if reason else event.nodes:
                self._add(kind, node, 1)
            return reason
        up = kind == code.UP
        most = self._out if up else int(clock.units) - self._out
        if not isinstance(event.units, int) or not 0 < event.units <= most:
            return f"{event.units} units cannot be: {self._out} of {clock.units} are out of order"
        self._out += -event.units if up else event.units
        self._add(kind, -1, event.units)
        return ""

    def _capchanged(self, event: CapChanged) -> str:
        if not event.watts > 0:
            return f"a cap of {event.watts} W; it must be above 0"
        self._add(code.CAP, -1, event.watts)
        return ""

    def _measured(self, event: Measured) -> str:
        if not 0 <= event.watts < np.inf:
            return f"a power of {event.watts} W; it must be a number from 0 on"
        if event.job is None:
            self._add(code.MACHINE, -1, event.watts)
            return ""
        row, reason = self._known(event.job, RUNNING)
        if not reason:
            self._add(code.MEASURED, row, event.watts)
        return reason

    def _paced(self, event: Paced) -> str:
        row, reason = self._known(event.job, RUNNING)
        if reason:
            return reason
        if not 0 < event.rate < np.inf or not 0 < event.stretch < np.inf:
            return f"rate {event.rate} and stretch {event.stretch} must be above 0"
        if not 0 <= event.power_w < np.inf:
            return f"a power of {event.power_w} W; it must be a number from 0 on"
        self._add(code.PACED, row, event.rate, event.power_w, event.stretch)
        return ""

    def _counted(self, event: Counted) -> str:
        for router, stalls in event.stalls.items():
            self._add(code.COUNTED, int(router), stalls)
        return ""

    def _submitted(self, event: Submitted) -> str:
        units = int(self.books.state.clock[0].units)
        if event.job in self.books.roll or event.job in self._arriving:
            return f"job '{event.job}' was submitted before"
        if not isinstance(event.units, int) or not 1 <= event.units <= units:
            return f"job '{event.job}' asks for {event.units} units; the machine has {units}"
        if not 0 <= event.requested_s < np.inf or not 0 <= event.think_s < np.inf:
            return f"job '{event.job}': times must be numbers from 0 on"
        if event.watts < 0 or event.watts == np.inf or not event.work_s >= 0:
            return f"job '{event.job}': power and work must not be negative, and power finite"
        self._arriving[event.job] = event
        return ""

    def _admit(self) -> None:
        """Write the jobs that arrive into the books together; one by one where one is refused."""
        jobs, self._arriving = list(self._arriving.values()), {}
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

    def _admitted(self, jobs: list[Submitted]) -> None:
        first = self.books.admit(jobs, self.now_s)
        for row in range(first, first + len(jobs)):
            self._new_state[row] = QUEUED
            self._add(code.SUBMITTED, row)

    def _cancelled(self, event: Cancelled) -> str:
        row, reason = self._known(event.job, QUEUED, ASIDE, HELD)
        if not reason:
            self._new_state[row] = -1
            self._add(code.CANCELLED, row)
        return reason

    def _changed(self, event: Changed) -> str:
        if not 0 <= event.requested_s < np.inf:
            return f"requested_s is {event.requested_s}, must be a number of seconds from 0 on"
        row, reason = self._known(event.job, QUEUED, ASIDE, HELD, RUNNING)
        if not reason:
            self._add(code.CHANGED, row, event.requested_s)
        return reason


_RANK = {kind: rank for rank, kind in enumerate(ORDER)}
