"""The contract of a policy as tests: subclass `PolicyContract`, and be told what is wrong.

    class TestMine(PolicyContract):
        keeps_head = True          # it promises what EASY promises

        def make_policy(self):
            return composed(backfill=Mine())

A policy is a `Composition`, with one's own part along any of its axes, or an object with
`decide(view)`. The tests run it on random workloads with many ties, exact fits and early ends. They
use plain assertions; pytest finds them by name.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from wattline.books.snapshot import decide
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.cap_slack import CAP_SLACK
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.promises import HEAD, IN_ORDER
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.policies.contract import Composition
from wattline.policies.from_view import more_than_view
from wattline.policies.view import Action, Policy, View
from wattline.results.verify.judge import verify
from wattline.testing.five_ways import differences
from wattline.testing.parameters import parameters_of
from wattline.testing.promises import Key, delayed_jobs, queue_findings, submitted_first


def random_jobs(seed: int, count: int, units: int) -> JobTable:
    """Small whole times and sizes, so that ties, exact fits and early ends are common."""
    return _drawn(np.random.default_rng(seed), count, units)


def jobs_about_idle(seed: int, count: int, units: int, node: NodeClass) -> JobTable:
    """The same, of which each draws less than its nodes idle, as much, hardly more, or much more.
    """
    random = np.random.default_rng(seed)
    jobs = _drawn(random, count, units)
    idle_w, active_w = node.power_w_idle, node.power_w_active
    each_w = random.choice([0.1 * idle_w, 0.999 * idle_w, idle_w, 1.001 * idle_w + 0.001, active_w],
                           count)
    return jobs.with_columns(power_w=jobs.procs * each_w)


def _drawn(random: np.random.Generator, count: int, units: int) -> JobTable:
    requested_s = random.integers(1, 20, count)
    size = random.integers(1, units + 1, count)
    return JobTable.build(
        submit_s=np.cumsum(random.integers(0, 6, count)),
        run_s=np.where(random.random(count) < 0.5, requested_s,
                       random.integers(1, requested_s + 1)),
        requested_s=requested_s,
        procs=np.where(random.random(count) < 0.3, size, (size + 3) // 4),
        user=random.integers(0, 3, count),
    )


@dataclass
class Watched:
    """A policy that is looked at while it decides."""

    policy: Policy
    mutated_s: list[float] = field(default_factory=list)
    """Times at which the view was not what it had been before."""

    def decide(self, view: View) -> Iterable[Action]:
        before = copy.deepcopy(view)
        actions = list(self.policy.decide(view))
        if view != before:
            self.mutated_s.append(before.now_s)
        return actions


@dataclass(frozen=True)
class OnSnapshots:
    """A composition asked afresh at every instant, with nothing but the view."""

    composition: Composition

    def decide(self, view: View) -> list[Action]:
        return decide(self.composition, view)


class Ready(NamedTuple):
    """What a simulation takes."""

    jobs: JobTable
    machine: Machine
    policy: Composition | Policy
    rules: Rules


class PolicyContract:
    """Subclass it; write `make_policy`, and set what differs."""

    units = 12
    jobs = 30
    seeds: tuple[int, ...] = (1, 2, 3)
    cap_w: float | None = None
    choose_nodes = False
    """Whether nodes are chosen, as placements do; otherwise they are counted."""
    in_order = False
    """It promises what no backfilling at all does: nobody starts before one who stands before."""
    keeps_cap = False
    """It promises what power policies do: no start takes the machine above the cap, and no end."""
    keeps_head = False
    """It promises what EASY does: the first in the queue never loses its reservation."""
    keeps_all = False
    """It promises what conservative backfilling does: nobody is delayed by a later job."""
    queue_key: Key = staticmethod(submitted_first)
    """The order that `keeps_head` and `in_order` are about."""

    def make_policy(self) -> Composition | Policy:
        """A fresh policy for one run."""
        raise NotImplementedError("make_policy must return the policy to test")

    # ---- what the tests run ------------------------------------------------------------------

    def workloads(self) -> Iterator[JobTable]:
        for seed in self.seeds:
            yield random_jobs(seed, self.jobs, self.units)

    def workloads_about_idle(self) -> Iterator[JobTable]:
        """Jobs at whose end power rises, for policies that promise to keep a cap."""
        machine = self.ready(next(self.workloads())).machine
        for seed in self.seeds:
            yield jobs_about_idle(seed, self.jobs, machine.node_count, machine.groups[0].node_class)

    def rules(self) -> Rules:
        """Jobs are killed at their requested times: reservations rest on them."""
        cap = None if self.cap_w is None else Signal.constant(self.cap_w, "W")
        return Rules(overrun="kill", cap_w=cap, choose_nodes=self.choose_nodes)

    def machine(self) -> Machine:
        return Machine.uniform(self.units)

    def ready(self, jobs: JobTable) -> Ready:
        return Ready(jobs, self.machine(), self.make_policy(), self.rules())

    def play(self, jobs: JobTable, policy: Composition | Policy | None = None) -> Run:
        ready = self.ready(jobs)
        run = simulate(ready.jobs, ready.machine, policy or ready.policy, ready.rules)
        promises = replace(run.promises, keeps_cap=self.keeps_cap)
        return replace(run, promises=promises)

    def possible(self, jobs: JobTable) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which jobs could run alone on the machine; the others need not run."""
        if self.cap_w is None:
            return np.ones(len(jobs), dtype=np.bool_)
        node = self.machine().groups[0].node_class
        own_w = np.where(np.isnan(jobs.power_w), jobs.procs * node.power_w_active, jobs.power_w)
        rise_w = np.maximum(own_w - jobs.procs * node.power_w_idle, 0.0)
        return np.asarray(self.machine().power_w_idle + rise_w <= self.cap_w * (1 + CAP_SLACK))

    def left_over(self, run: Run) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which jobs did not run, though they could."""
        return np.asarray(self.possible(run.jobs) & ~run.ran)

    # ---- the contract ------------------------------------------------------------------------

    def test_no_unit_is_given_twice_and_the_log_adds_up(self) -> None:
        for jobs in self.workloads():
            broken = verify(self.play(jobs)).sentences
            assert not broken, broken

    def test_no_job_starts_before_its_submission(self) -> None:
        for jobs in self.workloads():
            run = self.play(jobs)
            early = run.schedule.start_s < jobs.submit_s
            assert not early.any(), f"jobs {jobs.job_id[early]} start before their submission"

    def test_every_job_runs_in_the_end(self) -> None:
        for jobs in self.workloads():
            left = self.left_over(self.play(jobs))
            assert not left.any(), f"jobs {jobs.job_id[left]} never ran, though they could"

    def test_the_same_input_gives_the_same_actions(self) -> None:
        for jobs in self.workloads():
            first, second = self.play(jobs).events, self.play(jobs).events
            for name in ("time_s", "kind", "job", "power_w", "value"):
                same = np.array_equal(getattr(first, name), getattr(second, name))
                assert same, f"two runs of the same jobs differ in '{name}' of the event log"

    def test_it_decides_the_same_simulated_told_saved_copied_and_replayed(self) -> None:
        for jobs in self.workloads():
            ready = self.ready(jobs)
            if not isinstance(ready.policy, Composition):
                return  # what it remembers is its own: the books cannot keep it
            broken = differences(ready.jobs, ready.machine, ready.policy, ready.rules)
            assert not broken, broken

    def test_a_run_leaves_the_parameters_as_they_were(self) -> None:
        for jobs in self.workloads():
            policy = self.ready(jobs).policy
            if not isinstance(policy, Composition):
                return  # an object keeps what it remembers in itself
            before = parameters_of(policy)
            self.play(jobs, policy)
            after = parameters_of(policy)
            changed = [name for name in before if before[name] != after[name]]
            assert not changed, (f"{', '.join(changed)} changed in a run: what a policy keeps "
                                 "between decisions stands in a Memory")

    def test_the_view_is_left_as_it_was(self) -> None:
        for jobs in self.workloads():
            policy = self.ready(jobs).policy
            if isinstance(policy, Composition):
                if more_than_view(policy):
                    return  # it is shown no view
                policy = OnSnapshots(policy)
            watched = Watched(policy)
            self.play(jobs, watched)
            times = watched.mutated_s
            assert not times, f"the policy changed its view {len(times)} times, at {times[:3]} s"

    def test_the_cap_holds_at_every_event(self) -> None:
        """At starts, ends and changes; also where jobs draw less than their nodes do idle."""
        if not self.keeps_cap:
            return
        for jobs in (*self.workloads(), *self.workloads_about_idle()):
            broken = verify(self.play(jobs)).sentences
            assert not broken, broken

    def test_the_head_of_the_queue_keeps_its_reservation(self) -> None:
        if not self.keeps_head:
            return
        for jobs in self.workloads():
            broken = list(queue_findings(self.play(jobs), HEAD, self.queue_key))
            assert not broken, broken

    def test_nobody_starts_before_one_who_stands_before_him(self) -> None:
        if not self.in_order:
            return
        for jobs in self.workloads():
            broken = list(queue_findings(self.play(jobs), IN_ORDER, self.queue_key))
            assert not broken, broken

    def test_nobody_is_delayed_by_a_later_job(self) -> None:
        if not self.keeps_all:
            return
        for jobs in self.workloads():
            broken = list(delayed_jobs(self.play(jobs), self.play))
            assert not broken, broken
