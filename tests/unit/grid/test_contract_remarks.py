"""Remarks of the commands on options without effect, of the check's hours and of curtailments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.contracts import contract_text
from tests.unit.grid.test_savings import TYPES

from wattline.cli.main import cli
from wattline.demand_response.choosing import CHECKING
from wattline.demand_response.hours import other_signals, planned_on_checked
from wattline.demand_response.reading import read_contract
from wattline.demand_response.remarks import remarks

FILLER = {"name": "filler", "nodes": 1, "time_s_min": 30, "time_s_max": 36, "power_w_max": 250,
          "power_w_min": 200, "threshold": 100}


@pytest.mark.parametrize(
    ("fields", "choosing", "words"),
    [
        ({"forecast": 5, "mislabelled": 0.3}, True, "right labels"),
        ({"check": 5, "mislabelled": 0.3}, False, "check has no effect: wrong labels"),
        ({"check": 5, "bid": "adaptive"}, False, "check has no effect: adaptive"),
        ({"hold": 0.9, "bid": (9000, 2000)}, False, "hold has no effect"),
        ({"signal_start": "1h"}, False, "signal_start has no effect"),
        ({"weights": [0.5, 0.5]}, True, "weights have no effect"),
        ({"curtailment": {"start": "1h"}, "bid": "descent"}, False, "bid has no effect"),
        ({"curtailment": {"start": "1h"}, "check": 3}, False, "beside a curtailment"),
        ({"curtailment": {"start": "1h"}, "forecast": 3}, False, "forecast has no effect: beside"),
        ({"curtailment": {"start": "1h"}, "latency": "5s"}, False, "latency has no effect: beside"),
        ({"curtailment": {"start": "1h"}, "below_idle": True}, False, "below_idle has no effect"),
        ({"rounds": 50, "bid": (9000, 2000)}, False, "rounds has no effect: no bid is planned"),
        ({"rounds": 50, "policy": "qoscap"}, True, "the bid is chosen by exhaustive"),
        ({"bid": "dayahead", "check": 3}, False, "check has no effect: bids by the hour"),
        ({"standby_type": FILLER}, False, "standby_type has no effect"),
        ({"bid": "range", "forecast": 3}, False, "forecast has no effect: range takes its bid"),
        ({"bid": "adaptive", "weights": [0.5, 0.5]}, False, "all types weigh the same"),
        ({"bid": "adaptive", "policy": "auto"}, False, "policy auto takes aqa: adaptive bids"),
        ({"bid": "dayahead", "weights": [0.5, 0.5]}, False, "weights have no effect: they are"),
        ({"weights": [0.5, 0.5]}, False, "weights are put into the bid once it is chosen"),
        ({"types": [FILLER], "workload": None, "servers": 5, "power_w_idle": 90,
          "mislabelled": 0.5}, False, "mislabelled has no effect"),
    ],
)
def test_what_has_no_effect_is_said(fields: dict[str, Any], choosing: bool, words: str) -> None:
    found = remarks(read_contract(None, {"workload": "W4"} | fields), choosing=choosing)
    assert len(found) == 1
    assert words in found[0]


def test_nothing_is_said_of_what_has_an_effect() -> None:
    fields = {"workload": "W4", "check": 5, "forecast": 30, "hold": 0.9, "standby": True}
    assert remarks(read_contract(None, fields), choosing=True) == []
    assert remarks(read_contract(None, {"workload": "W4", "bid": (9000, 2000),
                                        "weights": [0.5, 0.5]})) == []
    assert remarks(read_contract(None, {"workload": "W4", "bid": "range",
                                        "weights": [0.5, 0.5]})) == []


@pytest.mark.parametrize("fields", [{"rounds": 50}, {"rounds": 50, "policy": "auto"},
                                    {"latency": "5s", "bid": (9000, 2000)}])
def test_rounds_and_latency_have_an_effect(fields: dict[str, Any]) -> None:
    assert remarks(read_contract(None, {"workload": "W4"} | fields)) == []


@pytest.mark.parametrize("option", [("--events-begin", "2026-07-01T12:00:00Z"),
                                    ("--events-cap", "5kW")])
@pytest.mark.parametrize("command", ["regulate", "bid"])
def test_options_of_events_are_refused_without_events(
    command: str, option: tuple[str, str]
) -> None:
    found = CliRunner().invoke(cli, [command, "--workload", "W4", *option])
    assert found.exit_code != 0
    assert "(--events FILE)" in str(found.exception) + found.output


def test_bid_says_what_to_do_beside_a_curtailment() -> None:
    found = CliRunner().invoke(cli, ["bid", "--workload", "W4", "--programme", "emergency"])
    assert "leave that out to choose one" in str(found.exception) + found.output


@pytest.mark.parametrize(("hours", "planned", "checked"), [(24, 13, 10), (5, 2, 2), (2, 1, 1)])
def test_check_and_forecast_have_different_hours_of_a_file(
    tmp_path: Path, hours: int, planned: int, checked: int
) -> None:
    path = tmp_path / "signal.csv"
    rows = "".join(f"{t},{0.03 * (t // 3600):.2f}\n" for t in range(0, hours * 3600, 60))
    path.write_text("t_s,y\n" + rows)
    scenario = read_contract(None, {"signal": str(path), "forecast": 30})
    mine = {float(s.value[0]) for s in other_signals(scenario, 30)}
    other = {float(s.value[0]) for s in other_signals(scenario, 10, stream=CHECKING)}
    assert (len(mine), len(other)) == (planned, checked)
    assert mine.isdisjoint(other) == (hours > 2)
    assert planned_on_checked(scenario) == (hours == 2)


def test_a_curtailment_says_what_it_counts_from(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    event = '[curtailment]\nstart = "2m"\nduration = "5m"\nnotice = "1m"\n'
    path.write_text(contract_text(TYPES + event))
    found = json.loads(CliRunner().invoke(cli, ["regulate", str(path), "--json"]).stdout)
    kept = found["curtailment"]
    assert kept["limit_w"] == pytest.approx(0.75 * kept["baseline_w"])
    assert kept["idle_w"] == 1000
    assert kept["unfinished"] == sum(q["unfinished"] for q in found["qos"].values())
    text = CliRunner().invoke(cli, ["regulate", str(path)]).stdout
    assert "of which the idle machine draws 1,000 W" in text
    assert "work that was put off" in text


def test_a_run_that_finds_no_bid_says_why(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(contract_text(TYPES.replace("power_w_min = 200", "power_w_min = 249")))
    argv = ["regulate", str(path), "--bid", "adaptive", "--policy", "qoscap", "--json"]
    found = json.loads(CliRunner().invoke(cli, argv).stdout)
    assert not found["participates"]
    assert "do not participate" in found["reason"]
    assert "less than 2%" in found["reason"]
