"""Thresholds of contracts: below, at and above each of them."""

from __future__ import annotations

import numpy as np
import pytest

from wattline.grid.curtailment import (
    NO_BREACH_W,
    Curtailment,
    cap_kept,
    compliance,
    load_before,
    load_of_days,
    within,
)
from wattline.grid.market import Bid, Contract, Prices, Range, TrackingError, check_weights, settle
from wattline.grid.programme import programme
from wattline.grid.qos import TypeQuality, judge, quality_of
from wattline.model.errors import InputError
from wattline.model.signal import Signal

BID = Contract.fixed(Bid(1000, 100))
STILL = Signal.constant(0.0)


def tracked(actual_w: float) -> TrackingError:
    return settle(Signal.constant(actual_w), BID, STILL, Prices.flat(), start_s=0.0,
                  end_s=3600.0).tracking


@pytest.mark.parametrize(("actual_w", "large", "short"), [
    (1029.0, 0.0, 0.0), (1030.0, 0.0, 0.0), (1031.0, 1.0, 0.0),
    (971.0, 0.0, 0.0), (970.0, 0.0, 0.0), (969.0, 1.0, 1.0)])
def test_an_error_is_large_above_three_tenths_of_the_reserve(
    actual_w: float, large: float, short: float
) -> None:
    """Of 100 W, that is 30 W; what lies below the target is short as well."""
    found = tracked(actual_w)
    assert (found.exceed_share, found.short_share) == (large, short)


@pytest.mark.parametrize(("share", "met"), [(0.09, True), (0.1, False), (0.11, False)])
def test_tracking_is_kept_while_errors_are_large_for_less_than_a_tenth(
    share: float, met: bool
) -> None:
    assert TrackingError(0.0, share).met == met
    assert TrackingError(0.0, share).excess == pytest.approx(max(0.0, share - 0.1))


@pytest.mark.parametrize(("score", "met"), [(0.74, False), (0.75, True), (0.76, True)])
def test_a_programme_is_kept_from_its_least_score_on(score: float, met: bool) -> None:
    found = TrackingError(0.0, 1.0, score=score, least=0.75)
    assert found.met == met
    assert found.excess == pytest.approx(max(0.0, 0.75 - score))


@pytest.mark.parametrize(("score", "credit"), [(0.24, 0.0), (0.25, 1.0), (0.26, 1.04)])
def test_a_score_is_forfeited_below_the_bound_and_paid_at_it(score: float, credit: float) -> None:
    """A quarter of 2 MWh at 2 a MWh is 1."""
    found = programme("pjm-regd")
    pays = found.payment.model_copy(update={
        "capability_per_mwh": 2.0, "performance_per_mwh": 0.0, "forfeited_below": 0.25})
    level = Signal(np.array([0.0, 1800.0]), np.array([0.0, 1.0]))
    paid = found.model_copy(update={"payment": pays}).credit(2.0, score, level, 1.0)
    assert paid == pytest.approx(credit)


@pytest.mark.parametrize(("off_w", "inside"), [(4.0, 1.0), (5.0, 1.0), (6.0, 0.0)])
def test_the_edge_of_a_band_lies_in_it(off_w: float, inside: float) -> None:
    found = programme("fcr")
    judged = found.judged.model_copy(update={"width": 0.05})
    band = found.model_copy(update={"judged": judged})
    assert band.score(Signal.constant(1000.0 + off_w), BID, STILL, 0.0, 3600.0) == inside
    assert band.score(Signal.constant(1000.0 - off_w), BID, STILL, 0.0, 3600.0) == inside


@pytest.mark.parametrize(("degradation", "share"), [(2.9, 0.0), (3.0, 1.0), (3.1, 1.0)])
def test_a_degradation_of_the_threshold_reaches_it(degradation: float, share: float) -> None:
    assert quality_of("t", np.array([degradation]), unfinished=0,
                      threshold=3.0).violation_share == share


@pytest.mark.parametrize(("end_s", "unfinished"), [(99.0, 0), (100.0, 0), (101.0, 1)])
def test_a_job_that_ends_with_the_contract_is_finished(end_s: float, unfinished: int) -> None:
    found = judge("t", np.zeros(1), np.array([end_s]), time_s_min=10.0, threshold=3.0, now_s=100.0)
    assert found.unfinished == unfinished


def quality(**figures: float) -> TypeQuality:
    return TypeQuality(**{"name": "t", "jobs": 10, "unfinished": 0, "violation_share": 0.0,
                          "threshold": 3.0, "mean": 0.0, "quantile": 0.0, **figures})


@pytest.mark.parametrize(("late", "met"), [(0, True), (1, True), (2, False)])
def test_a_tenth_of_the_jobs_may_reach_the_threshold(late: int, met: bool) -> None:
    assert quality(violation_share=late / 10).met == met
    assert quality(violation_share=late / 10).excess == pytest.approx(max(0, late - 1) / 10)


@pytest.mark.parametrize(("mean", "excess"), [(2.9, 0.0), (3.0, 0.5), (3.1, 0.5)])
def test_a_mean_degradation_has_to_lie_below_the_threshold(mean: float, excess: float) -> None:
    found = quality(mean=mean, by_mean=True)
    assert found.met == (excess == 0.0)
    assert found.excess == excess


@pytest.mark.parametrize(("share", "met"), [(0.009, True), (0.01, True), (0.011, False)])
def test_a_limit_is_kept_with_a_hundredth_of_the_time_above_it(share: float, met: bool) -> None:
    assert within(share, 0.99) == met


@pytest.mark.parametrize(("over_w", "share"), [(0.4, 0.0), (NO_BREACH_W, 0.0), (0.6, 1.0)])
def test_half_a_watt_above_a_limit_is_no_breach(over_w: float, share: float) -> None:
    """A quarter less than 1,000 W; the joules above it count all the same."""
    found = compliance(Signal.constant(750.0 + over_w), Curtailment(start_s=600), 1000.0)
    assert found.exceed_share == share
    assert found.exceed_energy_j == pytest.approx(over_w * 3 * 3600)
    kept = cap_kept(Signal.constant(750.0 + over_w), Signal.constant(750.0), 0.0, 60.0,
                    below_w=1000.0)
    assert kept.exceed_share == share


@pytest.mark.parametrize(("limit_w", "limited_s"), [
    (499.0, 0.0), (500.0, 60.0), (999.0, 60.0), (1000.0, 0.0)])
def test_a_limit_counts_from_its_lower_bound_to_below_its_upper_one(
    limit_w: float, limited_s: float
) -> None:
    found = cap_kept(Signal.constant(900.0), Signal.constant(limit_w), 0.0, 60.0, below_w=1000.0,
                     from_w=500.0)
    assert found.limited_s == limited_s


@pytest.mark.parametrize(("start_s", "fits"), [(599.0, False), (600.0, True), (601.0, True)])
def test_a_curtailment_may_be_heard_of_at_the_beginning_and_not_before(
    start_s: float, fits: bool
) -> None:
    if fits:
        assert Curtailment(start_s).heard_s == start_s - 600.0
    else:
        with pytest.raises(InputError, match="before the beginning"):
            Curtailment(start_s)


@pytest.mark.parametrize(("first_s", "load_w"), [(-1.0, 500.0), (0.0, 500.0), (1.0, None)])
def test_a_day_counts_for_a_baseline_where_all_of_its_hours_are_known(
    first_s: float, load_w: float | None
) -> None:
    """An event of an hour on the second day: what was drawn in the first hour of the first."""
    drawn_w = Signal.from_steps([(0, 500.0), (3600, 900.0)], "W")
    event = Curtailment(start_s=86400.0, duration_s=3600.0)
    assert load_of_days(drawn_w, event, 1, 1, first_s) == load_w


def test_a_baseline_is_the_mean_of_the_highest_days() -> None:
    """Days of 100, 400 and 300 W before the event: the highest two are 350 W in the mean."""
    drawn_w = Signal.from_steps([(0, 100.0), (86400, 400.0), (2 * 86400, 300.0)], "W")
    event = Curtailment(start_s=3 * 86400.0, duration_s=3600.0)
    assert load_of_days(drawn_w, event, 3, 2, 0.0) == 350.0


def test_a_load_before_an_event_is_that_of_the_window_before_it_was_heard_of() -> None:
    """Heard of ten minutes before 10,000 s: of the hour before that the first half is 300 W, the
    second 700 W, and of half an hour it is 700 W; so it is where nothing is known before."""
    drawn_w = Signal.from_steps([(0, 100.0), (5800, 300.0), (7600, 700.0), (9400, 900.0)], "W")
    event = Curtailment(start_s=10_000.0, duration_s=3600.0)
    assert load_before(drawn_w, event, 3600.0, 0.0) == 500.0
    assert load_before(drawn_w, event, 1800.0, 0.0) == 700.0
    assert load_before(drawn_w, event, 3600.0, 7600.0) == 700.0


@pytest.mark.parametrize(("bid", "fits"), [
    (Bid(1000, 499), True), (Bid(1000, 500), True), (Bid(1000, 501), False),
    (Bid(1600, 399), True), (Bid(1600, 400), True), (Bid(1600, 401), False)])
def test_a_bid_may_reach_from_the_idle_machine_to_full_power(bid: Bid, fits: bool) -> None:
    reach = Range(500, 2000)
    if fits:
        reach.check(bid)
    else:
        with pytest.raises(InputError):
            reach.check(bid)


@pytest.mark.parametrize(("number", "fits"), [(0.999, False), (1.0, True), (1.001, False)])
def test_weights_sum_to_one(number: float, fits: bool) -> None:
    if fits:
        check_weights((number / 2, number / 2))
    else:
        with pytest.raises(InputError, match="sum to"):
            check_weights((number / 2, number / 2))


@pytest.mark.parametrize(("end_s", "fits"), [(9.0, False), (10.0, False), (11.0, True)])
def test_a_contract_ends_after_it_starts(end_s: float, fits: bool) -> None:
    def bill() -> float:
        return settle(Signal.constant(1000.0), BID, STILL, Prices.flat(), start_s=10.0,
                      end_s=end_s).energy_kwh

    if fits:
        assert bill() == pytest.approx(1000.0 / 3.6e6)
    else:
        with pytest.raises(InputError, match="end after it starts"):
            bill()
