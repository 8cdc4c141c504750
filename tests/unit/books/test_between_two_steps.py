"""Words and state of books between two steps, and of jobs that pause in a standstill."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.regulated import MACHINE, regulated
from tests.support.workloads import compose

from wattline.books import Books, Cancelled, Ended, Reserved, Started, Submitted, Terms
from wattline.books.deciding import apply_actions
from wattline.books.keeping import bring_up_to_date, pause, set_level
from wattline.model.machine import Machine, NodeClass
from wattline.policies.admission.block import Block
from wattline.policies.starting import start

FOUR = Machine.uniform(4, NodeClass(power_w_idle=100.0, power_w_active=300.0))


def running_a(**more: float) -> Books:
    """A job of two nodes since 0 s: the machine draws 800 W."""
    books = Books.open(FOUR, compose(), Terms())
    books.step(0, [Submitted("a", 2, 100.0, **more)])
    books.step(0, [Started("a")])
    return books


def test_energy_goes_on_between_two_steps_by_the_power_of_now() -> None:
    """800 W for 10 s, and 5 s more; a time before the last step takes nothing away."""
    books = running_a()
    books.step(10, [])
    assert books.energy_j == 8000.0
    assert books.energy_until_j(15.0) == 12_000.0
    assert books.energy_until_j(10.0) == books.energy_until_j(4.0) == 8000.0


def test_a_copy_says_what_was_decided_since_the_last_step() -> None:
    """The policy that took over refuses the wide job: the copy says it, and the books still do."""
    books = Books.open(FOUR, compose(), Terms(), cap_w=900.0, cap_w_max=900.0)
    books.step(0, [Submitted("a", 4, 100.0), Submitted("wide", 4, 10.0)])
    capped = books.with_policy(compose(admission=Block()))
    for each in (capped.copy(), capped):
        assert [(said.kind, said.job) for said in each.step(50, [Ended("a")])] == [
            ("refuse", "wide")]


def test_books_want_to_be_asked_at_the_earlier_of_a_timer_and_a_control_cycle() -> None:
    """Cycles are every two seconds; a reservation begins in one second, or in an hour."""
    for start_s, wanted_s in ((1.0, 1.0), (3600.0, 2.0)):
        books = Books.open(MACHINE, regulated("tracking"), Terms())
        books.step(0.0, [Reserved("r", start_s, 10.0, units=1)])
        assert books.refused == ()
        assert books.next_s() == wanted_s


def test_a_job_that_pauses_in_a_standstill_works_from_when_it_goes_on() -> None:
    """Slowed to half speed at 0 s it stands still for 20 s. Paused at 5 s with all its work to do,
    it goes on at 8 s: at 10 s it has worked for two seconds at half speed."""
    books = running_a(work_s=100.0)
    state, record, world, policy = books.state, books.record, books.world, books.policy
    state.clock[0].latency_s = 20.0
    set_level(state, record, world, 0.5, 0.6, 0)
    books.step(5, [])
    pause(state, record, world, policy, 0)
    live = state.live[0]
    assert (live.work_s, live.requested_s) == (100.0, 100.0)
    assert live.still_s == -np.inf
    books.apply(8, [])
    assert start(state, policy, 0)
    apply_actions(state, record, world, policy)
    books.apply(10, [])
    bring_up_to_date(state, 0)
    assert live.work_s == pytest.approx(99.0)
    assert live.energy_j == pytest.approx(7 * 360.0)


def test_a_paused_job_that_is_withdrawn_draws_nothing() -> None:
    books = running_a()
    books.apply(10, [])
    pause(books.state, books.record, books.world, books.policy, 0)
    assert books.power_w == 400.0
    books.step(20, [Cancelled("a")])
    assert books.energy_j == 8000.0 + 4000.0


def test_a_job_is_expected_for_its_request_from_when_it_was_seen_to_start() -> None:
    """Decided at 0 s and begun at 5 s, at half speed: its 100 s are over at 205 s."""
    books = Books.open(FOUR, compose(), Terms())
    books.step(0, [Submitted("a", 2, 100.0)])
    set_level(books.state, books.record, books.world, 0.5, 0.6, 0)
    books.step(5, [Started("a")])
    assert (float(books.state.live[0].start_s), float(books.state.live[0].expected_s)) == (5, 205)
