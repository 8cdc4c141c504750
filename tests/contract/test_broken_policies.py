"""The contract finds what is wrong: each of these policies breaks one clause of it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.contract.test_policies import FirstThatFits
from tests.support.workloads import compose
from wattline.model.errors import PolicyError
from wattline.model.kernel import implement, kernel
from wattline.policies.contract import queue_key
from wattline.policies.plain import PlainEasy
from wattline.policies.view import Pause, SetSpeed, Start
from wattline.testing import PolicyContract, broken_clauses


class Contract(PolicyContract):
    """Not collected by its name: the tests below call its clauses."""

    keeps_head = True

    def __init__(self, make, **settings):
        self.make_policy = make
        for name, value in settings.items():
            setattr(self, name, value)


class StartsEverything:
    def decide(self, view):
        return [Start(job.job) for job in view.queue]


class PassesTheHead:
    """Backfilling without a reservation: whatever fits starts."""

    def decide(self, view):
        free, starts = view.free, []
        for job in view.queue:
            if job.units <= free:
                free -= job.units
                starts.append(Start(job.job))
        return starts


class Hasty:
    """Starts a job that has not been submitted yet."""

    def decide(self, view):
        seen = {job.job for job in (*view.queue, *view.running, *view.paused)}
        return [Start(max(seen, default=0) + 1)]


class Starves(FirstThatFits):
    """Never starts a job that needs half of the machine."""

    def decide(self, view):
        return [s for s in PassesTheHead().decide(view)
                if next(j for j in view.queue if j.job == s.job).units < view.units // 2]


class Rewrites(FirstThatFits):
    def decide(self, view):
        object.__setattr__(view, "free", 0)
        return super().decide(view)


class WritesIntoSignals(FirstThatFits):
    def decide(self, view):
        view.signals["last_s"] = view.now_s
        return super().decide(view)


class Moody(FirstThatFits):
    def decide(self, view):
        return super().decide(view) if random.random() < 0.7 or not view.running else []


def test_overcommitting_is_caught():
    with pytest.raises(PolicyError, match="overcommits"):
        Contract(StartsEverything).test_no_unit_is_given_twice_and_the_log_adds_up()


def test_a_delayed_head_is_caught():
    with pytest.raises(AssertionError, match="first in the queue, which can then start at"):
        Contract(PassesTheHead).test_the_head_of_the_queue_keeps_its_reservation()


def test_easy_does_not_pass_for_conservative():
    contract = Contract(compose, keeps_all=True)
    with pytest.raises(AssertionError, match="could count on"):
        contract.test_nobody_is_delayed_by_a_later_job()


def test_starting_a_job_that_is_not_there_is_caught():
    with pytest.raises(PolicyError, match="is not waiting"):
        Contract(Hasty).test_no_job_starts_before_its_submission()


def test_starving_is_caught():
    with pytest.raises(AssertionError, match="never ran"):
        Contract(Starves).test_every_job_runs_in_the_end()


@pytest.mark.parametrize("policy", [Rewrites, WritesIntoSignals])
def test_writing_into_the_view_is_caught(policy):
    with pytest.raises(AssertionError, match="changed its view"):
        Contract(policy).test_the_view_is_left_as_it_was()


def test_moods_are_caught():
    with pytest.raises(AssertionError, match="two runs of the same jobs differ"):
        Contract(Moody).test_the_same_input_gives_the_same_actions()


class LastFirst(FirstThatFits):
    """The youngest first, whatever it promises."""

    def decide(self, view):
        starts = super().decide(replace(view, queue=view.queue[::-1]))
        return starts if starts else super().decide(view)


def test_starting_out_of_order_is_caught():
    contract = Contract(LastFirst, in_order=True)
    with pytest.raises(AssertionError, match="waits, which stands before it"):
        contract.test_nobody_starts_before_one_who_stands_before_him()
    Contract(FirstThatFits, in_order=True).test_nobody_starts_before_one_who_stands_before_him()


def test_starting_above_the_cap_is_caught():
    clause = "test_no_unit_is_given_twice_and_the_log_adds_up"
    with pytest.raises(AssertionError, match="over the cap"):
        getattr(Contract(FirstThatFits, keeps_cap=True, cap_w=2000.0), clause)()
    getattr(Contract(FirstThatFits, keeps_cap=True, cap_w=1e6), clause)()


class BlocksByPowerOfNow(FirstThatFits):
    """Keeps the cap at every start, and gives away the watts of nodes that idle again."""

    def decide(self, view):
        free, power_w = view.free, view.power_w
        for job in view.queue:
            rise_w = job.watts - job.units * view.idle_w
            if job.units <= free and power_w + rise_w <= view.cap_w:
                free, power_w = free - job.units, power_w + rise_w
                yield Start(job.job)


def test_an_end_that_takes_the_machine_above_the_cap_is_caught():
    clause = "test_the_cap_holds_at_every_event"
    with pytest.raises(AssertionError, match="the power rises over the cap"):
        getattr(Contract(BlocksByPowerOfNow, keeps_cap=True, cap_w=1600.0), clause)()
    getattr(Contract(BlocksByPowerOfNow, keeps_cap=True, cap_w=1e6), clause)()
    getattr(Contract(lambda: PlainEasy(block=True), keeps_cap=True, cap_w=1600.0), clause)()


def test_all_clauses_together_name_those_that_are_broken():
    found = broken_clauses(Contract(StartsEverything))
    assert "overcommits" in found["test_every_job_runs_in_the_end"]
    assert broken_clauses(Contract(FirstThatFits)) == {}


class Counts(NamedTuple):
    """An order that writes into its parameters."""

    asked: Any


@implement(queue_key, Counts)
@kernel
def _key(st, order, job):
    order.asked[0] += 1.0
    return float(order.asked[0])


class Counting(PolicyContract):
    seeds, jobs = (1,), 8

    def make_policy(self):
        return compose(order=Counts(np.zeros(1)))


def test_writing_into_the_parameters_is_caught():
    found = broken_clauses(Counting())
    assert "policy.order.asked changed in a run" in found[
        "test_a_run_leaves_the_parameters_as_they_were"]


class Twice:
    def __init__(self, *actions):
        self.actions = actions

    def decide(self, view):
        return self.actions if view.running else [Start(view.queue[0].job)]


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ((Pause(0), Pause(0)), "pause job 0, which does not run"),
        ((Pause(0), SetSpeed(0, 1.0, 10.0)), "set the speed of job 0, which does not run"),
        ((SetSpeed(0, 0.0, 10.0),), "speed must be positive"),
        ((SetSpeed(0, 1.0, -10.0),), "must not be negative"),
        ((Start(0),), "not waiting"),
        (("start",), "is not an action"),
    ],
)
def test_actions_that_make_no_sense_are_refused(actions, message):
    with pytest.raises(PolicyError, match=message):
        Contract(lambda: Twice(*actions)).test_no_unit_is_given_twice_and_the_log_adds_up()
