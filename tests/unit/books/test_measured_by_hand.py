"""Power that is measured, and what waiting jobs would add to it, worked out by hand.

Four nodes draw 100 W idle and 300 W busy.
"""

from __future__ import annotations

import pytest
from tests.support.workloads import compose

from wattline.books import Books, Measured, NodesDown, NodesUp, Started, Submitted, Terms
from wattline.books.keeping import set_level
from wattline.books.waiting import added_w, alone_w, left_w
from wattline.model.machine import Machine, NodeClass

FOUR = Machine.uniform(4, NodeClass(power_w_idle=100.0, power_w_active=300.0, power_w_off=10.0))


def opened(cap_w: float = 1000.0) -> Books:
    return Books.open(FOUR, compose(), Terms(), cap_w=cap_w)


@pytest.mark.parametrize(("measured_w", "drawn_w"), [
    ((450.0,), 450.0), ((450.0, 470.0), 470.0), ((470.0, 450.0), 450.0), ((450.0, 380.0), 400.0),
    ((380.0,), 400.0)])
def test_what_nothing_accounts_for_is_the_last_rest_that_was_measured(
    measured_w: tuple[float, ...], drawn_w: float
) -> None:
    """The idle machine draws 400 W by its parts; drawing less leaves no rest."""
    books = opened()
    for now_s, watts in enumerate(measured_w):
        books.step(now_s, [Measured(watts)])
    assert books.power_w == drawn_w


def test_a_rest_stays_beside_jobs_that_come_and_go() -> None:
    books = opened()
    books.step(0, [Measured(450.0), Submitted("a", 2, 10.0)])
    assert books.power_w == 850.0
    books.step(1, [Started("a"), Measured(840.0)])
    assert books.power_w == 840.0


def test_what_is_measured_at_a_lower_level_is_more_at_full_power() -> None:
    """360 W at a factor of 0.6 are 600 W: so much the job draws when the machine is fast again."""
    books = opened()
    books.step(0, [Submitted("a", 2, 100.0)])
    books.step(0, [Started("a")])
    set_level(books.state, books.record, books.world, 0.5, 0.6, 0)
    assert books.power_w == 200.0 + 360.0
    books.step(5, [Measured(300.0, "a")])
    assert books.power_w == 200.0 + 300.0
    set_level(books.state, books.record, books.world, 1.0, 1.0, 1)
    assert books.power_w == pytest.approx(200.0 + 500.0)


def test_what_waiting_jobs_add_and_what_the_cap_leaves() -> None:
    """A has all four nodes. B, of two, adds 400 W; C, of 150 W on two, nothing: they idle at 200 W.
    A draws 1,200 W under 1,500 W. Alone B would make it 800 W, and 700 W with a node down."""
    books = opened(cap_w=1500.0)
    books.step(0, [Submitted("a", 4, 100.0)])
    books.step(1, [Started("a"), Submitted("b", 2, 10.0), Submitted("c", 2, 10.0, watts=150.0)])
    state = books.state
    assert [added_w(state, row) for row in (1, 2)] == [400.0, 0.0]
    assert left_w(state) == 300.0
    assert (alone_w(state, 1), alone_w(state, 2)) == (800.0, 400.0)
    state.clock[0].down = 1
    assert alone_w(state, 1) == 700.0


def test_of_nodes_that_are_repaired_those_under_jobs_come_first() -> None:
    """A has three of four nodes; two fail: the free one is out at once, and one when A ends. One is
    repaired: that is the one under A, so that at its end three nodes are there."""
    books = opened()
    books.step(0, [Submitted("a", 3, 100.0)])
    books.step(1, [Started("a"), NodesDown(2)])
    clock = books.state.clock[0]
    assert (int(clock.down), int(clock.down_owed), int(clock.free)) == (1, 1, 0)
    books.step(2, [NodesUp(1)])
    assert (int(clock.down), int(clock.down_owed), int(clock.free)) == (1, 0, 0)
    assert books.power_w == 900.0 + 10.0
    books.step(3, [NodesUp(1)])
    assert (int(clock.down), int(clock.down_owed), int(clock.free)) == (0, 0, 1)
    assert books.power_w == 900.0 + 100.0
