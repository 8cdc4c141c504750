"""One control cycle of regulation by shares, worked out by hand.

Twelve servers of 50 W idle, 600 W together. A server with a job of type `small` (one server) draws
150 W more, with one of type `large` (three servers) 130 W more; both types weigh a half. So a level
of one costs 0.5 x 150 + 0.5 x 130 = 140 W.
"""

from __future__ import annotations

import pytest
from tests.support.regulated import MACHINE, regulated

from wattline.books import Books, Submitted, Terms
from wattline.policies.regulation.cycle import begin_cycle, modelled_w
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.preemption import pause_surplus
from wattline.policies.regulation.sharing import choose_by_share, planned_w, share_out

SMALL, LARGE = 0, 1


def with_waiting(small: int, large: int, **plan: object) -> tuple[Books, Desk]:
    """Books with so many waiting jobs of both types, at the beginning of a cycle."""
    books = Books.open(MACHINE, regulated("aqa", **plan), Terms())
    desk = books.policy.regulation.desk
    types = (("small", SMALL, 1, small), ("large", LARGE, 3, large))
    jobs = [Submitted(f"{name}{row}", servers, 30.0, application=name,
                      codes={"application": code}, work_s=12.0)
            for name, code, servers, count in types for row in range(count)]
    books.apply(0, jobs)
    assert books.refused == ()
    assert begin_cycle(books.state, desk) == 0
    return books, desk


def shares(books: Books, desk: Desk, target_w: float, bias_w: float) -> list[float]:
    control = desk.control[0]
    control.target_w, control.bias_w = target_w, bias_w
    share_out(books.state, desk)
    return desk.types.share.tolist()


def test_servers_are_shared_out_by_weights_in_the_watts_above_idle() -> None:
    """1,440 W are 840 W above idle, a level of six: half of it for each."""
    assert shares(*with_waiting(12, 4), 1440.0, 0.0) == pytest.approx([3.0, 3.0])


@pytest.mark.parametrize(("bias_w", "each"), [(140.0, 2.5), (-140.0, 3.5)])
def test_what_the_meter_shows_above_the_model_is_not_shared_out(
    bias_w: float, each: float
) -> None:
    """140 W more are drawn than the model knows, and so many less are left for jobs."""
    assert shares(*with_waiting(12, 4), 1440.0, bias_w) == pytest.approx([each, each])


def test_a_type_with_fewer_jobs_leaves_the_rest_to_the_others() -> None:
    """One small job takes 150 of 840 W: 690 W are 690 / 130 servers for large ones; two take
    300 W, which leaves 540 W."""
    assert shares(*with_waiting(1, 4), 1440.0, 0.0) == pytest.approx([1.0, 690.0 / 130.0])
    assert shares(*with_waiting(2, 4), 1440.0, 0.0) == pytest.approx([2.0, 540.0 / 130.0])
    assert shares(*with_waiting(12, 1), 1440.0, 0.0) == pytest.approx([450.0 / 150.0, 3.0])


@pytest.mark.parametrize(("bias_w", "starts"), [(0.0, [3, 1]), (140.0, [3, 1]), (-150.0, [4, 1])])
def test_a_lack_is_rounded_to_the_nearest_job(bias_w: float, starts: list[int]) -> None:
    """Shares of 3, 2.5 and 3.54 servers for small jobs, and of as many for large ones, which are
    1, 0.83 and 1.18 jobs of three servers."""
    books, desk = with_waiting(12, 4)
    shares(books, desk, 1440.0, bias_w)
    choose_by_share(books.state, desk)
    assert desk.types.starts.tolist() == starts


@pytest.mark.parametrize("bias_w", [-50.0, 0.0, 50.0])
def test_a_small_lack_starts_a_job_that_comes_nearer_to_the_target(bias_w: float) -> None:
    """952 W above idle and bias are a level of 6.8, 3.4 servers each. With three small jobs and a
    large one 112 W are left, more than half of the 150 W of a fourth small one."""
    books, desk = with_waiting(12, 4)
    shares(books, desk, 1552.0 + bias_w, bias_w)
    choose_by_share(books.state, desk)
    assert desk.types.starts.tolist() == [4, 1]


def test_the_bias_is_what_is_drawn_above_the_model() -> None:
    """With feedback: nothing runs and the machine draws 700 W where 600 W are idle."""
    books, desk = with_waiting(1, 1, feedback=True)
    books.state.clock[0].power_w = 700.0
    assert begin_cycle(books.state, desk) == 0
    assert modelled_w(books.state, desk, 1.0) == 600.0
    assert desk.control[0].bias_w == 100.0


@pytest.mark.parametrize(("bias_w", "pauses"), [(0.0, 1), (100.0, 2), (-100.0, 0)])
def test_jobs_are_paused_for_what_is_drawn_above_the_target_at_the_lowest_caps(
    bias_w: float, pauses: int
) -> None:
    """Four small jobs draw 4 x 70 W above idle at least, 880 W in all. The target is 840 W: pausing
    one comes nearer to it. Of 100 W that the model does not know two have to go."""
    books = Books.open(MACHINE, regulated("tracking", preempt=True), Terms())
    books.step(0, [Submitted(row, 1, 30.0, application="small", codes={"application": SMALL},
                             work_s=12.0) for row in range(4)])
    desk = books.policy.regulation.desk
    assert int(books.state.clock[0].running) == 4
    begin_cycle(books.state, desk)
    desk.control[0].target_w, desk.control[0].bias_w = 840.0, bias_w
    pause_surplus(books.state, desk)
    assert int(books.state.clock[0].actions) == desk.types[SMALL].pauses == pauses


def test_starts_are_planned_at_a_share_of_the_power_range() -> None:
    """Small jobs between 120 and 200 W: at a share of a quarter 140 W."""
    _, desk = with_waiting(1, 1)
    desk.control[0].start_share = 0.25
    assert planned_w(desk, SMALL) == 140.0
