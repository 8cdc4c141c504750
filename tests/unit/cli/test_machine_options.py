"""A machine of the command line: nobody's stands in for one that was not given."""

import json
from pathlib import Path

import pytest
from tests.support.commands import call, ok, refused

EXAMPLES = Path(__file__).parents[3] / "examples"
POWERS = ("--node-idle-w", 100, "--node-active-w", 350)
BUDGET = ("energy", "budget", "--energy", "340kWh", "--period", "1d", "--json")


@pytest.mark.parametrize("words", [
    ("power", "show"),
    ("view", "show", "power"),
    ("energy", "plan", "--energy", "250kWh"),
    ("energy", "budget", "--energy", "250kWh"),
])
def test_without_a_scenario_and_a_log_the_machine_is_asked_for(words, capsys) -> None:
    said = refused(capsys, *words)
    assert "the machine needs --nodes, --node-idle-w and --node-active-w" in said
    said = refused(capsys, *words, "--nodes", 4, "--node-idle-w", 100)
    assert "the machine needs --node-active-w, like --nodes 4" in said


def test_racks_need_no_powers(capsys) -> None:
    assert "the machine needs --nodes, like" in refused(capsys, "view", "show", "rack")
    rows = json.loads(ok(capsys, "view", "show", "rack", "--nodes", 6, "--cores", 8, "--json"))
    assert rows["rows"][0]["cores"] == 48


def test_the_machine_of_a_log_is_that_of_its_header(capsys) -> None:
    status, out, err = call(capsys, *BUDGET, "--trace", EXAMPLES / "week.swf", *POWERS)
    assert status == 0, err
    assert "64 nodes of 1 core, from the log's header (MaxNodes 64)" in err
    assert "assumed" not in err
    found = json.loads(out)
    assert found["machine"] == "64 nodes of 1 core, each 100 W idle, 350 W active and 0 W off"
    same = json.loads(ok(capsys, *BUDGET, "--trace", EXAMPLES / "week.swf", "--nodes", 64, *POWERS))
    assert found == same


def test_powers_of_a_log_are_assumed_aloud(capsys) -> None:
    status, _, err = call(capsys, *BUDGET, "--trace", EXAMPLES / "week.swf")
    assert status == 0, err
    assert "node powers are assumed: 90 W idle; give --node-idle-w" in err


def test_a_log_that_does_not_say_its_machine_is_refused(tmp_path: Path, capsys) -> None:
    log = tmp_path / "log.swf"
    log.write_text("1 0 -1 60 4 -1 -1 4 90 -1 1 1 1 1 1 -1 -1 -1\n")
    said = refused(capsys, *BUDGET, "--trace", log, *POWERS)
    assert "say how many nodes the machine has (the log does not)" in said


def test_simulate_says_which_size_is_the_headers(capsys) -> None:
    found = json.loads(ok(capsys, "simulate", EXAMPLES / "week.swf", "--no-folder", "--json"))
    assert "64 nodes of 1 core, from the log's header (MaxNodes 64)" in found["assumed"]


def test_a_budget_below_idle_is_refused_in_the_units_of_the_question(capsys) -> None:
    said = refused(capsys, "energy", "plan", "--energy", "250kWh", "--nodes", 64, *POWERS)
    assert "the energy budget of 250 kWh is below the 1.075 MWh that the machine draws idle" in said
    assert "(6.4 kW)" in said
