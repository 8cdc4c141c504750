"""Products of one direction: what may be offered, searched for and found in the run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import wattline as wl
from wattline.demand_response.building import case_of
from wattline.demand_response.reading import read_contract
from wattline.demand_response.run import run_contract
from wattline.grid.bidding import capping_heuristic, range_heuristic
from wattline.grid.bidding.exhaustive import grid_bids
from wattline.grid.bidding.polish import project_power
from wattline.grid.bidding.problem import Problem
from wattline.grid.market import Bid, Product, Range
from wattline.grid.workloads import workload

REACH = Range(500.0, 2000.0)
TYPE = {"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SHORT = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "4m", "warmup": "0s",
         "check": 0, "cycle_s": 2}
pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


def reach(product: Product) -> Range:
    return replace(REACH, product=product)


@pytest.mark.parametrize(("product", "allowed", "refused", "said"), [
    ("down", Bid(500.0, 1500.0), Bid(1000.0, 1500.0), "P \\+ R is 2500 W"),
    ("down", Bid(600.0, 300.0), Bid(400.0, 300.0), "^P is 400 W, 100 W below the idle machine"),
    ("up", Bid(2000.0, 1500.0), Bid(1000.0, 700.0), "P - R is 300 W"),
    ("up", Bid(1900.0, 300.0), Bid(2100.0, 300.0), "^P is 2100 W, 100 W above the machine"),
])
def test_only_the_direction_that_is_offered_must_be_in_reach(
    product: Product, allowed: Bid, refused: Bid, said: str
) -> None:
    reach(product).check(allowed)
    assert reach(product).largest_reserve_w(allowed.average_w) >= allowed.reserve_w
    with pytest.raises(wl.InputError, match=said):
        reach(product).check(refused)


def test_projected_bids_are_in_reach_and_use_the_side_that_a_symmetric_one_cannot() -> None:
    rng = np.random.default_rng(1)
    products: tuple[Product, ...] = ("symmetric", "up", "down")
    for product in products:
        for average_w, reserve_w in rng.uniform(0, 3000, (200, 2)):
            reach(product).check(Bid(*project_power(reach(product), average_w, reserve_w)))
    assert project_power(reach("down"), 600.0, 1300.0) == (600.0, 1300.0)
    assert project_power(reach("up"), 1900.0, 1300.0) == (1900.0, 1300.0)


@pytest.mark.parametrize("product", ["up", "down"])
def test_searches_offer_more_than_a_symmetric_product_allows(product: Product) -> None:
    load = replace(workload("W4"), product=product)
    for bid in (*grid_bids(Problem(load)), range_heuristic(load), capping_heuristic(load)):
        load.range.check(bid)
    plain = workload("W4")
    most = max(b.reserve_w - plain.range.largest_reserve_w(b.average_w)
               for b in grid_bids(Problem(load)))
    assert most > 500.0
    assert capping_heuristic(load).reserve_w == pytest.approx(
        2 * capping_heuristic(plain).reserve_w)


def test_a_downward_set_point_is_followed_and_bids_near_idle_are_taken(tmp_path: Path) -> None:
    signal = tmp_path / "asked.csv"
    rows = "".join(f"{10 * n},{0.0 if n < 12 else 1.0}\n" for n in range(25))
    signal.write_text("t_s,value\n" + rows)
    asked = SHORT | {"signal": str(signal), "standby": True, "seed": 3}
    found = wl.regulate(**asked, programme="afrr-down", bid=(1100, 900)).run
    assert found.target_w.at(10.0) == 1100.0
    assert found.target_w.at(130.0) == 2000.0
    assert found.actual_w.at(200.0) > found.actual_w.at(100.0) + 500.0
    with pytest.raises(wl.InputError, match="P - R is 200 W"):
        wl.regulate(**asked, bid=(1100, 900))


@pytest.mark.parametrize("name", ["afrr-up", "afrr-down"])
def test_bids_found_in_the_run_span_the_whole_range_in_one_direction(name: str) -> None:
    asked = SHORT | {"bid": "adaptive", "policy": "qoscap", "utilisation": 0.9, "warmup": "4m"}
    plain = run_contract(case_of(read_contract(None, asked)), None).contract
    found = run_contract(case_of(read_contract(None, asked | {"programme": name})), None).contract
    average_w, reserve_w = (each.value[-1] for each in (found.average_w, found.reserve_w))
    low_w, high_w = (average_w - reserve_w, average_w) if name == "afrr-up" else (
        average_w, average_w + reserve_w)
    middle_w, half_w = plain.average_w.value[-1], plain.reserve_w.value[-1]
    assert half_w > 0
    assert (low_w, high_w) == pytest.approx((middle_w - half_w, middle_w + half_w))
