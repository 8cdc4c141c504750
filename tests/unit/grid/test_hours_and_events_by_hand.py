"""Hours of a block, events that are over, and distributions of a signal, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from wattline.demand_response.hours import CHECK_HOURS, _kept_for_check
from wattline.grid.dayahead import plan_hours
from wattline.grid.events import CapStep, EventBook, GridEvent
from wattline.grid.market import Prices
from wattline.grid.moments import Normal
from wattline.grid.workloads import JobType, Workload
from wattline.model.signal import Signal

LOAD = Workload("one", (JobType(name="one", servers=1, time_s_min=10.0, time_s_max=20.0,
                                power_w_max=250.0, power_w_min=150.0, threshold=1.0),),
                10, 100.0, 0.5)


def test_an_hour_of_a_block_costs_by_its_own_prices_where_nothing_is_bid() -> None:
    """1,000 W at 0.1 and at 0.3 a kWh, and not at 0.2 in both hours."""
    energy = Signal.from_steps([(0.0, 0.1), (3600.0, 0.3)])
    prices = Prices(energy, Signal.constant(0.0), Signal.constant(0.0))
    found = plan_hours([], prices, LOAD, hours=2, block_hours=2, power_w_alone=1000.0)
    assert [(hour.bid, hour.cost_without) for hour in found] == [
        (None, pytest.approx(0.1)), (None, pytest.approx(0.3))]


@pytest.mark.parametrize(("now_s", "said"), [
    (9.9, ""), (10.0, "event a was over before it arrived"),
    (11.0, "event a was over before it arrived")])
def test_an_event_that_ends_as_it_arrives_is_over(now_s: float, said: str) -> None:
    assert EventBook(1000.0).take(GridEvent("a", 1, (CapStep(0.0, 10.0, 500.0),)), now_s) == said


@pytest.mark.parametrize(("check", "spans", "kept"), [
    (None, 1, 0), (None, 3, 1), (None, 20, 10), (None, 40, CHECK_HOURS), (2, 3, 1), (2, 9, 2)])
def test_at_most_half_of_the_hours_of_a_file_are_kept_for_the_check(
    check: int | None, spans: int, kept: int
) -> None:
    assert _kept_for_check(SimpleNamespace(forecast=1, check=check), spans) == kept
    assert _kept_for_check(SimpleNamespace(forecast=0, check=check), spans) == 0


def test_the_log_moment_of_a_normal_amount_has_half_its_variance() -> None:
    """2 x 0.5 + 9 x 0.25 / 2."""
    assert Normal(2.0, 3.0)(0.5) == pytest.approx(2.125)
