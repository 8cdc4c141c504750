"""One control cycle of QoSCap, worked out by hand.

Twelve servers of 50 W idle, 600 W together. A job of type `small` (one server) draws 70 W more at
its lowest cap and 150 W more at its highest.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.regulated import MACHINE, regulated

from wattline.books import Books, Submitted, Terms
from wattline.policies.regulation import qoscap
from wattline.policies.regulation.cycle import begin_cycle
from wattline.policies.regulation.desk import Desk

SMALL = 0


def small_jobs(count: int) -> list[Submitted]:
    return [Submitted(f"small{row}", 1, 30.0, application="small", codes={"application": SMALL},
                      work_s=12.0) for row in range(count)]


def books_of(running: int = 0, waiting: int = 0) -> tuple[Books, Desk]:
    """Books at the beginning of a cycle, with small jobs that run and that wait."""
    books = Books.open(MACHINE, regulated("qoscap"), Terms())
    if running:
        books.step(0, small_jobs(running))
    assert int(books.state.clock[0].running) == running
    if waiting:
        books.apply(0, small_jobs(waiting))
    desk = books.policy.regulation.desk
    assert begin_cycle(books.state, desk) == 0
    return books, desk


@pytest.mark.parametrize(("bias_w", "starts"), [(0.0, 7), (140.0, 5), (-140.0, 9)])
def test_as_many_jobs_start_as_fit_below_the_target_with_their_caps_down(
    bias_w: float, starts: int
) -> None:
    """1,090 W are 490 W above idle, 7 x 70 W; two less, or more, for 140 W that are drawn beside
    what the model knows."""
    books, desk = books_of(waiting=12)
    desk.control[0].target_w, desk.control[0].bias_w = 1090.0, bias_w
    fixed_w, low_w, high_w, reserved = qoscap._choose(books.state, desk, 0.0, 0.0, 0.0)
    assert desk.types[SMALL].starts == starts
    assert (fixed_w, low_w, high_w, reserved) == (0.0, 70.0 * starts, 150.0 * starts, False)


@pytest.mark.parametrize(("margin", "starts"), [(0.0, 12), (0.5, 0)])
def test_a_job_that_is_close_to_violation_starts_whatever_the_target_says(
    margin: float, starts: int
) -> None:
    """At its submission a job has used no part of its threshold: with a margin of 0 it is urgent at
    once. The target is what the machine draws idle."""
    books, desk = books_of(waiting=12)
    desk.control[0].target_w, desk.control[0].margin = 600.0, margin
    qoscap._choose(books.state, desk, 0.0, 0.0, 0.0)
    assert desk.types[SMALL].starts == starts


@pytest.mark.parametrize(("bias_w", "ratio"), [(0.0, 0.5), (80.0, 0.25), (-80.0, 0.75)])
def test_caps_meet_the_target_less_what_the_model_does_not_know(
    bias_w: float, ratio: float
) -> None:
    """Four jobs draw 280 W to 600 W above idle. 1,040 W are 440 W above idle: in the middle."""
    books, desk = books_of(running=4)
    control = desk.control[0]
    control.target_w, control.bias_w, control.margin = 1040.0, bias_w, 0.8
    assert qoscap._present(books.state, desk) == (0.0, 280.0, 600.0)
    assert qoscap._ratio(books.state, desk, 0.0, 280.0, 600.0) == pytest.approx(ratio)


@pytest.mark.parametrize(("limit_w", "bias_w", "lending", "urgent"), [
    (1200.0, 0.0, 1.0, 1.0), (1120.0, 0.0, 0.5, 1.0), (1040.0, 0.0, 0.0, 1.0),
    (960.0, 0.0, 0.0, 0.5), (1040.0, 80.0, 0.0, 0.5), (1040.0, -80.0, 0.5, 1.0),
    (880.0, 0.0, 0.0, 0.0)])
def test_under_a_hard_limit_the_lending_jobs_come_down_first_and_then_the_urgent_ones(
    limit_w: float, bias_w: float, lending: float, urgent: float
) -> None:
    """Two jobs of each, 140 W to 300 W above idle. 1,120 W are 520 W above idle: 300 W for the
    urgent ones leave 220 W. Of 360 W the lending ones have their least of 140 W, which leaves 220 W
    for the urgent ones."""
    books, desk = books_of(running=4)
    for job in books.state.running[:2]:
        desk.mark[job] = -1.0
    for job in books.state.running[2:4]:
        desk.mark[job] = 0.0
    desk.control[0].limit_w, desk.control[0].bias_w = limit_w, bias_w
    found = qoscap._within_limit(books.state, desk, 1.0)
    assert found == pytest.approx((lending, urgent))


@pytest.mark.parametrize(("beside", "starts"), [(0, 0), (1, 1), (2, 2)])
def test_beside_a_reservation_as_many_servers_are_given_away_as_it_leaves(
    monkeypatch: pytest.MonkeyPatch, beside: int, starts: int
) -> None:
    """Ten of twelve servers are in use. A large job, at its threshold, needs three: they are
    reserved for when some are left, beside which so many are free. Small jobs that last longer than
    until then take these and no others."""
    books, desk = books_of(running=10)
    large = Submitted("large", 3, 60.0, application="large", codes={"application": 1}, work_s=24.0)
    books.apply(0, [*(replace(job, job=f"more{row}") for row, job in enumerate(small_jobs(3))),
                    large])
    assert begin_cycle(books.state, desk) == 0
    monkeypatch.setattr(qoscap, "estimate", lambda st, desk, job: (0.1, 2.0)[st.jobs[job].kind])
    monkeypatch.setattr(qoscap, "reserve", lambda st, desk, servers, free: (100.0, beside))
    monkeypatch.setattr(qoscap, "ends_by", lambda st, desk, job, wait_s: wait_s > 100.0)
    desk.control[0].target_w, desk.control[0].reserve = 9e9, 1
    *_, reserved = qoscap._choose(books.state, desk, 0.0, 0.0, 0.0)
    assert reserved
    assert desk.types.starts.tolist() == [starts, 0]
