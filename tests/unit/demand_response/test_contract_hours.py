"""Bids by the hour count from the contract's start, whatever the warm-up before it."""

from __future__ import annotations

from pathlib import Path

import pytest

import wattline as wl
from wattline.demand_response.building import case_of
from wattline.demand_response.choosing import choose, choose_day, plan_day, problem_of
from wattline.demand_response.hours import other_signals
from wattline.demand_response.reading import read_contract

TYPE = {"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
LONG = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "check": 0, "cycle_s": 30,
        "utilisation": 0.9}
pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


@pytest.mark.parametrize(("warmup", "first_s"), [("30m", -1800.0), ("1h", 0.0), ("0s", 0.0),
                                                 ("90m", -1800.0)])
def test_hours_are_counted_from_the_contract_and_reach_back_over_the_warm_up(
    warmup: str, first_s: float
) -> None:
    case = case_of(read_contract(None, LONG | {"warmup": warmup, "duration": "2h"}))
    assert case.hour_0_s == first_s
    assert case.hours == case.warmup_hours + 2


@pytest.mark.parametrize("warmup", ["30m", "1h"])
def test_adaptive_bids_are_as_many_as_the_contract_has_hours(warmup: str) -> None:
    slow = TYPE | {"time_s_min": 240, "time_s_max": 360}
    found = wl.regulate(**LONG | {"types": [slow]}, bid="adaptive", policy="qoscap", duration="2h",
                        warmup=warmup).figures
    assert [offer["start_s"] for offer in found["bids"]] == [0.0, 3600.0]


def test_a_search_tells_how_far_it_is_within_its_first_bid() -> None:
    told: list[float] = []
    case = case_of(read_contract(None, LONG | {"warmup": "0s", "duration": "10m"}))
    choose(case, "descent", rounds=2, forecast=3, progress=told.append)
    assert 0 < told[0] < told[1] < told[2] < told[3]
    assert told == sorted(told)


PENALTY = """
title = "Half the time in a narrow band"
source = "none"
date = "2026-01-01"
simplified = "all of it"
[judged]
rule = "band"
least = 0.0
width = 0.1
[payment]
currency = "EUR"
capability_per_mwh = 100.0
penalty_per_mwh = 400.0
"""
TEN_MINUTES = LONG | {"warmup": "5m", "duration": "10m"}


def test_a_plan_counts_score_penalty_and_metered_energy_as_the_bids_do(tmp_path: Path) -> None:
    own = tmp_path / "penalty.toml"
    own.write_text(PENALTY, encoding="utf-8")
    case = case_of(read_contract(None, TEN_MINUTES | {"programme": str(own)}))
    decision = choose_day(case, "descent", hours=2, rounds=4)
    prices = case.prices.mean(case.judged_s, case.end_s)
    assert any(tried.feasible for tried in decision.trials)
    for tried in decision.trials:
        assert tried.hour_cost(*prices) == pytest.approx(6 * tried.cost)
    # What misses the score for most of the time pays more penalty than the reserve earns.
    assert decision.bid is None
    assert [hour.bid for hour in plan_day(case, decision, hours=2)] == [None, None]


def test_a_plan_stays_out_at_the_cost_that_the_bid_is_compared_with() -> None:
    case = case_of(read_contract(None, TEN_MINUTES))
    decision = choose_day(case, "descent", hours=2, rounds=4)
    plan = plan_day(case, decision, hours=2)
    alone_w = problem_of(case).power_w_alone
    assert alone_w is not None
    assert plan[0].cost_without == pytest.approx(0.1 * alone_w / 1000)
    assert plan[0].cost_without != pytest.approx(0.1 * case.workload.power_w_mean / 1000)


def test_no_hour_of_a_long_contract_is_in_its_forecast(tmp_path: Path) -> None:
    path = tmp_path / "signal.csv"
    rows = [f"{60 * minute},{minute // 60 / 10}" for minute in range(300)]
    path.write_text("\n".join(["t_s,value", *rows]) + "\n", encoding="utf-8")
    scenario = read_contract(None, LONG | {
        "signal": str(path), "signal_start": 3600, "duration": "2h", "warmup": "0s"})
    assert [signal.at(0.0) for signal in other_signals(scenario, 9)] == [0.0, 0.3, 0.4]
