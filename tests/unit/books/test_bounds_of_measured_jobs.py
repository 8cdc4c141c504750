"""Bounds of racks when the power of a running job turns out otherwise than was expected."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.workloads import compose

from wattline.books import Books, Ended, Measured, Paced, Started, Submitted, Terms
from wattline.books.events import Event
from wattline.model.machine import Machine, NodeClass
from wattline.model.views.build import power_view
from wattline.policies.placement.bounded import Bounded
from wattline.policies.placement.bounded_setup import bounded
from wattline.policies.placement.first_fit import FirstFit

RACK = Machine.uniform(4, NodeClass(power_w_idle=100.0, power_w_active=300.0), nodes_per_rack=4)


def rack_bound() -> Bounded:
    """1,000 W, of which 600 W above idle."""
    return bounded(power_view(RACK, limits_w={"rack0": 1000.0}), RACK)


def with_a_running() -> Books:
    """A job of two nodes with 400 W above idle, where the rack may have 600 W above idle."""
    books = Books.open(RACK, compose(placement=rack_bound()), Terms(choose_nodes=True))
    books.step(0, [Submitted("a", 2, 100.0)])
    books.step(1, [Started("a")])
    return books


def started(books: Books, now_s: float, *events: Event) -> list[object]:
    return [each.job for each in books.step(now_s, list(events)) if each.kind == "start"]


@pytest.mark.parametrize("told", [Measured(500.0, "a"), Paced("a", 1.0, 500.0),
                                  Paced("a", 0.5, 500.0)], ids=["measured", "paced", "slowed"])
def test_a_job_of_two_nodes_that_draws_less_leaves_that_much_once(told: Event) -> None:
    """600 W turn out to be 500 W: 300 W are left, enough for one job of 200 W and not for two. When
    A ends there are 400 W beside B: C starts, and nobody else has watts on its node."""
    books = with_a_running()
    books.step(2, [told])
    assert started(books, 3, Submitted("b", 1, 50.0), Submitted("c", 1, 50.0)) == ["b"]
    books.step(4, [Started("b")])
    assert started(books, 5, Ended("a")) == ["c"]
    assert started(books, 6, Started("c"), Submitted("d", 1, 9.0, watts=301.0)) == []
    assert started(books, 7, Submitted("e", 1, 9.0, watts=300.0)) == ["e"]


@pytest.mark.parametrize("told", [Measured(700.0, "a"), Paced("a", 1.0, 700.0)],
                         ids=["measured", "paced"])
def test_a_job_of_two_nodes_that_draws_more_takes_that_much_once(told: Event) -> None:
    """600 W turn out to be 700 W: 100 W are left, for one of two jobs of 80 W above idle."""
    books = with_a_running()
    books.step(2, [told])
    jobs = [Submitted(name, 1, 50.0, watts=180.0) for name in ("b", "c")]
    assert started(books, 3, *jobs) == ["b"]


def test_a_job_that_draws_less_than_idle_nodes_gives_nothing_of_that_to_others() -> None:
    """A's nodes draw 100 W where they would draw 200 W idle, and will again when it ends. Beside
    them 600 W are left, not 700 W: B has 400 W of them, and C, which needs 300 W, waits. With it
    the rack would draw 1,100 W from A's end on; with D it draws 1,000 W."""
    books = with_a_running()
    books.step(2, [Measured(100.0, "a")])
    two = [Submitted("b", 1, 50.0, watts=500.0), Submitted("c", 1, 50.0, watts=400.0)]
    assert started(books, 3, *two) == ["b"]
    assert started(books, 4, Started("b"), Ended("a")) == []
    assert started(books, 5, Submitted("d", 1, 9.0, watts=300.0)) == ["d"]
    assert books.power_w == 1000.0


def test_a_job_that_draws_more_than_idle_nodes_again_takes_what_it_draws_above_them() -> None:
    """From 100 W, below the 200 W of idle nodes, to 300 W: 100 W of the bound, and 500 W left."""
    books = with_a_running()
    books.step(2, [Measured(100.0, "a")])
    books.step(3, [Measured(300.0, "a")])
    assert books.policy.placement.memory.room_w.tolist() == [500.0]
    books.step(4, [Ended("a")])
    assert np.array_equal(books.policy.placement.memory.room_w, books.policy.placement.whole_w)


@pytest.mark.parametrize(("told", "left_w"), [
    (Measured(700.0, "a"), 100.0), (Paced("a", 1.0, 700.0), 100.0), (Paced("a", 0.5, 500.0), 300.0),
    (Measured(100.0, "a"), 600.0)], ids=["measured", "paced", "slowed", "below idle"])
def test_bounds_that_take_over_count_what_running_jobs_draw(told: Event, left_w: float) -> None:
    """Of 600 W above idle; the job said that it would draw 400 W."""
    books = Books.open(RACK, compose(placement=FirstFit()), Terms(choose_nodes=True))
    books.step(0, [Submitted("a", 2, 100.0)])
    books.step(1, [Started("a"), told])
    kept = books.with_policy(compose(placement=rack_bound()))
    memory = kept.policy.placement.memory
    assert memory.room_w.tolist() == [left_w]
    kept.step(4, [Ended("a")])
    assert memory.room_w.tolist() == [600.0]
