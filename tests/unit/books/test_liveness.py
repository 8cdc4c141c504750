"""A job that could start and never does is found, by whoever compares policies."""

from __future__ import annotations

from typing import NamedTuple

from tests.support.choices import planned
from tests.support.workloads import compose

from wattline.books import Books, CapChanged, Submitted
from wattline.model.kernel import implement, kernel
from wattline.model.machine import Machine
from wattline.policies.contract import schedule
from wattline.testing.five_ways import differences
from wattline.testing.liveness import stuck


class Sleepy(NamedTuple):
    axis = "backfill"


@implement(schedule, Sleepy)
@kernel
def _never(st, backfill, policy):
    return


def test_jobs_that_a_policy_never_starts_are_named() -> None:
    def books(**axes):
        opened = Books.open(Machine.uniform(4), compose(**axes))
        opened.step(0.0, [Submitted("small", 2, 60.0), Submitted("other", 4, 60.0)])
        return opened

    found = [stuck(books(backfill=Sleepy())), stuck(books())]
    assert found == [["job small waits for ever", "job other waits for ever"], []]


def test_the_five_ways_include_that_nobody_waits_for_ever() -> None:
    """They decide the same, nothing at all; that alone would pass for good."""
    ready = planned("order.fcfs")
    found = [differences(ready.jobs, ready.machine, policy, ready.rules)
             for policy in (ready.policy._replace(backfill=Sleepy()), ready.policy)]
    assert found[0][0] == "from the middle on, job 0 waits for ever"
    assert found[1] == []


def test_a_job_that_no_budget_has_room_for_is_held_and_not_forgotten() -> None:
    ready = planned("power.budget, charged")
    assert differences(ready.jobs, ready.machine, ready.policy, ready.rules) == []


def test_jobs_may_wait_for_a_window_that_is_planned_but_not_for_ever() -> None:
    """Nobody but the teller of events says that it is over: the check has to."""
    ready = planned("power.adaptive, window")
    books = Books.open(ready.machine, ready.policy, ready.rules.terms, cap_w_max=3000.0)
    books.step(0.0, [CapChanged(3000.0), Submitted("long", 12, 1e6)])
    found = [stuck(books.copy(), 3000.0), stuck(books.copy(), 3000.0, 700.0)]
    assert found == [["job long waits for ever"], []]
