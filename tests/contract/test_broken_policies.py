"""The contract finds what is wrong: each of these policies breaks one clause of it."""

from __future__ import annotations

import random

import pytest

from tests.contract.test_policies import FirstThatFits
from tests.support.workloads import compose
from wattline.model.errors import PolicyError
from wattline.policies.view import Pause, SetSpeed, Start
from wattline.testing import PolicyContract


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
    with pytest.raises(AssertionError, match="first in the queue, was promised"):
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
