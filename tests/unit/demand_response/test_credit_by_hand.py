"""What a programme's own terms do to the bill of a contract, worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.demand_response.credit import full_price, least_offer_words, why_not
from wattline.demand_response.money import assumed_prices
from wattline.demand_response.reading import contract_of, read_contract
from wattline.grid.programme import programme
from wattline.model.signal import Signal

TYPE = {"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SHORT = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "2h", "warmup": "0s",
         "check": 0, "cycle_s": 60}
PAYS = """\
title = "ours"
source = "us"
date = "2026"
simplified = "all"
[judged]
rule = "band"
least = 0.9
[payment]
capability_per_mwh = 30
performance_per_mwh = 4
mileage_of_slow_signal_per_h = 2
[terms]
minimum_w = 1000
"""


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "own.toml"
    path.write_text(PAYS)
    return str(path)


def test_a_kwh_of_reserve_earns_what_a_mwh_does_over_a_thousand_at_a_score_of_one(own: str) -> None:
    """The signal moves by 1 + 2 + 2 in two hours, 2.5 an hour, which is 1.25 times the mileage of
    the slow one: 30 + 1.25 x 4 = 35 a MWh."""
    level = Signal.from_steps([(0.0, 0.0), (1800.0, 1.0), (3600.0, -1.0), (5400.0, 1.0)])
    contract = contract_of(read_contract(None, SHORT | {"programme": own}))
    assert full_price(contract, level) == pytest.approx(0.035)


@pytest.mark.parametrize(("reserve_w", "times"), [
    (1000.0, 0), (2000.0, 0), (999.0, 2), (500.0, 2), (499.0, 3), (0.0, 0), (None, 0)])
def test_a_reserve_is_below_the_least_offer_where_it_does_not_reach_it(
    own: str, reserve_w: float | None, times: int
) -> None:
    """Of 1,000 W; 999 W need a second site, 499 W a third."""
    said = least_offer_words(programme(own), reserve_w)
    assert said == ("" if times == 0 else "the reserve is below the least offer of 1,000 W: "
                    f"{times} times as much reaches it, of such sites together")


@pytest.fixture
def curtailing(tmp_path: Path) -> str:
    """The same with an event of a tenth less for half an hour."""
    path = tmp_path / "curtailing.toml"
    path.write_text(PAYS.replace('"band"', '"limit"') + "[curtailment]\nstart = 600\nshare = 0.1\n"
                    "duration = 1800\nnotice = 300\n")
    return str(path)


@pytest.mark.parametrize(("given", "why"), [
    ({}, ""), ({"energy": 0.2}, ""),
    ({"error": 0.2}, "[contract.prices] has a price of error of its own"),
    ({"reserve": 0.1, "error": 0.2},
     "[contract.prices] has a price of reserve and error of its own")])
def test_a_price_of_reserve_or_error_stands_in_the_place_of_the_credit_but_for_a_curtailment(
    own: str, curtailing: str, given: dict[str, float], why: str
) -> None:
    """A curtailment has no reserve and no error: its credit is for the reduction."""
    prices = {"prices": given} if given else {}
    assert why_not(contract_of(read_contract(None, SHORT | {"programme": own} | prices))) == why
    contract = contract_of(read_contract(None, SHORT | {"programme": curtailing} | prices))
    assert contract.curtailment is not None
    assert why_not(contract) == ""


def test_a_credit_of_a_curtailment_is_in_the_place_of_no_price(own: str, curtailing: str) -> None:
    """A bid is priced beside it; with a programme that pays for a reserve only energy is."""
    bid = SHORT | {"bid": (1500.0, 200.0)}
    (said,) = assumed_prices(read_contract(None, bid | {"programme": own}))
    assert said.startswith("the price of energy is assumed")
    (said,) = assumed_prices(read_contract(None, bid | {"programme": curtailing}))
    assert said.startswith("the prices of energy, reserve, error are assumed")
