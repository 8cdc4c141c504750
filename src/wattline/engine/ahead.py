"""A machine at an instant, run ahead: what waits and runs there, jobs to come, another policy.

Books are copied, a policy takes them over, and the loop goes on from there with run times that
somebody supposes, up to a time. Where nothing is supposed but what the log says, it goes on as the
simulation would have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wattline.books import Books
from wattline.books.keeping import bring_up_to_date, integrate
from wattline.books.record import Record, make_record, unheard, unlogged, unplaced
from wattline.books.roll import OVER_STATES, Roll
from wattline.books.room import make_room
from wattline.books.rows import kept_rows, mend_chains, only_rows
from wattline.engine.again import Again
from wattline.engine.compiling import Parts
from wattline.engine.congestion import Congestion
from wattline.engine.counting import counting, nodes_are_alike, sharing, without_nodes
from wattline.engine.deferring import defer
from wattline.engine.going_on import come_to_rest, go_on, suppose
from wattline.engine.prepare import Rules, cap_steps, note_caps, shares_of, sizes_of
from wattline.engine.simulate import made_ready, run_compiled
from wattline.engine.telling import submissions
from wattline.engine.truth import TrueClaims
from wattline.engine.world import Simulated, make_ends
from wattline.model.errors import InputError
from wattline.model.jobs import IntArray, JobTable
from wattline.model.machine import Machine
from wattline.model.signal import FloatArray
from wattline.model.unit_power import unit_active_w
from wattline.policies.contract import Composition
from wattline.policies.memory import bound, each_memory, memories
from wattline.policies.state import DONE, REFUSED, RUNNING, State, fill_rows


class Moment(NamedTuple):
    """Books at an instant with the jobs that are not over, and rows for those to come."""

    books: Books
    jobs: JobTable
    """All rows: those that were there, then those to come."""
    came: int
    """How many of them were there at the instant: they wait, run, or are over and come before one
    that is still to run."""
    log_row: IntArray
    """Their rows in the log, where they come from one."""
    ended: IntArray
    """Rows of the log that had run to their end: who was refused, or cancelled, never did."""
    done_s: FloatArray
    """Seconds of work, at full speed, that each has done: less than it ran where it was slowed."""
    left_s: FloatArray
    """Seconds of work that are left of those whose work a configuration said when they began; NaN
    of all others."""

    @property
    def now_s(self) -> float:
        return self.books.now_s

    @property
    def running(self) -> Any:
        """Whether each row runs."""
        return self.books.state.live.state[: len(self.jobs)] == RUNNING

    @property
    def over(self) -> Any:
        """Whether each row is over, and there only because another one comes after it."""
        return np.isin(self.books.state.live.state[: len(self.jobs)], OVER_STATES)

    @property
    def waiting(self) -> Any:
        """Whether each row has come and waits."""
        return (np.arange(len(self.jobs)) < self.came) & ~self.running & ~self.over


def moment_of_log(
    jobs: JobTable, machine: Machine, policy: Composition, rules: Rules, at_s: float,
    until_s: float,
) -> Moment:
    """Simulate a log up to an instant; the jobs to come are those of the log up to `until_s`."""
    came = int(np.searchsorted(jobs.submit_s, at_s, side="right"))
    last = int(np.searchsorted(jobs.submit_s, until_s, side="right"))
    if came == 0:
        raise InputError(f"no job is submitted until {at_s:g} s")
    before = jobs.take(np.arange(came))
    logged = {name: column[:came] for name, column in rules.logged.items()}
    state, record, world, policy = made_ready(before, machine, policy,
                                              replace(rules, logged=logged))
    world.ends.tally[0].until_s = at_s
    state, record = run_compiled(state, record, world, policy)
    integrate(state, record, max(at_s, float(state.clock[0].now_s)))
    return moment(state, record, policy, machine, rules, jobs, came, np.arange(came, last))


def moment_of_books(
    books: Books, jobs: JobTable, rules: Rules, done_s: FloatArray
) -> Moment:
    """Books that were told of a real machine; the first of `jobs` are theirs, others may come.

    `done_s` is the work that theirs have done, which a machine does not tell. What was asked to
    start counts as started.
    """
    came = len(books.roll)
    state = books.state.copy()
    for place in range(state.clock[0].running):
        bring_up_to_date(state, state.running[place])
    state.live.unconfirmed[:came] = 0
    state.jobs.run_s[:came] = done_s
    state.live.work_s[:came] = 0.0
    here = moment(state, books.record, books.policy, books.machine, rules, jobs, came,
                  np.arange(came, len(jobs)))
    return here._replace(left_s=np.full(len(here.jobs), np.nan))


def moment(
    state: State, record: Record, policy: Composition, machine: Machine, rules: Rules,
    jobs: JobTable, came: int, later: IntArray,
) -> Moment:
    """The rows that are not over of a state whose rows are the first of `jobs`, and later ones."""
    kept = np.union1d(kept_rows(state, came, refused=True), _waited_for(state, jobs, came, later))
    ended = np.flatnonzero(state.live.state[:came] == DONE).astype(np.int64)
    rows = np.concatenate([kept, later])
    table = jobs.take(rows)
    count = len(kept)
    own_record = make_record(len(rows), 0, float(record.meter[0].start_s), state.nodes.size)
    for name in ("energy_j", "told_cap_w", "held_w", "timers", "peak_w"):
        own_record.meter[name] = record.meter[name]
    state = only_rows(state, own_record, kept, len(rows))
    size = sizes_of(table, machine, rules.granularity)
    own = ~np.isnan(table.power_w)
    watts = np.where(own, table.power_w, size * unit_active_w(machine, rules.granularity))
    fill_rows(state, count, _from(table, count), size[count:], watts[count:])
    last = int(state.jobs.turn[:count].max(initial=-1))  # those that were there come first
    state.jobs.turn[count:] = np.arange(last + 1, last + 1 + len(state.jobs) - count)
    state.jobs.after[: len(rows)] = table.after_job
    mend_chains(state.jobs, len(rows))
    state.live.own_watts[count:] = own[count:]
    state.jobs.share[count:] = shares_of(table, rules)[count:]
    own_record.meter.arrived = count
    roll = Roll()
    said = submissions(jobs, machine, rules)
    roll.jobs = [said(int(row)) for row in rows]
    roll._rows = {job.job: place for place, job in enumerate(roll.jobs)}
    # Once, so that no candidate has to.
    state, own_record = make_room(state, own_record, int(state.clock[0].running), keeps_log=False)
    policy = bound(each_memory(policy, lambda memory: memory.only(kept)), len(rows))
    for memory in memories(policy).values():
        memory.annotate(count, _from(table, count), _logged(rules, later))
    books = Books(machine, rules.terms, policy, state, own_record, roll)
    roll.table_of_all(books.now_s)  # once, for all candidates
    done_s = _done_s(state)
    return Moment(books, table, count, rows, ended, done_s, _configured_s(state, rules))


def _waited_for(state: State, jobs: JobTable, came: int, later: IntArray) -> IntArray:
    """Rows that came and that jobs to come depend on; one that was refused holds nobody up."""
    before: IntArray = jobs.after_job[later]
    before = before[(before >= 0) & (before < came)]
    refused: npt.NDArray[np.bool_] = state.live.state[before] == REFUSED
    return before[~refused]


def _done_s(state: State) -> FloatArray:
    for place in range(state.clock[0].running):
        bring_up_to_date(state, state.running[place])
    begun_once = ~np.isnan(state.live.start_s)
    return np.where(begun_once, state.jobs.run_s - state.live.work_s, 0.0)


def _configured_s(state: State, rules: Rules) -> FloatArray:
    """What is left of jobs whose work is not what the log says, but their configuration's table."""
    configured = (state.live.config > 0) | isinstance(rules.nature.work, TrueClaims)
    return np.where(configured & (state.live.state == RUNNING), state.live.work_s, np.nan)


@dataclass(frozen=True)
class Future:
    """What became of the jobs of a moment by a time."""

    run_s: FloatArray
    """How long jobs run in it, undisturbed."""
    start_s: FloatArray
    """NaN of those that have not started."""
    end_s: FloatArray
    refused: Any
    energy_j: float
    peak_w: float
    time_above_cap_s: float
    until_s: float


def memory_of_runs() -> Again:
    """Memory for runs ahead one after the other, of any candidates of a moment."""
    return Again(beside=("live",))  # `suppose` puts these back


class Candidate:
    """A moment under a policy and a cap, ready to be run ahead many times."""

    def __init__(
        self, moment: Moment, policy: Composition | None, rules: Rules, until_s: float
    ) -> None:
        """Without a policy the one that is there goes on, with all that it remembers."""
        self.moment, self.until_s, self.took_over = moment, until_s, policy is not None
        steps = cap_steps(rules, moment.now_s)
        books = sharing(moment.books, clock=moment.books.state.clock.copy())
        if nodes_are_alike(books, books.policy, rules.nature) and (
            policy is None or nodes_are_alike(books, policy, rules.nature)
        ):
            books = without_nodes(books)
            policy = None if policy is None else counting(policy)
        if policy is not None:
            clock = books.state.clock[0]
            note_caps(clock, steps)
            clock.cap_w = clock.cap_w if len(steps) else np.inf
        self.books = books.copy() if policy is None else books.with_policy(policy)
        self.books.record = unlogged(unplaced(unheard(self.books.record)))
        defer(self.books.state, self.books.policy, rules.nature)
        ends = make_ends(len(self.books.state.running), steps)
        ends.tally[0].until_s = until_s
        if len(steps) and policy is None:
            ends.tally[0].caps = 1  # the cap of now holds already
        world = Simulated(ends, *bound(rules.nature, len(moment.jobs)))
        for memory in memories(world).values():
            memory.annotate(0, moment.jobs, _logged(rules, moment.log_row))
        if isinstance(world.network, Congestion):
            world.network.flows.turn[: len(moment.jobs)] = moment.log_row
        self.world = world

    def run(self, run_s: FloatArray) -> Future:
        """Go on with these run times, of running jobs those from their start on.

        Of jobs whose configuration says how long they run, they say nothing.
        """
        return next(self.runs([run_s]))

    def runs(
        self, draws: Iterable[FloatArray], memory: Again | None = None
    ) -> Iterator[Future]:
        """The same for many draws, one after the other in the same memory.

        Several may go on at a time in threads, each with a `memory` of its own
        (`memory_of_runs`): kernels hold no lock.
        """
        books = self.books
        again = memory or memory_of_runs()
        again.take((books.state, books.record, self.world, books.policy))
        for run_s in draws:
            yield self._run(again.begin(), run_s)

    def _run(self, parts: Parts, run_s: FloatArray) -> Future:
        state, record, world, policy = parts
        moment = self.moment
        before_j = float(record.meter[0].energy_j)
        record.meter[0].peak_w = record.meter[0].time_above_s = 0.0
        record.meter[0].done = 0
        # A copy may be written: of arrays that may not, numba makes a kernel of its own.
        own_s = run_s.copy()
        suppose(state, self.books.state.live, own_s, moment.done_s, moment.left_s)
        go_on(state, record, world, policy, self.took_over)
        state, record = run_compiled(state, record, world, policy)
        start_s, end_s = np.empty(len(run_s)), np.empty(len(run_s))
        refused = np.empty(len(run_s), dtype=np.bool_)
        come_to_rest(state, record, self.until_s, start_s, end_s, refused)
        meter = record.meter[0]
        return Future(
            run_s=own_s, start_s=start_s, end_s=end_s, refused=refused,
            energy_j=float(meter.energy_j) - before_j, peak_w=float(meter.peak_w),
            time_above_cap_s=float(meter.time_above_s), until_s=self.until_s)


def _from(table: JobTable, first: int) -> JobTable:
    return table.take(np.arange(first, len(table)))


def _logged(rules: Rules, rows: IntArray) -> dict[str, Any]:
    return {name: column[rows] for name, column in rules.logged.items()}

