"""Contracts under a programme: metered energy, a credit a period, a bill to work out anew."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import wattline as wl
from wattline.demand_response.building import case_of
from wattline.demand_response.jointly import joint_bill
from wattline.demand_response.reading import read_contract
from wattline.demand_response.run import run_contract
from wattline.grid.market import Bid, Contract, Prices, settle
from wattline.grid.programme import programme
from wattline.grid.sites import JointBid, Option
from wattline.model.signal import Signal

TYPE = {"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SHORT = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "20m", "warmup": "0s",
         "check": 0, "cycle_s": 10, "bid": (1500, 200), "standby": True}
pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


def test_each_period_has_its_own_score_and_credit() -> None:
    times_s = 4.0 * np.arange(450)
    level = Signal(times_s, np.full(450, 0.5))
    off = Signal(times_s, np.where(times_s < 900.0, 1050.0, 1000.0), "W")
    contract = Contract.fixed(Bid(1000.0, 100.0))
    first, second = programme("afrr-down").periods(off, contract, level, 0.0, 1800.0)
    assert (first.score, second.score) == (1.0, 0.0)
    assert first.credit == pytest.approx(10.0 * 100e-6 / 4)
    assert (second.start_s, second.end_s, second.credit) == (900.0, 1800.0, 0.0)


def test_what_happens_between_two_tellings_is_not_judged() -> None:
    told_s = np.array([0.0, 1.0, 3.0])
    spike = Signal(told_s, np.array([1000.0, 5000.0, 1000.0]), "W")
    period, = programme("fcr").periods(spike, Contract.fixed(Bid(1000.0, 100.0)),
                                       Signal.constant(0.0), 0.0, 100.0)
    assert period.score == 1.0


@pytest.mark.parametrize("name", ["fcr", "afrr-up", "pjm-regd", None])
def test_the_bill_can_be_worked_out_anew_from_the_table(name: str | None, tmp_path: Path) -> None:
    found = wl.regulate(**SHORT, **({} if name is None else {"programme": name}))
    with (found.save(tmp_path / "run") / "power.csv").open(encoding="utf-8") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    cost = 0.0
    for row in rows:
        error_w = abs(row["power_w"] - row["average_w"] - row["signal"] * row["reserve_w"])
        rate = (row["energy_price"] * row["billed_w"] - row["reserve_price"] * row["reserve_w"]
                + row["error_price"] * error_w)
        cost += rate * (row["end_s"] - row["start_s"]) / 3.6e6 - row["credit"]
    assert cost == pytest.approx(found.figures["cost"])
    metered_j = sum(row["power_w"] * (row["end_s"] - row["start_s"]) for row in rows)
    assert metered_j / 3.6e6 == pytest.approx(found.run.settlement.energy_kwh)
    idle_j = 1000.0 * found.run.run.start_s  # before the first job, which the run begins with
    after_j = found.run.actual_w.integral(1200.0, max(found.run.run.end_s, 1200.0))
    assert metered_j + after_j == pytest.approx(idle_j + found.run.run.energy_j)
    if name is not None:
        assert found.figures["programme"]["credit"] == pytest.approx(
            sum(row["credit"] for row in rows))


def test_a_credit_is_in_the_bill_only_in_the_place_of_prices_that_nobody_gave() -> None:
    """With a price of reserve of its own the bill is that of the prices, the credit beside it."""
    for given, credited in (({}, True), ({"prices": {"reserve": 0.1}}, False)):
        case = case_of(read_contract(None, SHORT | {"programme": "fcr"} | given))
        run = run_contract(case, Bid(1500.0, 200.0))
        prices = case.prices
        if credited:
            prices = Prices(prices.energy, Signal.constant(0.0), Signal.constant(0.0))
        bare = settle(run.actual_w, run.contract, case.signal, prices, start_s=case.judged_s,
                      end_s=case.end_s, metered=credited)
        assert run.settlement.credit > 0.0
        assert run.settlement.cost == pytest.approx(
            bare.cost - (run.settlement.credit if credited else 0.0))


def test_sites_that_bid_together_are_billed_by_the_programme_of_the_first() -> None:
    cases = {name: case_of(read_contract(None, SHORT | {"programme": "fcr", "seed": seed}))
             for name, seed in (("north", 1), ("south", 2))}
    runs = {name: run_contract(case, Bid(1500.0, 200.0)) for name, case in cases.items()}
    part = Option(1500.0, 200.0, 0.0)
    bill = joint_bill(cases["north"], JointBid(dict.fromkeys(cases, part), 3000.0, 400.0, 0.0, ""),
                      runs)
    assert bill is not None
    metered = sum(run.actual_w.integral(0.0, 1200.0) for run in runs.values()) / 3.6e6
    assert bill.energy_kwh == pytest.approx(metered)
    # 400 W for a third of an hour at 15 per MWh, by the score of the sum.
    assert bill.tracking.score is not None
    assert bill.credit == pytest.approx(15.0 * 400e-6 / 3 * bill.tracking.score)
    assert bill.cost == pytest.approx(0.1 * metered - bill.credit)
