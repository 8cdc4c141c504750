"""What an energy budget has left at a moment, by hand and as a decision would sum it up.

Eight nodes of 90 W idle and 300 W busy: 720 W idle, a busy node 210 W more. A period of an hour has
1 kWh, 3.6 MJ, of which idle nodes draw 2.592 MJ.
"""

from __future__ import annotations

import numpy as np
import pytest

import wattline as wl
from wattline.books import Books, Ended, Measured, Submitted
from wattline.books.energy_budget import BudgetNow, budget_now
from wattline.policies.admission.budget_book import sum_up

ABOVE_J = 3.6e6 - 2.592e6


def opened(**terms: str) -> Books:
    return wl.open_books(
        machine=wl.Machine(nodes=8, node_idle_w=90, node_active_w=300),
        power=wl.Budget(energy="1kWh", period="1h", strategy="idle", **terms))


def at(books: Books, now_s: float) -> BudgetNow:
    found = budget_now(books, now_s)
    assert found is not None
    return found


def test_books_without_a_budget_and_books_before_a_decision_have_none() -> None:
    free = wl.open_books(machine=wl.Machine(nodes=8, node_idle_w=90, node_active_w=300))
    free.step(0.0, [])
    assert budget_now(free) is None
    assert budget_now(opened()) is None


def test_what_a_job_did_not_draw_is_left_when_it_ends_though_nobody_waits() -> None:
    """It was promised 210 W for 600 s, 126,000 J, and ends after 100 s with 21,000 J."""
    books = opened()
    books.step(0.0, [Submitted("a", 1, 600.0)])
    assert at(books, 50.0).left_j == pytest.approx(ABOVE_J - 126_000.0)
    books.step(100.0, [Ended("a")])
    for now_s in (100.0, 300.0):
        assert at(books, now_s).left_j == pytest.approx(ABOVE_J - 21_000.0)
    assert at(books, 300.0).at_s == 300.0


@pytest.mark.parametrize(("unspent", "saved_j"), [("expire", 0.0), ("carry", ABOVE_J - 42_000.0)])
def test_a_period_that_began_without_an_event_is_the_one_of_now(
    unspent: str, saved_j: float
) -> None:
    """A job of 400 s begins 200 s before the end of the first period: 42,000 J are of each."""
    books = opened(unspent=unspent)
    books.step(0.0, [])
    books.step(3400.0, [Submitted("a", 1, 400.0)])
    found = at(books, 3700.0)
    assert (found.number, found.start_s, found.end_s) == (2, 3600.0, 7200.0)
    assert found.saved_j == pytest.approx(saved_j)
    assert found.left_j == pytest.approx(saved_j + ABOVE_J - 42_000.0)


def test_a_job_that_is_overdue_may_stay_to_the_end_of_the_period() -> None:
    """Of 600 s; at 1,000 s it is promised all that is left of the hour."""
    books = opened()
    books.step(0.0, [Submitted("a", 1, 600.0)])
    assert at(books, 1000.0).left_j == pytest.approx(ABOVE_J - 210.0 * 3600.0)


def test_where_the_period_of_a_start_pays_all_of_a_job_is_gone() -> None:
    books = opened(carry="charge-now")
    books.step(0.0, [])
    books.step(3400.0, [Submitted("a", 1, 400.0)])
    assert at(books, 3500.0).left_j == pytest.approx(ABOVE_J - 84_000.0)
    assert at(books, 3700.0).left_j == pytest.approx(ABOVE_J)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_left_is_what_a_decision_at_that_moment_sums_up(seed: int) -> None:
    """With measured power, below idle too, overdue jobs and joules that were saved."""
    random = np.random.default_rng(seed)
    books = opened(unspent="carry", carry="allow")
    now_s, runs = 0.0, []
    for number in range(30):
        events = [Submitted(str(number), int(random.integers(1, 4)),
                            float(random.integers(1, 3000)))]
        if runs and random.random() < 0.5:
            events.append(Ended(runs.pop(0)))
        if runs and random.random() < 0.5:
            events.append(Measured(float(random.integers(50, 900)), runs[0]))
        runs += [each.job for each in books.step(now_s, events) if each.kind == "start"]
        now_s += float(random.integers(1, 1500))
        found = at(books, now_s)
        other = books.copy()
        other.step(now_s, [])
        budget = other.policy.admission
        budget.memory.plan[0].summed = -1
        if len(other.state.running[: other.state.clock[0].running]) == len(runs):
            sum_up(other.state, budget)  # nothing was started
            assert found.left_j == pytest.approx(float(budget.memory.plan[0].here_j), rel=1e-9)
            assert found.number == budget.memory.plan[0].period + 1


def test_asking_for_a_moment_changes_nothing() -> None:
    books = opened()
    books.step(0.0, [Submitted("a", 1, 600.0)])
    before = books.save()
    assert at(books, 5000.0).number == 2
    assert books.save() == before
