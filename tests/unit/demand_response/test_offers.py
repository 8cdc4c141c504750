"""Offers: under which rule, with which plan, and what would help where nothing can be offered."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.cli.main import cli
from wattline.cli.other_hours import print_remedy, start_words
from wattline.demand_response import offer
from wattline.demand_response.bidders import Descent, Question
from wattline.demand_response.building import case_of
from wattline.demand_response.hours import planned_on_forecasts
from wattline.demand_response.offer import make_offer, remedies
from wattline.demand_response.reading import contract_of, read_contract
from wattline.demand_response.remarks import remarks
from wattline.demand_response.run import run_contract
from wattline.grid.bidding import Decision, Problem
from wattline.grid.bidding.descent import DescentSettings, descend
from wattline.grid.bidding.problem import BidOutcome, best_of
from wattline.grid.market import Bid, TrackingError
from wattline.grid.workloads import workload
from wattline.model.progress import silent

TYPE = {"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
SHORT = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "4m", "warmup": "0s",
         "check": 0, "rounds": 8, "cycle_s": 2}


def found(share_bad: float, cost: float) -> BidOutcome:
    return BidOutcome(cost, 0.1, TrackingError(0.1, share_bad, share_bad), ())


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
                       settings=DescentSettings(rounds=40))
    assert decision.bid == good


def test_the_share_is_searched_with_the_rest_and_kept_where_it_helps() -> None:
    def only_below_full(bid: Bid) -> BidOutcome:
        return found(0.0 if bid.start_share < 0.6 else 0.2, 0.5)

    problem = Problem(workload("W4"), start_shares=True)
    decision = descend(problem, only_below_full, settings=DescentSettings(rounds=40))
    assert decision.bid is not None
    assert decision.bid.start_share < 0.6
    assert descend(replace(problem, start_shares=False), only_below_full,
                   settings=DescentSettings(rounds=40)).bid is None


@pytest.mark.parametrize(("good", "by"), [
    ("aqa", "descent"), ("qoscap", "exhaustive"), ("qoscap", "descent")])
def test_auto_takes_the_rule_that_can_offer_and_says_why(
    good: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bid = Bid(1500.0, 200.0)

    def choose(case, method, **asked):
        tried.append((case.policy, method))
        if (case.policy, method) == (good, by):
            return Decision(bid, "found", found(0.0, 0.5))
        return Decision(None, "nothing", found(0.3, 0.1), nearest=bid)

    tried: list[tuple[str, str]] = []
    monkeypatch.setattr(offer, "choose", choose)
    scenario = read_contract(None, SHORT | {"policy": "auto"})
    made = make_offer(scenario, case_of(scenario), silent)
    other = ({"aqa", "qoscap"} - {good}).pop()
    assert tried == [("aqa", "descent"), ("qoscap", "exhaustive"), ("qoscap", "descent")]
    assert (made.case.policy, made.bid) == (good, bid)
    assert made.decision is not None
    assert made.decision.reason == (f"policy {good} ({other} finds no bid that meets all "
                                    "constraints): found")


@pytest.mark.parametrize("sleeps", [True, False])
def test_where_sleep_or_its_want_is_in_the_way_the_other_is_searched_with(
    sleeps: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def choose(case, method, **asked):
        if (case.sleep is None) == sleeps:
            assert (case.workload.power_w_asleep is None) == sleeps
            return Decision(Bid(1500.0, 200.0), "found", found(0.0, 0.5))
        return Decision(None, "nothing", found(0.3, 0.1), nearest=Bid(1500.0, 200.0))

    monkeypatch.setattr(offer, "choose", choose)
    scenario = read_contract(None, SHORT | {"sleep": sleeps})
    made = make_offer(scenario, case_of(scenario), silent)
    assert made.remedy is not None
    said = made.remedy.figures()
    assert said["fields"] == {"policy": "aqa", "sleep": not sleeps}
    print_remedy(said | {"other_hours": None})
    assert f"(--policy aqa --{'no-' if sleeps else ''}sleep)" in capsys.readouterr().out


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


def test_how_far_a_search_is_never_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    bid, searches = Bid(1500.0, 200.0), []

    def choose(case, method, **asked):
        searches.append(case)
        for part in (0.0, 0.5, 1.0):
            asked["progress"](part)
        if case.preempt:
            return Decision(bid, "found", found(0.0, 0.5))
        return Decision(None, "nothing", found(0.3, 0.1), nearest=bid)

    monkeypatch.setattr(offer, "choose", choose)
    told: list[float] = []
    wl.regulate(**SHORT | {"check": 2}, progress=told.append)
    assert len(searches) == 5
    assert told == sorted(told)
    assert told[-1] <= 1.0
    assert len(set(told)) > 2 * len(searches)


def test_a_search_in_two_spaces_never_falls_back() -> None:
    told: list[float] = []
    problem = Problem(replace(workload("W4"), below_idle=True))
    case = case_of(read_contract(None, {"workload": "W4"}))
    nothing = Decision(None, "nothing")

    def descend_twice(problem, simulate, *, progress, **asked):
        progress(0.0)
        progress(1.0)
        return nothing

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wattline.demand_response.bidders.descend", descend_twice)
        Descent().choose(Question(case, [case], problem, lambda bid: found(0.5, 1.0),
                                  progress=told.append))
    assert told == [0.0, 0.5, 0.5, 1.0]


def test_a_remedy_is_tried_on_other_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    def choose(case, method, **asked):
        if case.workload.standby is not None:
            return Decision(Bid(1500.0, 200.0), "found", found(0.0, 0.5))
        return Decision(None, "nothing", found(0.3, 0.1), nearest=Bid(1500.0, 200.0))

    monkeypatch.setattr(offer, "choose", choose)
    tried = wl.regulate(**SHORT | {"check": 2}).figures["remedy"]["other_hours"]
    assert tried["hours"] == 2
    assert 0 <= tried["met"] <= 2


def test_auto_says_why_it_took_its_rule_for_a_given_bid(monkeypatch: pytest.MonkeyPatch) -> None:
    def simulator(case):
        return lambda bid: found(0.3 if case.policy == "aqa" else 0.0, 0.5)

    monkeypatch.setattr(offer, "simulator", simulator)
    scenario = read_contract(None, SHORT | {"policy": "auto", "bid": (1500, 200)})
    made = make_offer(scenario, case_of(scenario), silent)
    assert made.case.policy == "qoscap"
    assert made.reason.startswith("policy qoscap: the bid meets all constraints at a cost of "
                                  "0.5; under aqa it fails (")


@pytest.mark.parametrize(("aqa", "qoscap", "taken"), [
    # (excess, cost) under each rule: what fails least comes before what costs least.
    ((0.2, 1.0), (0.0, 9.0), "qoscap"), ((0.0, 9.0), (0.2, 1.0), "aqa"),
    ((0.2, 1.0), (0.1, 9.0), "qoscap"), ((0.0, 9.0), (0.0, 1.0), "qoscap"),
    ((0.0, 1.0), (0.0, 9.0), "aqa"), ((0.1, 2.0), (0.1, 1.0), "qoscap"),
    ((0.0, 1.0), (0.0, 1.0), "aqa")])
def test_auto_offers_a_bid_under_the_rule_that_fails_least_and_then_costs_least(
    monkeypatch: pytest.MonkeyPatch, aqa: tuple[float, float], qoscap: tuple[float, float],
    taken: str,
) -> None:
    """A bid that breaks its constraints is not offered because it would be cheaper."""
    tried = {name: offer._Tried(("late",) if excess else (), excess, cost)
             for name, (excess, cost) in {"aqa": aqa, "qoscap": qoscap}.items()}
    monkeypatch.setattr(offer, "_tried", lambda scenario, case, bid: tried[case.policy])
    scenario = read_contract(None, SHORT | {"policy": "auto", "bid": (1500, 200)})
    made = make_offer(scenario, case_of(scenario), silent)
    assert made.case.policy == taken
    assert made.bid == Bid(1500.0, 200.0)


@pytest.mark.parametrize(("one", "other"), [
    # A bid that can be made, however dear; then what fails least; then what costs least.
    (Decision(Bid(1500.0, 200.0), "", found(0.0, 9.0)), Decision(None, "", found(0.0, 1.0))),
    (Decision(Bid(1500.0, 200.0), "", found(0.0, 1.0)),
     Decision(Bid(1500.0, 200.0), "", found(0.0, 9.0))),
    (Decision(None, "", found(0.12, 9.0)), Decision(None, "", found(0.3, 1.0))),
    (Decision(None, "", found(0.3, 1.0)), Decision(None, "")),
])
def test_of_two_searches_the_one_with_a_bid_then_the_one_nearest_to_one_is_taken(
    one: Decision, other: Decision
) -> None:
    assert offer._rank(one) < offer._rank(other)


@pytest.mark.parametrize(("near", "words"), [
    (Bid(9000.2, 2000.0, (0.5, 0.5)), "with weights that differ by up to 0.1"),
    (Bid(9000.0, 2000.0, (0.4, 0.6), 0.5), "with starts planned at 50% of the power range"),
    (Bid(9000.2, 2000.0, (0.4, 0.6)), "the same but for +0.2 W of P and +0 W of R"),
    (Bid(8900.0, 2000.0, (0.4, 0.6)), "(P 8900 W, R 2000 W)")])
def test_bids_of_the_same_digits_are_told_apart(near: Bid, words: str) -> None:
    bid = Bid(9000.0, 2000.0, (0.4, 0.6))
    tried = [(bid, found(0.0, 0.5)), (near, found(0.3, 0.4))]
    assert words in best_of(Problem(workload("W4")), tried, "tried").reason


def test_standby_jobs_that_nobody_needed_are_not_jobs_that_never_ran(tmp_path: Path) -> None:
    made = wl.regulate(**SHORT | {"bid": (1500, 200), "standby": True})
    result = made.result
    standby = result.jobs.application == 1
    assert standby.any()
    energy_j = made.run.run.schedule.energy_j
    drawn_j = energy_j[made.run.case.jobs.application == 1].sum()
    assert made.figures["standby_energy_share"] == pytest.approx(drawn_j / energy_j.sum())
    assert 0.0 < made.figures["standby_energy_share"] < 1.0
    assert not np.isnan(result.schedule.start_s[standby]).any()
    assert result.verify().sentences == []
    assert result.energy_j == made.run.run.energy_j
    assert "standby jobs were not needed and are left out" in " ".join(result.remarks)
    assert wl.open_run(made.save(tmp_path / "run")).verify().sentences == []
    said = CliRunner().invoke(cli, ["account", str(tmp_path / "run"), "--by", "user"]).output
    assert "standby" in said
    chosen = wl.regulate(**SHORT | {"bid": (1500, 200), "standby": True}, choose_nodes=True)
    assert chosen.result.verify().sentences == []


def test_a_workload_that_nobody_named_is_said_and_an_empty_name_refused() -> None:
    assert remarks(read_contract(None, {}))[0] == "no workload is given: W4 is taken"
    with pytest.raises(wl.InputError, match="workload '' is unknown"):
        case_of(read_contract(None, {"workload": ""}))


def test_what_is_in_use_already_is_no_remedy_but_to_do_without_sleep() -> None:
    scenario = read_contract(None, SHORT | {"standby": True, "preempt": True, "sleep": True})
    left = [fields for _, fields, _ in remedies(scenario, case_of(scenario))]
    assert left == [{"policy": "qoscap"}, {"policy": "aqa", "sleep": False}]


CLASS = {"name": "node", "count": 10, "idle_w": 100, "active_w": 250, "off_w": 20, "boot_s": 300,
         "boot_w": 140, "shutdown_s": 60, "shutdown_w": 90}


@pytest.mark.parametrize(("given", "words", "node"), [
    ({"machine__classes": [CLASS], "servers": None, "power_w_idle": None, "pue": 1.5},
     "as [[machine.classes]] says: off 20 W, 300 s to boot, 60 s to shut down",
     (30.0, 300.0, 210.0, 60.0, 135.0)),
    ({"machine__node_off_w": 30},
     "off 30 W as node_off_w says; assumed: 120 s to boot, 30 s to shut down",
     (30.0, 120.0, 100.0, 30.0, 100.0)),
    ({}, "assumed: off 10 W, 120 s to boot, 30 s to shut down",
     (10.0, 120.0, 100.0, 30.0, 100.0)),
])
def test_sleep_as_a_remedy_is_that_of_the_machine_and_says_so(
    given: dict[str, object], words: str, node: tuple[float, ...]
) -> None:
    scenario = read_contract(None, SHORT | given)
    what, fields, case = next(each for each in remedies(scenario, case_of(scenario))
                              if "sleep" in each[1])
    assert what == f"idle servers that may sleep ({words})"
    assert case.sleep is not None
    assert (case.sleep.power_w_off, case.sleep.boot_s, case.sleep.boot_power_w,
            case.sleep.shutdown_s, case.sleep.shutdown_power_w) == pytest.approx(node)
    # What is searched with is what the fields that are printed bring.
    asked = case_of(read_contract(None, SHORT | given | fields))
    assert asked.sleep == case.sleep
    assert asked.workload.power_w_asleep == case.workload.power_w_asleep


def test_a_bid_is_planned_on_hours_that_might_come_unless_it_says_how() -> None:
    planned = contract_of(planned_on_forecasts(read_contract(None, {"workload": "W4"})))
    assert (planned.forecast, planned.hold, planned.rounds) == (30, 0.9, 100)
    own = contract_of(planned_on_forecasts(read_contract(None, {"workload": "W4", "forecast": 0})))
    assert own.forecast == 0


def test_contracts_begin_on_a_cluster_that_is_not_empty() -> None:
    assert case_of(read_contract(None, {"workload": "W4"})).warmup_s == 1800
    assert contract_of(read_contract(None, {"bid": "dayahead"})).warmup_s == 3600
    assert case_of(read_contract(None, {"workload": "W4", "warmup": "0s"})).warmup_s == 0


OWN = """
name = "own"
[trace]
generate = "workload"
[[trace.parameters.types]]
name = "one"
nodes = 1
time_s_min = 60
time_s_max = 90
power_w_max = 250
power_w_min = 200
threshold = 5
[machine]
nodes = 10
node_idle_w = 100
[contract]
duration = "4m"
warmup = "0s"
check = 0
cycle_s = 2
bid = [1700, 300]
"""


def asked(tmp_path: Path, *flags: str) -> dict:
    path = tmp_path / "own.toml"
    path.write_text(OWN, encoding="utf-8")
    said = CliRunner().invoke(cli, ["regulate", str(path), "--json", *flags],
                              catch_exceptions=False)
    return json.loads(said.stdout)


def test_the_flag_of_a_share_is_the_field_of_the_contract(tmp_path: Path) -> None:
    given = SHORT | {"bid": (1700, 300), "start_share": 0.0}
    low = asked(tmp_path, "--start-share", "0")
    assert low["start_share"] == 0.0
    assert low["cost"] == wl.regulate(**given).figures["cost"]
    assert low["tracking"] != asked(tmp_path)["tracking"]


def test_a_share_that_a_bid_has_is_said_as_the_flag_that_gives_it() -> None:
    assert start_words(0.4375).endswith("44% of the jobs' power range (--start-share 0.4375)")
    assert start_words(1.0) == ""


def test_beside_a_limit_the_share_of_the_contract_is_said() -> None:
    event = {"start": "1m", "duration": "2m", "notice": "10s", "share": 0.1}
    found = wl.regulate(**SHORT, curtailment=event, start_share=0.25)
    assert found.figures["start_share"] == 0.25


@pytest.mark.parametrize("rule", ["qoscap", "energyqare", "tracking"])
def test_what_only_sharing_rules_use_is_said_under_others(rule: str) -> None:
    given = SHORT | {"bid": (1700, 300), "start_share": 0.5, "weights": (1.0,)}
    del given["rounds"]  # of which a given bid has no use
    said = remarks(read_contract(None, given | {"policy": rule}))
    why = f"{rule} does not share servers out by type"
    assert said == [f"weights have no effect: {why}", f"start_share has no effect: {why}"]
    assert remarks(read_contract(None, given | {"policy": "qosg"})) == []
    first, second = (wl.regulate(**SHORT | {"bid": (1700, 300), "policy": rule,
                                            "start_share": share}).figures for share in (0.0, 1.0))
    assert first["cost"] == second["cost"]
    assert first["tracking"] == second["tracking"]
