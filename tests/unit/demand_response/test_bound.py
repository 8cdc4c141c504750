"""The bound beside a result: no bid that is kept costs less, and where there is none, none is."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import wattline as wl
from wattline.cli.other_hours import print_bound
from wattline.demand_response import linear_program
from wattline.demand_response.bound import bound_figures, bound_of, can_be_kept
from wattline.demand_response.building import assumed_sleep, case_of
from wattline.demand_response.case import Case
from wattline.demand_response.pooling import simulator
from wattline.demand_response.reading import read_contract
from wattline.demand_response.run import run_contract
from wattline.grid.market import Bid, Prices
from wattline.model.signal import Signal

TYPE = {"name": "one", "nodes": 1, "time_s_min": 30, "time_s_max": 45, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SHORT = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "4m", "warmup": "60s",
         "check": 0, "cycle_s": 2}
SQUARE = Signal(60.0 * np.arange(5), np.array([0.0, 1.0, -1.0, 1.0, -1.0]))
"""Each way for half of the contract, after a minute of warm-up."""


def case(**more: object) -> Case:
    return case_of(read_contract(None, SHORT | more))


def without_jobs(given: Case) -> Case:
    return replace(given, jobs=given.jobs.take(np.zeros(len(given.jobs), dtype=bool)))


@pytest.mark.parametrize("more", [{"utilisation": 0.9}, {"standby": True}, {"preempt": True},
                                  {"sleep": True}])
def test_no_bid_that_is_kept_is_better_than_the_bound(more: dict[str, object]) -> None:
    level = Signal(4.0 * np.arange(75), np.tile([0.0, 0.0, 0.3, -0.3, 0.0], 15))
    mine = replace(case(cycle_s=1, seed=2, **more), signal=level)
    bound = bound_of(mine)
    assert bound.cost is not None
    assert bound.saving is not None
    bids = (Bid(1400.0, 400.0), Bid(1600.0, 300.0), Bid(1800.0, 400.0), Bid(2000.0, 400.0))
    runs = [(bid, found) for bid in bids if (found := simulator(mine)(bid)).met]
    assert runs, "nothing is compared"
    for bid, found in runs:
        assert found.cost >= bound.cost - 1e-6
        assert found.saving <= bound.saving + 1e-6
        assert can_be_kept(mine, bid)


REGD_LIKE = np.clip(1.4 * np.sin(np.arange(900) / 23.0) + 0.8 * np.sin(np.arange(900) / 5.0), -1, 1)
"""At its limits for minutes, as a fast signal of a real market is."""
HOURS = {
    "drawn": (None, {"utilisation": 0.5}),
    "constant": (np.full(1, 0.1), {"utilisation": 0.3, "standby": True}),
    "at its limits": (REGD_LIKE, {"utilisation": 0.9, "sleep": True}),
    "steps": (np.where(np.arange(900) // 75 % 2 == 0, 1.0, -1.0),
              {"utilisation": 1.0, "standby": True, "below_idle": True}),
}


BEFORE_A_COMMIT = (4, 6, 14)
"""Workloads of eight types of jobs, small and large, of two and of three; the others take most of a
minute and have eight types as well."""


@pytest.mark.compiled
@pytest.mark.parametrize("number", [
    pytest.param(number, marks=[] if number in BEFORE_A_COMMIT else [pytest.mark.long])
    for number in range(1, 15)])
def test_no_rule_keeps_a_better_bid_in_any_workload(number: int) -> None:
    rng = np.random.default_rng(number)
    kept = 0
    for name, (level, fields) in HOURS.items():
        mine = case_of(read_contract(None, {
            "workload": f"W{number}", "seed": number, "check": 0} | fields))
        if level is not None:
            times_s = mine.judged_s + 4.0 * np.arange(level.size)
            mine = replace(mine, signal=Signal(times_s, level))
        bound, reach = bound_of(mine), mine.workload.range
        for policy, _ in product(("aqa", "qoscap", "qosg"), range(5)):
            average_w = mine.workload.power_w_mean * rng.uniform(0.9, 1.1)
            average_w = min(average_w, 0.98 * reach.power_w_max)
            reserve_w = reach.largest_reserve_w(average_w) * rng.uniform(0.1, 1.0)
            bid = Bid(average_w, reserve_w, start_share=rng.choice([0.3, 1.0]))
            run = run_contract(replace(mine, policy=policy), bid)
            if run.constraints_met:
                kept += 1
                assert bound.feasible, (name, policy, bid)
                assert run.settlement.cost >= bound.cost - 1e-6, (name, policy, bid)
                assert run.settlement.saving <= bound.saving + 1e-6, (name, policy, bid)
    assert kept, "nothing is compared"


def test_the_largest_reserve_for_the_energy_that_waits() -> None:
    flat = TYPE | {"time_s_max": 30, "power_w_min": 250}
    mine = case(types=[flat], utilisation=0.8)
    # All came before the contract, and errors cost nothing.
    first = mine.jobs.take(mine.jobs.submit_s < mine.judged_s)
    mine = replace(mine, jobs=first, signal=Signal.constant(1.0), prices=Prices.flat(error=0.0))
    energy_j = len(first) * 30.0 * (250.0 - 100.0)
    found = bound_of(mine)
    # P - R is the idle machine; it has to draw 2 R above it, less 0.3 R, for nine tenths.
    reserve_w = energy_j / (0.9 * 1.7 * 240.0)
    assert found.reserve_w == pytest.approx(reserve_w, rel=1e-6)
    assert found.saving == pytest.approx(reserve_w / (1000.0 + reserve_w), rel=1e-6)


def test_with_endless_work_the_bound_is_the_price_of_the_idle_machine() -> None:
    signal = Signal(4.0 * np.arange(60), np.tile([0.2, -0.2], 30))
    found = bound_of(replace(case(standby=True), signal=signal))
    # P - R is at least the idle machine's 1,000 W; energy and reserve cost the same.
    assert found.cost == pytest.approx(0.1 * 1.0 * 240 / 3600)


def test_without_work_no_bid_can_be_kept_while_the_signal_asks_for_power() -> None:
    none = replace(without_jobs(case()), signal=Signal.constant(1.0))
    assert bound_of(none).feasible is False
    assert bound_of(replace(none, signal=Signal.constant(-0.8))).feasible


def test_more_work_than_servers_leaves_no_bid_where_quality_is_tight() -> None:
    tight = TYPE | {"threshold": 0.5}
    mine = case(types=[tight], utilisation=1.0)
    fewer = replace(mine, workload=replace(mine.workload, servers=6))
    assert bound_of(fewer).feasible is False
    patient = replace(fewer.workload, types=(replace(fewer.workload.types[0], threshold=50.0),))
    assert bound_of(replace(fewer, workload=patient)).feasible


def test_a_target_below_the_idle_machine_cannot_be_kept_unless_servers_sleep() -> None:
    mine = replace(without_jobs(case(standby=True, below_idle=True)), signal=SQUARE)
    assert not can_be_kept(mine, Bid(1300.0, 600.0))  # 700 W, with 180 W of error
    assert can_be_kept(mine, Bid(1300.0, 400.0))
    quick = replace(assumed_sleep(100.0), boot_s=10.0, shutdown_s=10.0)
    assert can_be_kept(replace(mine, sleep=quick), Bid(1300.0, 600.0))


def test_with_servers_that_sleep_the_bound_is_not_that_of_a_machine_without_power() -> None:
    mine = case(sleep=True, utilisation=0.5)
    # 10 W asleep, 100 W idle, 250 W busy: with P + R = 2,500 W all are awake, and P - R is 1,000 W.
    found = bound_of(replace(mine, prices=Prices.flat(error=0.0)))
    assert found.saving is not None
    assert found.saving <= 750 / 1750 + 1e-6
    freely = replace(mine, workload=replace(mine.workload, below_idle=True))
    assert (bound_of(freely).saving or 0.0) > found.saving + 0.2


def test_servers_that_boot_slowly_cost_more() -> None:
    mine = replace(without_jobs(case(standby=True, below_idle=True)), signal=SQUARE,
                   prices=Prices.flat(reserve=0.3))
    node = assumed_sleep(100.0)
    quick, slow = (bound_of(replace(mine, sleep=replace(node, boot_s=boot_s))).cost
                   for boot_s in (10.0, 180.0))
    assert quick is not None
    assert slow is not None
    assert slow > quick + 0.01 * abs(quick)


@pytest.mark.parametrize("more", [{}, {"below_idle": True}, {"sleep": True}, {"standby": True},
                                  {"utilisation": 1.0}])
def test_the_bid_of_the_bound_is_one_that_the_market_takes(more: dict[str, object]) -> None:
    for seed in range(1, 6):
        mine = case(seed=seed, **more)
        found = bound_of(mine)
        assert found.average_w is not None
        assert found.reserve_w is not None
        mine.workload.range.check(Bid(found.average_w, found.reserve_w))
        for way in ("up", "down"):
            one_way = replace(mine, workload=replace(mine.workload, product=way))
            found = bound_of(one_way)
            if found.feasible:
                one_way.workload.range.check(Bid(found.average_w or 0.0, found.reserve_w or 0.0))


def test_the_bound_depends_on_arrivals_load_and_signal() -> None:
    quiet = case(seed=1, utilisation=0.3)
    savings = [bound_of(mine).saving for mine in (
        quiet, case(seed=2, utilisation=0.3), case(seed=1, utilisation=0.4),
        replace(quiet, signal=SQUARE), replace(quiet, signal=Signal.constant(0.5)))]
    assert len({round(saving or 0.0, 4) for saving in savings}) == len(savings)


def test_where_nothing_can_be_said_there_is_a_reason() -> None:
    given = case()
    silent = {
        "samples": case(programme="fcr"), "correlations": case(programme="pjm-regd"),
        "limit": replace(given, limit_w=given.signal),
        "hour": replace(given, adaptive=True), "meter": replace(given, meter_noise=0.01),
        "label": replace(given, truth=np.array(given.jobs.application)),
        "log": replace(given, mean_quality=True),
    }
    for word, mine in silent.items():
        found = bound_of(mine)
        assert found.feasible is None
        assert word in found.reason
        assert can_be_kept(mine, Bid(1500.0, 200.0)) is None
        assert bound_figures(mine, None, met=None)["failure"] is None


def test_a_failure_is_owed_to_the_hour_the_bid_or_the_rule() -> None:
    mine = replace(case(utilisation=0.5, seed=2), signal=SQUARE)
    assert bound_figures(mine, Bid(2000.0, 200.0), met=False)["failure"] == "bid"
    assert bound_figures(mine, Bid(1250.0, 100.0), met=False)["failure"] == "rule"
    assert bound_figures(mine, Bid(1250.0, 100.0), met=True)["failure"] is None
    assert bound_figures(without_jobs(mine), None, met=None)["failure"] == "hour"


def test_what_is_said_of_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    mine = replace(case(utilisation=0.5, seed=2), signal=SQUARE)
    said = []
    for given, bid in ((mine, Bid(2000.0, 200.0)), (mine, Bid(1250.0, 100.0)),
                       (without_jobs(mine), None), (case(programme="fcr"), None)):
        print_bound(bound_figures(given, bid, met=None))
        said.append(capsys.readouterr().out)
    assert "no rule could have kept this bid" in said[0]
    assert "owed to the rule" in said[1]
    assert "no bid can be kept" in said[2]
    assert "judges samples" in said[3]
    assert "saves more than" in said[0]


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_the_bound_stands_beside_the_result() -> None:
    figures = wl.regulate(**SHORT, bid=(1500, 200), standby=True).figures
    assert figures["bound"]["cost"] <= figures["cost"]
    assert figures["bound"]["feasible"]


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_a_bound_that_is_not_found_takes_nothing_from_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = SHORT | {"bid": (1400, 400), "utilisation": 0.9}
    before = wl.regulate(**given).figures
    assert before["violations"]
    assert before["bound"]["failure"] is not None
    monkeypatch.setattr(linear_program, "LONGEST_S", 0.0)
    found = wl.regulate(**given).figures
    assert found["bound"]["feasible"] is None
    assert "was not solved" in found["bound"]["reason"]
    assert found["bound"]["failure"] is None
    assert found["cost"] == before["cost"]
    mine = case(utilisation=0.9)
    assert can_be_kept(mine, Bid(1400.0, 400.0)) is None
    monkeypatch.undo()
    assert bound_figures(mine, None, met=False)["failure"] in ("hour", "rule")


@pytest.mark.parametrize(("more", "bid"), [
    ({"workload": "W2", "seed": 582, "warmup": "90m", "duration": "90m"},
     Bid(12424.871904190824, 203.012606568108)),
    ({"workload": "W13", "seed": 24, "warmup": "0s", "standby": True},
     Bid(6271.509825287344, 106.95284063325562)),
])
def test_a_small_reserve_just_out_of_reach_is_said_to_be(
    more: dict[str, object], bid: Bid, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(linear_program, "METHODS", ("choose",))  # the first is to be enough
    asked = {"preempt": True, "level": "loose", "burst": 3, "bid": (bid.average_w, bid.reserve_w)}
    mine = case_of(read_contract(None, asked | more))
    assert can_be_kept(mine, bid) is False
