"""Bids on hours they were not planned for: how often they hold, and planning for that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.unit.grid.test_beyond import called, site

from wattline.cli.main import cli
from wattline.demand_response.advising import advice, with_standby
from wattline.demand_response.building import case_of
from wattline.demand_response.choosing import CHECKING, PLANNING, choose, forecast_cases
from wattline.demand_response.hours import other_signals, planning_of
from wattline.demand_response.pooling import simulator
from wattline.demand_response.reading import read_contract
from wattline.grid.bidding.closed_form import closed_form_bid
from wattline.grid.bidding.exhaustive import exhaustive_bid
from wattline.grid.bidding.problem import BidOutcome, Decision, Problem, Simulate
from wattline.grid.market import Bid, Contract, Prices, TrackingError, settle
from wattline.grid.workloads import workload
from wattline.model.errors import InputError
from wattline.model.signal import Signal

HOURS = "t_s,y\n" + "".join(f"{t},{0.2 * (t // 3600)}\n" for t in range(0, 4 * 3600, 20))


def test_large_errors_are_told_apart_by_side() -> None:
    actual = Signal.from_steps([(0, 500.0), (10, 1000.0), (15, 1500.0)])
    bill = settle(actual, Contract.fixed(Bid(1000, 100)), Signal.constant(0), Prices.flat(),
                  start_s=0, end_s=20)
    assert bill.tracking.exceed_share == pytest.approx(0.75)
    assert bill.tracking.short_share == pytest.approx(0.5)
    words = BidOutcome(0, 0, bill.tracking, ()).violations[0]
    assert "50.0% below the target" in words
    assert "25.0% above it" in words


def judged(met: int, missed: int, hold: float) -> BidOutcome:
    hours = [BidOutcome(0, 0, TrackingError(0, 0.05), ())] * met
    hours += [BidOutcome(0, 0, TrackingError(0, 0.2 + 0.1 * n), ()) for n in range(missed)]
    return BidOutcome(0, 0, TrackingError(0, 0.08), (), hours=tuple(hours), hold=hold)


def test_a_share_of_the_hours_must_hold_each_by_itself() -> None:
    assert judged(9, 1, 0.9).met
    assert judged(9, 1, 0.9).violations == ()
    failing = judged(7, 3, 0.9)
    assert not failing.met
    assert "met in 7 of 10 hours, 2 fewer than asked" in failing.violations[0]
    assert failing.excess == pytest.approx(0.2)  # the second of the three decides
    assert judged(0, 10, 0.0).met  # all hours together are met, which is what is asked for then


def landscape(seed: int, problem: Problem) -> tuple[list[Bid], Simulate]:
    """Errors and constraints by a rule of the bid alone, and what was asked for."""
    asked: list[Bid] = []

    def simulate(bid: Bid) -> BidOutcome:
        asked.append(bid)
        rng = np.random.default_rng((seed, int(bid.average_w), int(bid.reserve_w)))
        error = float(rng.uniform(0, 0.2))
        cost = 1e-4 * (bid.average_w - bid.reserve_w + error * bid.reserve_w)
        share = float(rng.uniform(0, 0.5))
        delays = tuple(np.ones(5) for _ in problem.workload.types)
        return BidOutcome(cost, 1 - cost / (1e-4 * bid.average_w), TrackingError(error, share), (),
                          delays)

    return asked, simulate


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("search", [exhaustive_bid, closed_form_bid])
def test_leaving_out_what_cannot_be_best_changes_no_bid(
    seed: int, search: Callable[..., Decision]
) -> None:
    problem = Problem(workload("W2"))
    asked, simulate = landscape(seed, problem)
    whole = search(problem, simulate)
    tried = len(asked)
    asked.clear()
    pruned = search(problem, simulate, whole=False)
    assert whole.bid is not None
    assert pruned.bid == whole.bid
    assert len(asked) < tried


def test_hold_needs_a_forecast(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give forecast"):
        planning_of(read_contract(None, {"workload": "W4", "hold": 0.9}))
    found = CliRunner().invoke(cli, ["study", "regulation", "--hold", "0.9"])
    assert isinstance(found.exception, InputError)
    assert "--forecast" in str(found.exception)


def test_other_hours_take_the_other_signals_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "four.csv"
    path.write_text(HOURS)
    flags = {"warmup": "0s", "workload": "W4", "signal": str(path), "signal_start": "1h"}
    scenario = read_contract(None, flags)
    signals = other_signals(scenario, 3)
    levels = [float(s.value[0]) for s in signals]
    assert levels == pytest.approx([0.0, 0.4, 0.6])
    case = case_of(scenario)
    planned = forecast_cases(case, 3, 1, signals=signals)
    assert [float(c.signal.value[0]) for c in planned] == pytest.approx(levels)
    last = other_signals(scenario, 1, stream=CHECKING)[0]
    assert float(last.value[0]) == pytest.approx(0.6)
    checked = forecast_cases(case, 3, 1, stream=CHECKING)
    assert not np.array_equal(planned[0].jobs.submit_s, checked[0].jobs.submit_s)


def test_other_hours_know_nothing_of_the_signal_that_was_drawn() -> None:
    # An hour's own mean is far from the generator's; a forecast that knew it would be a prophet's.
    fields = {"workload": "W4", "signal": {"correlation_s": 900.0}, "seed": 5}
    scenario = read_contract(None, fields)
    own = float(case_of(scenario).signal.value.mean())
    assert abs(own) > 0.1
    drawn = [other_signals(scenario, 200, stream=s) for s in (PLANNING, CHECKING)]
    for signals in drawn:
        assert abs(float(np.mean([s.value.mean() for s in signals]))) < 0.05
    assert drawn[0][0].value.tolist() != drawn[1][0].value.tolist()


@pytest.mark.compiled
def test_the_answer_says_on_how_many_other_hours_a_bid_holds(tmp_path: Path) -> None:
    north = site(tmp_path, "north")
    found = called("bid", north, "--bid", "exhaustive", "--check", "5")["other_hours"]
    assert found["hours"] == 5
    assert 0 <= found["met"] <= 5
    assert found["met_share"][0] <= found["met"] / 5 <= found["met_share"][1]
    assert found["exceed_share"] <= found["exceed_share_most"]
    assert bool(found["fails"]) == (found["met"] < 5)
    given = ("regulate", north, "--bid", "4000,600")
    assert called(*given)["other_hours"] is None
    assert called(*given, "--check", "3")["other_hours"]["hours"] == 3


@pytest.mark.compiled
def test_a_bid_planned_to_hold_does_so_on_the_hours_planned_on(tmp_path: Path) -> None:
    scenario = read_contract(Path(site(tmp_path, "north")), {})
    case = case_of(scenario)
    decision = choose(case, "exhaustive", forecast=4, hold=1.0, seed=3, whole=False)
    assert decision.bid is not None
    assert decision.outcome is not None
    assert [hour.met for hour in decision.outcome.hours] == [True] * 4


@pytest.mark.compiled
def test_a_lack_of_work_is_named_with_what_would_help(tmp_path: Path) -> None:
    idle = replace(case_of(read_contract(Path(site(tmp_path, "north")), {})), policy="aqa")
    # No job arrives: nothing but standby jobs can follow the target.
    load = replace(idle.workload, standby=None)
    lone = replace(idle, workload=load, jobs=idle.jobs.take(np.arange(len(idle.jobs)) < 0))
    full = with_standby(replace(lone, workload=idle.workload))
    assert len(full.jobs) > 0
    first = idle.jobs.take(idle.jobs.application < 2).take(np.arange(1))
    decision = choose(replace(lone, jobs=first), "exhaustive")
    assert not decision.participates
    assert "below the target" in decision.reason
    assert "standby jobs (--standby)" in decision.reason
    assert advice([full], decision) == ""  # they are there already


@pytest.mark.compiled
def test_bids_that_cannot_hold_are_given_up_early_and_still_fail(tmp_path: Path) -> None:
    case = case_of(read_contract(Path(site(tmp_path, "north")), {}))
    cases = forecast_cases(case, 6, 3)
    good = choose(case, "exhaustive", forecast=6, hold=0.8, seed=3, whole=False).bid
    assert good is not None
    low_w = case.workload.range.power_w_min
    bad = Bid(low_w + 10.0, 10.0)  # starves the jobs
    simulate = simulator(cases, 0.8)
    assert len(simulate(bad).hours) == 6  # none is known that holds
    assert simulate(good).met
    early = simulate(bad)
    assert not early.met
    assert len(early.hours) == 2
    assert early.excess > 0


@pytest.mark.compiled
def test_a_heuristic_bid_that_fails_is_not_offered(tmp_path: Path) -> None:
    # One server's worth of work: caps alone can move next to nothing, errors are large.
    busy = called("bid", site(tmp_path, "busy"), "--no-standby", "--utilisation", "0.05",
                  "--bid", "heuristic")
    assert not busy["participates"]
    assert "the only bid tried fails by: tracking" in busy["reason"]
    assert busy["average_power_w"] is None
    assert busy["nearest"]["reserve_w"] > 0
