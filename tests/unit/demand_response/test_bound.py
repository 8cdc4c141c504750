"""The bound beside a result: no bid that is kept costs less, and where there is none, none is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import wattline as wl
from wattline.demand_response.bound import bound_of
from wattline.demand_response.building import case_of
from wattline.demand_response.case import Case
from wattline.demand_response.pooling import simulator
from wattline.demand_response.reading import read_contract
from wattline.grid.market import Bid
from wattline.model.signal import Signal

TYPE = {"name": "one", "nodes": 1, "time_s_min": 30, "time_s_max": 45, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SHORT = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "4m", "warmup": "60s",
         "check": 0, "cycle_s": 2}


def case(**more: object) -> Case:
    return case_of(read_contract(None, SHORT | more))


@pytest.mark.parametrize("more", [{"utilisation": 0.9}, {"standby": True}])
def test_no_bid_that_is_kept_is_better_than_the_bound(more: dict[str, object]) -> None:
    level = Signal(4.0 * np.arange(75), np.tile([0.0, 0.0, 0.3, -0.3, 0.0], 15))
    mine = replace(case(cycle_s=1, seed=2, **more), signal=level)
    bound = bound_of(mine)
    assert bound is not None
    assert bound.cost is not None
    assert bound.saving is not None
    kept = [found for bid in (Bid(1600.0, 300.0), Bid(1800.0, 400.0), Bid(2000.0, 400.0))
            if (found := simulator(mine)(bid)).tracking.met]
    assert kept, "nothing is compared"
    assert all(found.cost >= bound.cost for found in kept)
    assert all(found.saving <= bound.saving for found in kept)


def test_with_endless_work_the_bound_is_the_price_of_the_idle_machine() -> None:
    signal = Signal(4.0 * np.arange(60), np.tile([0.2, -0.2], 30))
    found = bound_of(replace(case(standby=True), signal=signal))
    assert found is not None
    # P - R is at least the idle machine's 1,000 W; energy and reserve cost the same.
    assert found.cost == pytest.approx(0.1 * 1.0 * 240 / 3600, rel=0.05)


def test_without_work_no_bid_can_be_kept_while_the_signal_asks_for_power() -> None:
    idle = case()
    none = replace(idle, jobs=idle.jobs.take(np.zeros(len(idle.jobs), dtype=bool)),
                   signal=Signal.constant(1.0))
    found = bound_of(none)
    assert found is not None
    assert not found.feasible


def test_a_limit_or_a_score_of_correlations_has_no_bound() -> None:
    assert bound_of(case(programme="pjm-regd")) is None
    assert bound_of(replace(case(), limit_w=Signal.constant(1500.0))) is None


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_the_bound_stands_beside_the_result() -> None:
    figures = wl.regulate(**SHORT, bid=(1500, 200), standby=True).figures
    assert figures["bound"]["cost"] <= figures["cost"]
    assert figures["bound"]["feasible"]
