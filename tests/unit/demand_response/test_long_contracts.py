"""A long contract is planned as a whole, and no offer fails in its own run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from click.testing import CliRunner
from tests.support.contracts import contract_text

import wattline as wl
from wattline.cli.main import cli
from wattline.cli.regulate import BROKEN, DECLINED
from wattline.demand_response import offer
from wattline.demand_response.building import case_of
from wattline.demand_response.checking import other_hours
from wattline.demand_response.choosing import choose, planned_case
from wattline.demand_response.hours import other_signals, planned_words
from wattline.demand_response.reading import read_contract
from wattline.grid.bidding import Decision
from wattline.grid.bidding.problem import Trial
from wattline.grid.market import Bid

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
ONE = {"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90, "power_w_max": 250,
       "power_w_min": 200, "threshold": 5}
SITE: dict[str, Any] = {"types": [ONE], "servers": 10, "power_w_idle": 100, "check": 0,
                        "cycle_s": 30, "utilisation": 0.9, "warmup": "5m", "rounds": 4}
PRICES = {"contract__prices__reserve": ((0, 0.0), (3600, 0.1), (7200, 0.3)),
          "contract__prices__error": 0.0, "contract__prices__energy": 0.1}
FAILS = Bid(1600.0, 500.0)
"""Of ten busy servers: nobody can keep it."""


@pytest.mark.compiled
@pytest.mark.parametrize(("seed", "duration", "more"), [
    (51, "4h", {}), (53, "3h", {}), (54, "90m", {}),
    (51, "3h", {"forecast": 2}), (52, "4h", {"programme": "fcr"}), (53, "4h", {"bid": "range"}),
    (51, "3h", {"bid": "dayahead"} | PRICES)])
def test_no_offer_fails_in_its_own_run(seed: int, duration: str, more: dict[str, Any]) -> None:
    found = wl.regulate(**{"workload": "W10", "policy": "aqa", "standby": True, "check": 0,
                           "rounds": 30, "seed": seed, "duration": duration} | more)
    said = found.figures
    if said["participates"]:
        assert said["violations"] == []
        assert found.run.outcome.met
    else:
        assert said["reason"].startswith("do not participate")
        assert said["average_power_w"] is None
    if not more:
        assert said["participates"]  # there is such a bid, if one looks at all hours


def test_the_whole_contract_is_planned_or_blocks_of_its_market() -> None:
    case = case_of(read_contract(None, SITE | {"duration": "6h"}))
    assert planned_case(case, 0) is case
    assert planned_case(case, 3).duration_s == 3600 + 300
    reserve = case_of(read_contract(None, SITE | {"duration": "6h", "programme": "fcr"}))
    assert planned_case(reserve, 3).duration_s == 4 * 3600 + 300
    short = case_of(read_contract(None, SITE | {"duration": "30m", "programme": "fcr"}))
    assert planned_case(short, 3).duration_s == 1800 + 300
    decision = choose(case, "range", verify=True)
    assert decision.outcome is not None
    assert sum(each.jobs for each in decision.outcome.quality) == np.count_nonzero(
        case.jobs.submit_s >= case.judged_s)  # those of all six hours are judged


def test_forecast_and_check_have_blocks_of_the_market() -> None:
    scenario = read_contract(None, SITE | {"duration": "8h", "programme": "fcr", "forecast": 3})
    assert planned_words(scenario) == "3 blocks of 4 h that might come"
    assert planned_words(read_contract(None, SITE | {"duration": "6h"})) == (
        "the contract's own 6 h")
    assert all(signal.time_s[-1] > 3 * 3600 for signal in other_signals(scenario, 3))
    checked = other_hours(case_of(scenario), Bid(2000.0, 100.0), 2)
    assert (checked.hours, checked.block_s) == (2, 4 * 3600)


@pytest.mark.parametrize("more", [{}, {"bid": "dayahead"} | PRICES])
def test_an_offer_that_fails_in_its_run_is_withdrawn(
    more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = Trial(FAILS.average_w, FAILS.reserve_w, 0.0, True)
    chosen = Decision(FAILS, "found", trials=(trial,), power_w_alone=2400.0)
    monkeypatch.setattr(offer, "choose", lambda case, method, **asked: chosen)
    monkeypatch.setattr(offer, "choose_day", lambda case, method, **asked: chosen)
    found = wl.regulate(**SITE | {"duration": "2h", "forecast": 2} | more)
    said = found.figures
    assert not said["participates"]
    assert (said["average_power_w"], said["constraints_met"]) == (None, None)
    assert "do not participate: in the contract's own time the bid" in said["reason"]
    assert "would fail: tracking: the error is large" in said["reason"]
    assert said["cost"] == pytest.approx(said["cost_uncontrolled"], rel=0.05)
    assert ("nearest" in said) == (not more)
    assert found.decision is not None
    assert found.decision.bid is None


@pytest.mark.parametrize(("bid", "status"), [
    ("[2000, 30]", 0), ("[2400, 100]", BROKEN), ("'range'", DECLINED)])
def test_the_exit_status_says_what_became_of_the_contract(
    bid: str, status: int, tmp_path: Path
) -> None:
    path = tmp_path / "site.toml"
    given = {"duration": "10m", "cycle_s": 5, "standby": bid != "'range'"}
    path.write_text(contract_text(f"bid = {bid}\n" + tomli_w.dumps(SITE | given)))
    done = CliRunner().invoke(cli, ["regulate", str(path), "--json"])
    said = json.loads(done.stdout)
    assert (done.exit_code, said["participates"]) == (status, status != DECLINED)
    assert bool(said["violations"]) == (status == BROKEN) or status == DECLINED
