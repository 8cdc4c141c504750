"""Offers: under which rule, with which plan, and what would help where nothing can be offered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wattline.demand_response import offer
from wattline.demand_response.building import case_of
from wattline.demand_response.hours import planned_on_forecasts
from wattline.demand_response.offer import make_offer, remedies
from wattline.demand_response.reading import contract_of, read_contract
from wattline.demand_response.run import run_contract
from wattline.grid.bidding import Decision, Problem
from wattline.grid.bidding.descent import Settings, descend
from wattline.grid.bidding.problem import BidOutcome
from wattline.grid.market import Bid, Tracking
from wattline.grid.workloads import workload
from wattline.model.progress import silent

TYPE = {"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SHORT = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "4m", "warmup": "0s",
         "check": 0, "rounds": 8, "cycle_s": 2}


def found(share_bad: float, cost: float) -> BidOutcome:
    return BidOutcome(cost, 0.1, Tracking(0.1, share_bad, share_bad), ())


def test_starts_planned_below_full_power_run_more_jobs_at_once() -> None:
    case = case_of(read_contract(None, SHORT | {"utilisation": 1.0}))
    full, half = (run_contract(case, Bid(1700.0, 300.0, start_share=share)) for share in (1.0, 0.0))
    assert half.run.events.busy.mean() > full.run.events.busy.mean()
    assert half.tracking.short_share <= full.tracking.short_share


def test_the_published_rule_is_a_share_of_one() -> None:
    case = case_of(read_contract(None, SHORT))
    said, published = (run_contract(case, bid)
                       for bid in (Bid(1500.0, 300.0, start_share=1.0), Bid(1500.0, 300.0)))
    assert np.array_equal(said.run.schedule.start_s, published.run.schedule.start_s, equal_nan=True)


def test_a_larger_space_never_loses_what_a_smaller_one_found() -> None:
    load = workload("W4")
    good = Bid(9000.0, 100.0, (1 / 8,) * 8)

    def nothing_else(bid: Bid) -> BidOutcome:
        return found(0.5, 1.0)

    problem = Problem(replace(load, below_idle=True), start_shares=True)
    decision = descend(problem, nothing_else, known=[(good, found(0.0, 0.5))],
                       settings=Settings(rounds=40))
    assert decision.bid == good


def test_the_share_is_searched_with_the_rest_and_kept_where_it_helps() -> None:
    def only_below_full(bid: Bid) -> BidOutcome:
        return found(0.0 if bid.start_share < 0.6 else 0.2, 0.5)

    problem = Problem(workload("W4"), start_shares=True)
    decision = descend(problem, only_below_full, settings=Settings(rounds=40))
    assert decision.bid is not None
    assert decision.bid.start_share < 0.6
    assert descend(replace(problem, start_shares=False), only_below_full,
                   settings=Settings(rounds=40)).bid is None


@pytest.mark.parametrize("good", ["aqa", "qoscap"])
def test_auto_takes_the_rule_that_can_offer_and_says_why(
    good: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bid = Bid(1500.0, 200.0)

    def choose(case, method, **asked):
        assert method == "descent"
        if case.policy == good:
            return Decision(bid, "found", found(0.0, 0.5))
        return Decision(None, "nothing", found(0.3, 0.1), nearest=bid)

    monkeypatch.setattr(offer, "choose", choose)
    scenario = read_contract(None, SHORT | {"policy": "auto"})
    made = make_offer(scenario, case_of(scenario), silent)
    other = ({"aqa", "qoscap"} - {good}).pop()
    assert (made.case.policy, made.bid) == (good, bid)
    assert made.decision is not None
    assert made.decision.reason == (f"policy {good} ({other} finds no bid that meets all "
                                    "constraints): found")


def test_where_nothing_holds_the_search_is_made_again_with_what_helps(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    bid = Bid(1500.0, 200.0)

    def choose(case, method, **asked):
        if case.workload.standby is not None:
            return Decision(bid, "found", found(0.0, 0.5))
        return Decision(None, "nothing", found(0.3, 0.1), nearest=bid)

    monkeypatch.setattr(offer, "choose", choose)
    scenario = read_contract(None, SHORT)
    made = make_offer(scenario, case_of(scenario), silent)
    assert made.bid is None
    assert made.remedy is not None
    said = made.remedy.figures()
    assert said["what"] == "standby jobs"
    assert said["fields"] == {"policy": "aqa", "standby": True}
    assert (said["reserve_w"], said["saving"]) == (200.0, 0.1)
    again = read_contract(None, SHORT | said["fields"])
    assert make_offer(again, case_of(again), silent).bid == bid


def test_what_is_in_use_already_is_no_remedy() -> None:
    case = case_of(read_contract(None, SHORT | {"standby": True, "preempt": True, "sleep": True}))
    assert [fields for _, fields, _ in remedies(case)] == [{"policy": "qoscap"}]


def test_a_bid_is_planned_on_hours_that_might_come_unless_it_says_how() -> None:
    planned = contract_of(planned_on_forecasts(read_contract(None, {"workload": "W4"})))
    assert (planned.forecast, planned.hold, planned.rounds) == (30, 0.9, 100)
    own = contract_of(planned_on_forecasts(read_contract(None, {"workload": "W4", "forecast": 0})))
    assert own.forecast == 0


def test_contracts_begin_on_a_cluster_that_is_not_empty() -> None:
    assert case_of(read_contract(None, {"workload": "W4"})).warmup_s == 1800
    assert contract_of(read_contract(None, {"bid": "dayahead"})).warmup_s == 3600
    assert case_of(read_contract(None, {"workload": "W4", "warmup": "0s"})).warmup_s == 0
