"""A simulation with somebody above it, who looks in from time to time and may change the policy."""

from __future__ import annotations

import time
from functools import cached_property

import numpy as np

from wattline.books import Books
from wattline.books.deciding import decide
from wattline.books.keeping import integrate
from wattline.books.record import Record, unheard
from wattline.books.roll import Roll
from wattline.engine.ahead import Moment, moment
from wattline.engine.loop import next_instant
from wattline.engine.prepare import Rules, cap_steps, highest_cap_w
from wattline.engine.simulate import collect, made_ready, run_compiled
from wattline.engine.telling import submissions
from wattline.engine.world import Ends, Simulated
from wattline.model.jobs import JobTable
from wattline.model.kernel import kernel
from wattline.model.machine import Machine
from wattline.model.run import Run
from wattline.policies.contract import Composition
from wattline.policies.state import State


class Supervised:
    """Runs up to times that are asked for; between them another policy may take over."""

    def __init__(
        self, jobs: JobTable, machine: Machine, policy: Composition, rules: Rules
    ) -> None:
        self.jobs, self.machine, self.rules = jobs, machine, rules
        self.state, self.record, self.world, self.policy = made_ready(jobs, machine, policy, rules)
        self.engine_s = 0.0

    @property
    def now_s(self) -> float:
        return float(self.state.clock[0].now_s)

    @property
    def next_s(self) -> float:
        """When something happens next, infinite where nothing will."""
        return float(next_time(self.state, self.record, self.world))

    @property
    def finished(self) -> bool:
        return int(self.record.meter[0].done) == len(self.jobs)

    def run_until(self, time_s: float) -> None:
        """Let all happen up to a time, and that time pass."""
        begin_s = time.perf_counter()
        self.world.ends.tally[0].until_s = time_s
        self.state, self.record = run_compiled(self.state, self.record, self.world, self.policy)
        if np.isfinite(time_s) and not self.finished:
            integrate(self.state, self.record, max(time_s, self.now_s))
        self.engine_s += time.perf_counter() - begin_s

    def moment(self, jobs: JobTable, rules: Rules) -> Moment:
        """What is there now; the first of `jobs` are those that came, the others may come."""
        came = int(self.record.meter[0].arrived)
        return moment(self.state.copy(), self.record, self.policy, self.machine, rules, jobs, came,
                      np.arange(came, len(jobs)))

    def switch(self, policy: Composition, rules: Rules) -> None:
        """From now on this policy decides, under the cap that its rules have."""
        books = Books(self.machine, self.rules.terms, self.policy, self.state, self.record,
                      self._roll, self.world)
        books.keeps_log = True
        steps = cap_steps(rules, self.now_s)
        books.state.clock[0].cap_w_max = highest_cap_w(self.state, steps)
        taken = books.with_policy(policy)
        ends = taken.world.ends
        tally = ends.tally.copy()
        tally.caps = 0
        own = Ends(heap=ends.heap, caps=steps, tally=tally)
        self.state, self.policy = taken.state, taken.policy
        self.record = unheard(taken.record)  # nobody empties the list of decisions between steps
        self.world = taken.world._replace(ends=own)
        take_over(self.state, self.record, self.world, self.policy)

    @cached_property
    def _roll(self) -> Roll:
        said = submissions(self.jobs, self.machine, self.rules)
        roll = Roll()
        roll.jobs = [said(row) for row in range(len(self.jobs))]
        roll._rows = {job.job: row for row, job in enumerate(roll.jobs)}
        return roll

    def finish(self) -> Run:
        """The rest, and the run as one."""
        self.run_until(np.inf)
        return collect(self.jobs, self.machine, self.rules, self.state, self.record, self.engine_s)


@kernel
def next_time(st: State, record: Record, world: Simulated) -> float:
    return next_instant(st, record, world)


@kernel
def take_over(st: State, record: Record, world: Simulated, policy: Composition) -> None:
    """Let a policy that took over decide, though nothing has happened."""
    decide(st, record, world, policy)


