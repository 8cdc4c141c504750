"""Hours of a block, events that are over, and distributions of a signal, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from wattline.demand_response.hours import CHECK_HOURS, _kept_for_check
from wattline.grid.dayahead import plan_hours
from wattline.grid.event_values import length_s
from wattline.grid.events import CapStep, EventBook, GridEvent
from wattline.grid.market import Bid, Contract, Prices, settle
from wattline.grid.moments import Normal
from wattline.grid.programme import programme
from wattline.grid.qos import TypeQuality, share_interval
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


@pytest.mark.parametrize(("given", "seconds"), [
    ("P2D", 172_800.0), ("P1DT2H3M4.5S", 93_784.5), ("PT15M", 900.0), ("1 day, 0:15:00", 87_300.0),
    ("2 days, 1:00:00", 176_400.0), ("P9999Y", 0.0)])
def test_a_length_has_days_of_24_hours(given: str, seconds: float) -> None:
    assert length_s(given) == seconds


def test_of_several_runs_the_largest_quantile_is_told_and_shares_count_by_jobs() -> None:
    """One late job of 10 and 6 of 30 are 7 of 40; the means of 0.5 and 1.5 are 1.25 by jobs."""
    runs = [TypeQuality("one", jobs, 1, share, 2.0, mean, quantile)
            for jobs, share, mean, quantile in ((10, 0.1, 0.5, 1.8), (30, 0.2, 1.5, 1.2))]
    found = TypeQuality.pooled(runs)
    assert (found.jobs, found.unfinished, found.quantile) == (40, 2, 1.8)
    assert (found.violation_share, found.mean) == (pytest.approx(7 / 40), pytest.approx(1.25))


@pytest.mark.parametrize(("metered", "cost"), [(True, 0.09), (False, 0.1)])
def test_energy_is_billed_as_it_was_metered_or_as_it_was_bid(metered: bool, cost: float) -> None:
    """900 W for an hour at 0.1 a kWh, where 1,000 W were bid with a reserve."""
    free = Signal.constant(0.0)
    bill = settle(Signal.constant(900.0, "W"), Contract.fixed(Bid(1000.0, 100.0)), free,
                  Prices(Signal.constant(0.1), free, free), start_s=0.0, end_s=3600.0,
                  metered=metered)
    assert bill.cost == pytest.approx(cost)


def test_a_frequency_at_the_end_of_the_deadband_asks_for_nothing() -> None:
    terms = programme("fcr")
    edge_hz, full_hz = terms.signal.deadband_hz, terms.signal.full_hz
    hertz = Signal(np.arange(3.0), np.array([edge_hz, -edge_hz, 2 * edge_hz]))
    assert terms.level(hertz).value.tolist() == [0.0, 0.0, pytest.approx(2 * edge_hz / full_hz)]


def test_of_ten_hours_none_or_all_leave_wilsons_interval_at_one_end() -> None:
    """With z = 1.96 the other end is z^2 / (10 + z^2) = 3.8416 / 13.8416 away."""
    far = 3.8416 / 13.8416
    assert share_interval(0, 10) == pytest.approx((0.0, far))
    assert share_interval(10, 10) == pytest.approx((1.0 - far, 1.0))
