"""The books of a machine: told what happens, they say what to do.

    books = Books.open(machine, policy)
    decisions = books.step(now_s, [Submitted("4711", units=8, requested_s=3600.0)])

They have no clock and touch no file. The simulator keeps the same books with the same functions;
there a simulated world tells the events. See docs/books.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from wattline.books.checking import Checker
from wattline.books.decision import KINDS, Decision, refusal
from wattline.books.encoding import decode, encode, policy_names
from wattline.books.events import Event, Key, Refused, Reserved, Submitted
from wattline.books.journal import BEGIN, JournalWriter, Position
from wattline.books.opening import Terms, open_state, set_window_timers
from wattline.books.record import ANSWER, Record, copied_record, make_record
from wattline.books.roll import Roll, figures
from wattline.books.room import make_room
from wattline.books.rows import LEAST_ROWS, kept_rows, only_rows, rows_for, shrunk
from wattline.books.stepping import EVENT, SUBMITTED, step
from wattline.books.switching import under
from wattline.books.windows import free_row, names_of, write_window
from wattline.books.world import RealWorld, copied_world
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.unit_power import unit_active_w
from wattline.policies.contract import Composition, cycle_s
from wattline.policies.control import Control, control_of, level_settings, switched
from wattline.policies.memory import bound, each_memory, memories
from wattline.policies.state import REFUSED, State, reserve
from wattline.policies.state_records import ActionRecord

OVER_FROM, OVER_RATIO = 4096, 2
"""Jobs that are over are forgotten when there are so many, and so many times those that are not:
each then costs the same however long books are kept."""


class Books:
    """Make them with `open`; `state`, `record` and the policy's memories are all they know."""

    def __init__(
        self, machine: Machine, terms: Terms, policy: Composition, state: State, record: Record,
        roll: Roll, world: Any = None,
    ) -> None:
        self.machine = machine
        self.terms = terms
        self.policy = policy
        self.state = state
        self.record = record
        self.roll = roll
        self.world: Any = RealWorld() if world is None else world
        self.refused: tuple[Refused, ...] = ()
        """Events of the last step that cannot be."""
        self.untold: list[Decision] = []
        """What was decided since the last step: by a policy that took over, or of jobs that
        arrived without a decision. The next step says it."""
        self.reservations: dict[str, int] = {}
        """Rows of reservations by their names."""
        self.journal: JournalWriter | None = None
        """Where it is written what they are told and decide; see `keep_journal`."""
        self.written: Position | None = None
        """Of loaded books: where their journal stood when they were saved; see `carry_on`."""
        self.told = False
        """Whether anything has happened: a journal begins before it."""
        self.keeps_log = False
        """Whether the log of events grows on, for a result; otherwise each step begins it anew."""
        self.forgotten = 0
        """Jobs that are over and have no row any more."""
        self.done_then = 0
        """Jobs that were over when books last forgot names, which saving them does not do."""
        self.scenario: Mapping[str, Any] | None = None
        """What their policy was made from, where a journal says it: it is saved with them."""

    @classmethod
    def open(
        cls, machine: Machine, policy: Composition, terms: Terms | None = None, *,
        start_s: float = 0.0, cap_w: float = np.inf, cap_w_max: float = np.inf,
    ) -> Books:
        """Books of an idle machine without jobs; `cap_w_max` is the highest cap ever to come."""
        terms = terms or Terms()
        state = open_state(machine, terms, _NO_JOBS, _NO_JOBS.procs, _NO_JOBS.power_w, LEAST_ROWS)
        record = make_record(LEAST_ROWS, 0, start_s, state.nodes.size)
        record = record.with_arrays(decided=ActionRecord.table(64),
                                    answers=np.zeros(64, ANSWER).view(np.recarray))
        clock = state.clock[0]
        clock.now_s = start_s
        clock.cap_w = cap_w
        clock.cap_w_max = cap_w_max
        record.meter[0].told_cap_w = cap_w
        set_window_timers(state, record, start_s)
        policy = bound(policy.narrowed(len(state.windows)), LEAST_ROWS)
        if cycle_s(state, policy.regulation) < np.inf:
            record.meter[0].next_cycle_s = start_s
        books = cls(machine, terms, policy, state, record, Roll())
        books.reservations = names_of(terms.reservations)
        return books

    @property
    def now_s(self) -> float:
        return float(self.state.clock[0].now_s)

    @property
    def power_w(self) -> float:
        """What the machine is thought to draw now."""
        return float(self.state.clock[0].power_w)

    @property
    def energy_j(self) -> float:
        """What it drew from when the books were opened to the last step."""
        return float(self.record.meter[0].energy_j)

    def energy_until_j(self, now_s: float) -> float:
        """The same until a later time at which nothing has happened since the last step."""
        return self.energy_j + self.power_w * max(now_s - self.now_s, 0.0)

    def next_s(self) -> float:
        """When the books want to be asked again, whatever happens before."""
        meter = self.record.meter[0]
        timer_s = float(self.state.timers[0].time_s) if meter.timers else np.inf
        return min(timer_s, float(meter.next_cycle_s))

    def step(self, now_s: float, events: Iterable[Event] = ()) -> tuple[Decision, ...]:
        """Let time pass to `now_s`, apply the events, let the policy decide, say what it wants.

        Events that cannot be are left out and stand in `refused`, each with the reason.
        """
        taken = self._take(now_s, events, deciding=True)
        if taken is None:
            return ()
        decided = self.record.decided[: self.record.meter[0].decided]
        decisions = (*self.untold, *(self._decision(action) for action in decided))
        self.untold = []
        if self.journal is not None:
            self.journal.entry(now_s, taken, decisions, self.refused)
        return decisions

    def apply(self, now_s: float, events: Iterable[Event]) -> None:
        """The same without a decision: for what was measured after the last one."""
        taken = self._take(now_s, events, deciding=False)
        if taken is not None and self.journal is not None:
            self.journal.entry(now_s, taken, None, self.refused)

    def _take(
        self, now_s: float, events: Iterable[Event], deciding: bool
    ) -> Sequence[Event] | None:
        """Apply what can be; the events that were taken, or None where there can be no step."""
        self.record.meter[0].decided = 0
        self.record.meter[0].answers = 0
        self._forget_if_many()
        checker = Checker(self, now_s)
        coded = checker.coded(events)
        self.refused = tuple(checker.refused)
        if not checker.possible:
            if self.journal is not None:  # a line that only says so
                self.journal.entry(self.now_s, (), None, self.refused)
            return None
        self.told = True
        self.state, self.record = make_room(self.state, self.record, len(coded), self.keeps_log)
        array = np.array(coded, dtype=EVENT).view(np.recarray)
        step(self.state, self.record, self.world, self.policy, array, len(coded), now_s, deciding)
        if self.record.meter[0].undone:
            raise TypeError("a policy marked starts_only asked for more than starts")
        self.untold += [refusal(self.roll.key(job)) for kind, job, *_ in coded
                        if kind == SUBMITTED and self.state.live[job].state == REFUSED]
        return checker.taken

    def admit(self, submitted: Sequence[Submitted], now_s: float) -> int:
        """Write jobs into new rows, for the policy to know them; the first row."""
        first = len(self.roll)
        self._reserve(first + len(submitted))
        table = self.roll.table(submitted, now_s)
        self._annotate(first, table, submitted)  # it may refuse them: then nothing is written
        self.roll.write(self.state, first, submitted, table,
                        unit_active_w(self.machine, self.terms.granularity), self.forgotten)
        return first

    def place(self, key: Key) -> tuple[float, int] | None:
        """Since when a job waits, or did, and its turn: for a job that is to take its place."""
        row = self.roll.find(key)
        if row < 0:
            return None
        asked = self.state.jobs[row]
        return float(asked.submit_s), int(asked.turn)

    def reserve(self, event: Reserved, now_s: float, removed: set[int]) -> int:
        """Write a reservation into a row that is free, and was before this step."""
        self.state, row = free_row(self.state, removed)
        write_window(self.state, row, event, now_s)
        self.reservations = {name: other for name, other in self.reservations.items()
                             if other != row} | {event.name: row}
        if event.units:
            self.policy = self.policy.narrowed(1)
        return row

    def annotate_all(self) -> None:
        """Tell the policy of all jobs on the roll."""
        self._annotate(0, self.roll.table_of_all(self.now_s), self.roll.jobs)

    def _annotate(self, first: int, table: JobTable, jobs: Sequence[Submitted]) -> None:
        told = memories(self.policy).values()
        logged = figures(jobs) if told else {}
        for memory in told:
            memory.annotate(first, table, logged)

    def _reserve(self, rows: int) -> None:
        if rows <= len(self.state.jobs):
            return
        rows = max(rows, 2 * len(self.state.jobs))
        self.state = reserve(self.state, rows)
        self.policy = bound(self.policy, rows)

    def _decision(self, action: Any) -> Decision:
        kind = KINDS[int(action.kind)]
        row = int(action.job)
        if kind in ("start", "resume", "speed"):
            control = control_of(self.policy, self.state, row, float(action.cap_w))
        elif kind in ("down", "up"):
            control = switched(self.state, row, int(action.value))
        elif kind == "level":  # the row is the level's number
            control = Control(**level_settings(self.policy.admission, row))
        else:
            control = Control()
        key = self.roll.key(row) if kind in ("start", "resume", "speed", "pause") else None
        return Decision(kind, key, float(action.value), float(action.power_w), control)

    def copy(self) -> Books:
        """Books of their own that go on from here, to be run ahead without touching these."""
        other = Books(
            self.machine, self.terms, each_memory(self.policy, lambda memory: memory.copy()),
            self.state.copy(), copied_record(self.record, self.keeps_log), self.roll.copy(),
            copied_world(self.world),
        )
        other.keeps_log = self.keeps_log
        other.forgotten = self.forgotten
        other.done_then = self.done_then
        other.told = self.told
        other.untold = list(self.untold)
        other.reservations = dict(self.reservations)
        other.scenario = self.scenario
        return other

    def compact(self, refused: bool = False) -> None:
        """Forget jobs that are over; the others keep their order, which decides ties.

        Those that the policy refused only where `refused` says so: somebody may start them still.
        Not where rows mean something elsewhere: to a log that grows on, or to a simulated world.
        """
        if self.keeps_log or not isinstance(self.world, RealWorld):
            return
        kept = kept_rows(self.state, len(self.roll), refused)
        if len(kept) == len(self.roll):
            return
        self.roll.remember(self.state)
        self.policy = each_memory(self.policy, lambda memory: memory.only(kept))
        self.forgotten += len(self.roll) - len(kept)
        rows = rows_for(len(kept), len(self.state.jobs))
        self.state = only_rows(self.state, self.record, kept, rows)
        self.record = shrunk(self.record, rows)
        self.policy = bound(self.policy, rows)
        self.roll.keep(kept)

    def _forget_if_many(self) -> None:
        """Whether it is time for it depends on jobs alone, not on when books were saved."""
        done = int(self.record.meter[0].done)
        others = len(self.roll) - (done - self.forgotten)
        if done - self.done_then > max(OVER_FROM, OVER_RATIO * others):
            self.compact(refused=True)
            self.roll.forget_names()
            self.done_then = done

    def save(self, *, compact: bool = True) -> bytes:
        """All that the books know, to be loaded with the same policy.

        Without `compact` the jobs that are over are among it, as far as they have rows: that takes
        less time, if somebody forgets them now and then.
        """
        if compact:
            self.compact()
        return encode(self)

    @classmethod
    def load(cls, data: bytes, machine: Machine, policy: Composition, terms: Terms) -> Books:
        """Books that go on where saved ones were, to the same decisions."""
        return decode(cls, data, machine, policy, terms)

    def keep_journal(self, journal: JournalWriter, about: Mapping[str, Any] | None = None) -> None:
        """From now on write every step, and every change of policy, into this journal.

        Its first line says what these books begin with, and `about`: with `scenario` in it, a
        replay knows the policy. Copies write nothing.
        """
        if self.told:
            raise InputError("a journal begins with books that nothing was told of: a replay "
                             "starts with such ones; loaded books go on with the journal they "
                             "had (`wattline.books.carry_on`)")
        clock = self.state.clock[0]
        caps = {"cap_w": float(clock.cap_w), "cap_w_max": float(clock.cap_w_max)}
        finite = {name: watts for name, watts in caps.items() if watts < np.inf}  # as JSON has it
        journal.head({**(about or {}), "start_s": self.now_s, **finite})
        self.journal = journal
        self.scenario = (about or {}).get("scenario")

    def turn_page(self, journal: JournalWriter, about: Mapping[str, Any], begin: str) -> None:
        """From now on write into this journal instead; what it begins with is saved as `begin`.

        `about` is the first line of the one before; the cap is that of now, less nothing.
        """
        kept = {name: value for name, value in about.items() if name != "cap_w"}
        cap_w = float(self.record.meter[0].told_cap_w)
        cap = {"cap_w": cap_w} if cap_w < np.inf else {}
        journal.head({**kept, **cap, "start_s": self.now_s, BEGIN: begin})
        self.journal = journal

    def with_policy(
        self, policy: Composition, scenario: Mapping[str, Any] | None = None
    ) -> Books:
        """Books that go on from here under another policy; what it refuses, the next step says.

        Where these have a journal it says so, with the `scenario` that the policy is made from, and
        goes on with the new books. To try a policy out, change that of a copy.
        """
        other = under(self, policy)
        other.scenario = scenario
        if self.journal is not None:
            said = {} if scenario is None else {"scenario": dict(scenario)}
            self.journal.policy(self.now_s, {"axes": policy_names(other.policy), **said})
            other.journal, self.journal = self.journal, None
        return other


_NO_JOBS = JobTable.build(submit_s=[], run_s=[], procs=[])
