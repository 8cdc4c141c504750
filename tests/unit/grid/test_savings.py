"""Bills and savings at prices that step, vanish or are negative."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.support.contracts import check_ended, contract_text

from wattline.cli.main import cli
from wattline.demand_response.building import case_of
from wattline.demand_response.checking import summary
from wattline.demand_response.choosing import choose_day, forecast_cases
from wattline.demand_response.pooling import pool
from wattline.demand_response.reading import read_contract
from wattline.demand_response.reference import uncontrolled_cost, uncontrolled_w
from wattline.demand_response.run import run_contract
from wattline.grid.market import Bid, saved_share
from wattline.grid.qos import TypeQuality, mean_interval, quality_of
from wattline.model.errors import InputError

TYPES = """
servers = 10
power_w_idle = 100
utilisation = 0.7
duration = "10m"
seed = 3
check = 0
[[types]]
name = "one"
nodes = 1
time_s_min = 60
time_s_max = 90
power_w_max = 250
power_w_min = 200
threshold = 5
"""


def regulate(tmp_path: Path, prices: str, *arguments: str) -> str:
    path = tmp_path / "scenario.toml"
    path.write_text(contract_text(TYPES + prices))
    result = CliRunner().invoke(cli, ["regulate", str(path), "--bid", "1600,300", *arguments])
    check_ended(result)
    return result.output


def test_without_an_energy_price_there_is_no_share_to_save(tmp_path: Path) -> None:
    said = regulate(tmp_path, "[prices]\nenergy = 0\n")
    assert "saving - of the bill without a contract, - of the energy bid for" in said
    found = json.loads(regulate(tmp_path, "[prices]\nenergy = 0\n", "--json"))
    assert found["saving"] is None
    assert found["saving_against_uncontrolled"] is None


def test_a_bid_tells_first_what_the_bill_changes_by(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(contract_text(TYPES + "[prices]\nenergy = [[0, 0.5], [150, 0.02]]\n"))
    argv = ["bid", str(path), "--bid", "range"]
    found = json.loads(CliRunner().invoke(cli, [*argv, "--json"]).output)
    chosen = found["nearest"] or found
    case = case_of(read_contract(path, {}))
    run = run_contract(case, Bid(chosen["average_power_w"], chosen["reserve_w"]))
    assert found["cost"] == pytest.approx(run.settlement.cost)
    bill = 1 - found["cost"] / uncontrolled_cost(case)
    assert found["saving_against_uncontrolled"] == pytest.approx(bill)
    assert found["saving"] != pytest.approx(bill, abs=0.02)
    told = CliRunner().invoke(cli, argv).output
    assert (f"saving {bill:z.1%} of the bill without a contract, {found['saving']:z.1%} of the "
            "energy bid for") in told


def test_the_saving_on_several_hours_is_that_of_their_bills_together(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(contract_text(TYPES))
    case = case_of(read_contract(path, {}))
    hours = forecast_cases(case, 3, 5)
    runs = [run_contract(hour, Bid(1600.0, 300.0)) for hour in hours]
    together = pool(runs)
    bill = sum(run.settlement.cost for run in runs)
    alone = sum(uncontrolled_cost(hour) for hour in hours)
    assert together.saving_against_uncontrolled == pytest.approx(1 - bill / alone)
    each = [1 - run.settlement.cost / uncontrolled_cost(hour)
            for run, hour in zip(runs, hours, strict=True)]
    told = summary(runs).saving_against_uncontrolled
    assert told == pytest.approx(mean_interval(each))


def test_bids_for_other_hours_are_priced_as_the_first(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    prices = "[prices]\nenergy = [[0, 0.1], [3600, 0.01]]\nreserve = [[0, 0.02], [3600, 0.2]]\n"
    path.write_text(contract_text(
        TYPES.replace('"10m"', '"2h"\ncycle_s = 60\nforecast = 1') + prices))
    case = case_of(read_contract(path, {}))
    found = choose_day(case, "descent", rounds=2, forecast=1)
    first = case.prices.mean(0.0, 3600.0)
    assert len(found.trials) > 2
    assert [trial.cost for trial in found.trials] == pytest.approx(
        [trial.hour_cost(*first) for trial in found.trials])


def test_where_the_mean_is_judged_a_failure_says_so() -> None:
    hours = np.array([0.0, 0.5, 9.0])
    found = replace(quality_of("x", hours, unfinished=0, threshold=2.0), by_mean=True)
    assert not found.met
    assert found.why == ("the mean degradation of the jobs is 3.17, and not below the threshold 2")
    assert found.figures()["violation_share"] == pytest.approx(1 / 3)
    below = replace(quality_of("x", hours, unfinished=0, threshold=4.0), by_mean=True)
    assert below.met
    assert TypeQuality.pooled([found, replace(below, threshold=2.0)]).met is False


def test_a_lower_bill_is_a_saving_at_negative_prices_too(tmp_path: Path) -> None:
    found = json.loads(regulate(tmp_path, "[prices]\nenergy = -0.1\n", "--json"))
    assert found["cost_uncontrolled"] < 0
    lower = found["cost"] < found["cost_uncontrolled"]
    assert (found["saving_against_uncontrolled"] > 0) == lower
    assert found["saving"] > 0  # the reserve is paid for beside the energy
    assert saved_share(-3.0, -2.0) == 0.5
    assert saved_share(1.0, 2.0) == 0.5


def test_bills_take_each_price_with_what_is_drawn_in_its_time(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(contract_text(TYPES + "[prices]\nenergy = [[0, 0.5], [150, 0.02]]\n"))
    case = case_of(read_contract(path, {}))
    found = run_contract(case, None)
    exact = sum(price * found.actual_w.integral(first_s, last_s) / 3.6e6
                for first_s, last_s, price in ((0, 150, 0.5), (150, 600, 0.02)))
    assert found.settlement.cost == pytest.approx(exact, rel=1e-12)
    assert found.settlement.cost == found.settlement.cost_without
    # A second by a second, from the jobs that would run then.
    now_s = np.arange(0.05, 600.0, 0.1)
    jobs = case.jobs
    power_w = 10 * 100.0 + sum(
        150.0 * ((now_s >= s) & (now_s < s + r))
        for s, r in zip(jobs.submit_s, jobs.run_s, strict=True)
    )
    price = np.where(now_s < 150, 0.5, 0.02)
    assert uncontrolled_cost(case) == pytest.approx(float((price * power_w).sum()) * 0.1 / 3.6e6,
                                                    rel=1e-3)
    mean = float(case.prices.energy.integral(0, 600)) / 600
    assert uncontrolled_cost(case) != pytest.approx(mean * uncontrolled_w(case) / 6000, rel=0.01)


def test_a_folder_is_no_scenario(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["regulate", str(tmp_path)])
    assert isinstance(result.exception, InputError)
    assert "folder" in str(result.exception)


def test_a_machine_that_is_always_full_is_told_why_it_cannot_bid(tmp_path: Path) -> None:
    path = tmp_path / "full.toml"
    full = TYPES.replace("0.7", "1.0").replace("threshold = 5", "threshold = 0.01")
    path.write_text(contract_text(full))
    argv = ["bid", str(path), "--bid", "closed_form", "--policy", "qosg", "--json"]
    result = CliRunner().invoke(cli, argv)
    assert result.exit_code == 0, result.exception
    found = json.loads(result.output)
    assert not found["participates"]
    assert "do not participate" in found["reason"]
    assert "above one" in found["reason"] or "above the limit" in found["reason"]


def test_a_bill_can_be_worked_out_from_the_tables(tmp_path: Path) -> None:
    out = tmp_path / "out"
    prices = "[prices]\nenergy = [[0, 0.5], [150, 0.02]]\n"
    found = json.loads(regulate(tmp_path, prices, "--warmup", "2m", "--out", str(out), "--json"))
    assert found["run_dir"] == str(out)
    table = np.genfromtxt(out / "power.csv", delimiter=",", names=True)
    span_h = (table["end_s"] - table["start_s"]) / 3600
    assert span_h.sum() == pytest.approx(1 / 6)
    error_w = np.abs(table["power_w"] - table["average_w"] - table["signal"] * table["reserve_w"])
    money = (table["energy_price"] * table["average_w"] - table["reserve_price"]
             * table["reserve_w"] + table["error_price"] * error_w) / 1000
    assert float(money @ span_h) == pytest.approx(found["cost"], rel=1e-12)
    jobs = pq.read_table(out / "jobs.parquet")
    assert jobs.num_rows >= found["qos"]["one"]["jobs"] > 0
