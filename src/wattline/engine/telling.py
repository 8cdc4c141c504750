"""The simulated world as a teller: the same simulation, event by event through the books.

The loop (`wattline.engine.loop`) does all of this in one kernel and is what simulations run on.
Here every instant passes through `Books.step`, as it does on a live machine, so that it can be
written into a journal, saved in the middle, copied, and compared.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from wattline.books import Books, CapChanged, Ended, Event, Paced, Stalled, Started, Submitted
from wattline.books.decision import Decision
from wattline.books.events import Key
from wattline.books.keeping import bring_up_to_date
from wattline.books.roll import GRES, NAMED
from wattline.books.world import begun, paced
from wattline.engine.loop import is_completed
from wattline.engine.prepare import Rules, cap_steps, note_caps, sizes_of
from wattline.engine.world import Simulated, make_ends
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.policies.contract import Composition
from wattline.policies.memory import bound, memories
from wattline.policies.state import PAUSED, RUNNING, STARTING
from wattline.policies.traits import knows_run_times, regulates

Watch = Callable[[float, list[Event], tuple[Decision, ...], list[Event]], None]
"""Told of each instant: its time, events and decisions, and how the world answered."""


class Switch(NamedTuple):
    """From a time on another policy decides; `scenario` is what it was made from."""

    time_s: float
    policy: Composition
    scenario: Mapping[str, Any] | None = None


class Starting(NamedTuple):
    """A job that was told to start and will be seen to run at a time, with so much work to do."""

    time_s: float
    row: int
    work_s: float


def at_once(job: Key) -> float:
    """How long after the decision a job starts, unless something else is known."""
    return 0.0


class Teller:
    """Keeps books of a simulation and tells them, instant by instant, what its world does."""

    def __init__(
        self, jobs: JobTable, machine: Machine, policy: Composition, rules: Rules | None = None
    ) -> None:
        self.rules = rules or Rules()
        self.jobs = jobs
        self.submissions = submissions(jobs, machine, self.rules)
        start_s = float(jobs.submit_s[0]) if len(jobs) else 0.0
        self.caps = cap_steps(self.rules, start_s)
        highest_w = float(np.max(self.caps.cap_w)) if len(self.caps) else np.inf
        self.books = Books.open(machine, policy, self.rules.terms, start_s=start_s,
                                cap_w_max=highest_w)
        self.books.keeps_log = True
        self.books.world = self._world()
        self.arrived = 0
        self.taken = 0
        self.switches: list[Switch] = []
        self.further: list[tuple[float, Event]] = []
        """What happens beside ends, caps and submissions, in the order of time."""
        self.delay_s: Callable[[Key], float] = at_once
        """From the decision to the start; until then a job holds its units and does nothing."""
        self.starting: list[Starting] = []

    @classmethod
    def carrying_on(
        cls, books: Books, jobs: JobTable, rules: Rules, left_s: Mapping[Key, float],
        delay_s: Callable[[Key], float] = at_once,
    ) -> Teller:
        """The world of books that were told of something else until now, as by a journal.

        `jobs` are all jobs, from the books' first on; `left_s` says how much work is left of those
        that have begun. Starts that were asked for happen after `delay_s`, or have by now.
        """
        teller = cls(jobs, books.machine, books.policy, rules)
        teller.books = books
        teller.delay_s = delay_s
        teller.caps = cap_steps(rules, books.now_s)
        teller.arrived = count = len(books.roll)
        state = books.state
        state.jobs.run_s[:count] = state.live.work_s[:count] = jobs.run_s[:count]
        asked = set(np.flatnonzero(state.live.unconfirmed[:count] == STARTING).tolist())
        state.live.unconfirmed[:count] = 0
        books.world = teller._world()
        for paused in np.flatnonzero(state.live.state[:count] == PAUSED):
            state.live.work_s[paused] = left_s[books.roll.key(int(paused))]
        for row in sorted(int(row) for row in state.running[: state.clock[0].running]):
            bring_up_to_date(state, row)
            state.live.work_s[row] = left_s[books.roll.key(row)]
            begun(state, books.world, books.policy, row, True)
            if row in asked:
                teller._start_later(row, float(state.live.start_s[row]))
        return teller

    def _world(self) -> Simulated:
        ends = make_ends(len(self.books.state.running), self.caps[:0])
        world = Simulated(ends, *bound(self.rules.nature, len(self.jobs)))
        for memory in memories(world).values():
            memory.annotate(0, self.jobs, self.rules.logged)
        return world

    def next_s(self) -> float:
        """The time of the next instant, infinite when nothing more will happen."""
        times = [self.books.next_s()]
        ends = self.books.world.ends
        if ends.tally[0].ends:
            times.append(float(ends.heap[0].time_s))
        if self.arrived < len(self.jobs):
            times.append(float(self.jobs.submit_s[self.arrived]))
        if self.taken < len(self.caps):
            times.append(float(self.caps[self.taken].time_s))
        times += [switch.time_s for switch in self.switches[:1]]
        times += [time_s for time_s, _ in self.further[:1]]
        times += [start.time_s for start in self.starting[:1]]
        return max(min(times), self.books.now_s)

    def finished(self) -> bool:
        return int(self.books.record.meter[0].done) == len(self.jobs) or self.next_s() == np.inf

    def instant(self) -> tuple[float, list[Event], tuple[Decision, ...], list[Event]]:
        """Let the next instant happen: its time, events, decisions, and the world's answers."""
        now_s = self.next_s()
        self._switch(now_s)
        further = self._further(now_s)
        starts = self._starts(now_s)
        confirmed = [Started(self.books.roll.key(start.row)) for start in starts]
        events = [*self._ends(now_s), *confirmed, *self._caps(now_s), *self._arrivals(now_s),
                  *further]
        stalls = self._stalls()
        decisions = self.books.step(now_s, events)
        for start in starts:
            self._work(start)
        for decision in decisions:
            if decision.kind == "start" and decision.job is not None:
                self._start_later(self.books.roll.row(decision.job), now_s)
        refused = [each for each in self.books.refused if each.event not in further]
        for each in refused:
            if isinstance(each.event, Submitted):  # a job of the log that no machine could have
                raise InputError(each.reason)
        assert not refused, refused
        return now_s, events, decisions, [*self._answers(), *_changed(stalls, self._stalls())]

    def run(self, watch: Watch | None = None) -> Books:
        """All instants to the end."""
        while not self.finished():
            happened = self.instant()
            if watch is not None:
                watch(*happened)
        return self.books

    def switch(self, switches: Iterable[Switch]) -> None:
        """Let other policies decide later on, each from its time."""
        self.switches = sorted((*self.switches, *switches), key=lambda switch: switch.time_s)

    def _switch(self, now_s: float) -> None:
        while self.switches and self.switches[0].time_s <= now_s:
            _, policy, scenario = self.switches.pop(0)
            self.books.apply(now_s, ())
            if len(self.caps):
                note_caps(self.books.state.clock[0], self.caps)
            self.books = self.books.with_policy(policy, scenario)

    def _ending(self, now_s: float) -> list[int]:
        ends = self.books.world.ends
        heap = ends.heap[: ends.tally[0].ends]
        return sorted(int(job) for job in heap.job[heap.time_s <= now_s])

    def _ends(self, now_s: float) -> Iterator[Event]:
        for row in self._ending(now_s):
            yield Ended(self.books.roll.key(row), self._completes(row, now_s))

    def _completes(self, row: int, now_s: float) -> bool:
        """Whether the job's work will be done then; asked of a copy: the books are not there."""
        state = self.books.state
        alone = state.with_arrays(clock=state.clock.copy(), live=state.live[row:row + 1].copy(),
                                  jobs=state.jobs[row:row + 1])
        alone.clock[0].now_s = now_s
        bring_up_to_date(alone, 0)
        return bool(is_completed(alone, 0))

    def _caps(self, now_s: float) -> Iterator[Event]:
        while self.taken < len(self.caps) and self.caps[self.taken].time_s <= now_s:
            yield CapChanged(float(self.caps[self.taken].cap_w))
            self.taken += 1

    def _arrivals(self, now_s: float) -> Iterator[Event]:
        while self.arrived < len(self.jobs) and self.jobs.submit_s[self.arrived] <= now_s:
            yield self.submissions(self.arrived)
            self.arrived += 1

    def _further(self, now_s: float) -> list[Event]:
        due = [event for time_s, event in self.further if time_s <= now_s]
        self.further = self.further[len(due):]
        return due

    def _start_later(self, row: int, asked_s: float) -> None:
        """A job that the books have begun waits for the machine: its end is not in sight."""
        live = self.books.state.live
        time_s = asked_s + self.delay_s(self.books.roll.key(row))
        if time_s > self.books.now_s:
            insort(self.starting, Starting(time_s, row, float(live.work_s[row])))
            live.unconfirmed[row] = STARTING
            live.work_s[row] = np.inf
            paced(self.books.state, self.books.world, row)

    def _starts(self, now_s: float) -> list[Starting]:
        """Jobs that are now seen to run; one that was paused before that is only told its work."""
        due = [start for start in self.starting if start.time_s <= now_s]
        self.starting = self.starting[len(due):]
        live = self.books.state.live
        ends = set(self._ending(now_s))
        for start in due:
            if live.state[start.row] == PAUSED:
                live.work_s[start.row] = start.work_s
        return [start for start in due if live.state[start.row] == RUNNING
                and live.unconfirmed[start.row] and start.row not in ends]

    def _work(self, start: Starting) -> None:
        """From now on a job does something, and its end is known."""
        state = self.books.state
        bring_up_to_date(state, start.row)
        state.live.work_s[start.row] = start.work_s
        paced(state, self.books.world, start.row)

    def _answers(self) -> Iterator[Event]:
        record = self.books.record
        for answer in record.answers[: record.meter[0].answers]:
            yield Paced(self.books.roll.key(int(answer.job)), float(answer.rate),
                        float(answer.power_w), float(answer.stretch))

    def _stalls(self) -> Any:
        flows = getattr(self.books.world.network, "flows", None)
        return None if flows is None else flows.stalls.copy()


def _changed(before: Any, after: Any) -> Iterator[Event]:
    if before is not None and not np.array_equal(before, after):
        places = np.flatnonzero(before != after)
        yield Stalled({int(place): float(after[place]) for place in places})


def submissions(
    jobs: JobTable, machine: Machine, rules: Rules
) -> Callable[[int], Submitted]:
    """What is said of each job of a table when it is submitted."""
    size = sizes_of(jobs, machine, rules.granularity)
    share = np.asarray(rules.user_share, dtype=np.float64)

    def submitted(row: int) -> Submitted:
        codes = {column: int(getattr(jobs, column)[row]) for column in NAMED}
        codes = {column: code for column, code in codes.items() if code >= 0}
        said = {name: float(values[row]) for name, values in rules.logged.items()
                if values[row] == values[row]}
        after = int(jobs.after_job[row])
        user = codes.get("user", -1)
        return Submitted(
            job=row, units=int(size[row]), requested_s=float(jobs.requested_s[row]),
            watts=float(jobs.power_w[row]), procs=int(jobs.procs[row]), codes=codes,
            names={column: jobs.name_of(column, code) for column, code in codes.items()},
            share=float(share[user]) if share.size and user >= 0 else 0.0,
            after=after if after >= 0 else None, think_s=float(jobs.think_s[row]),
            logged={name: value for name, value in said.items() if not name.startswith(GRES)},
            gres={name.removeprefix(GRES): value for name, value in said.items()
                  if name.startswith(GRES)},
            work_s=float(jobs.run_s[row]),
        )

    return submitted


def declares_work(policy: Composition) -> bool:
    """Say whether a policy goes by the work that jobs declare: regulation, or claims on a log."""
    return regulates(policy.regulation) or knows_run_times(policy.configuration)
