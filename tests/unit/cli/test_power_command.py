"""`wattline power`: the seven figures, changes of a scenario file, and what is refused."""

import json

import pytest

from wattline.cli import main as cli_main

SCENARIO = """
[trace]
generate = "esp2"
parameters = {nodes = 5040}
[machine]
classes = [{name = "n", count = 5040, idle_w = 112, active_w = 352, off_w = 14}]
[policy]
power = {name = "adaptive", strategy = "mix"}
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO)
    return path


def call(capsys, *argv):
    with pytest.raises(SystemExit) as stopped:
        cli_main.main([str(word) for word in argv])
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


def ok(capsys, *argv):
    status, out, err = call(capsys, *argv)
    assert status == 0, err
    return out


def test_the_documents_figures(capsys):
    out = ok(capsys, "power", "show")
    assert out.strip() == (
        "MinWatts=564480 CurrentWatts=564480 PowerCap=INFINITE PowerFloor=0 PowerChangeRate=0 "
        "AdjustedMaxWatts=1774080 MaxWatts=1774080")
    found = json.loads(ok(capsys, "power", "show", "--json"))
    assert (found["MinWatts"], found["MaxWatts"], found["PowerCap"]) == (564480, 1774080, None)


def test_set_and_reserve_change_the_file(scenario, capsys):
    ok(capsys, "power", "set", scenario, "--cap", "1.4MW", "--floor", "600kW")
    ok(capsys, "power", "set", scenario, "--cap", "1.2MW", "--at", "2h")
    ok(capsys, "power", "reserve", scenario, "--start", "11m", "--duration", "16m", "--watts",
       "532224", "--name", "dinner")
    show = json.loads(ok(capsys, "power", "show", scenario, "--at", "12m", "--json"))
    assert show["PowerCap"] == 1.4e6 - 532224
    assert show["PowerFloor"] == 600e3
    assert show["reservations"][0]["name"] == "dinner"
    later = json.loads(ok(capsys, "power", "show", scenario, "--at", "3h", "--json"))
    assert later["PowerCap"] == 1.2e6


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (("reserve", "--start", "1m", "--duration", "5m", "--watts", "1kW", "--now", "2m"), "past"),
        (("reserve", "--start", "1m", "--duration", "0", "--watts", "1kW"), "duration is 0"),
        (("reserve", "--start", "1m", "--duration", "5m", "--watts", "1.75MW"), "nodes off"),
        (("set", "--cap", "50kW"), "all its nodes off"),
        (("set", "--floor", "2MW"), "above what the machine can draw"),
        (("set",), "nothing to set"),
        (("set", "--cap", "lots"), "not understood"),
        (("set", "--cap", "1MW", "--at", "1m", "--now", "5m"), "in the past"),
        (("set", "--cap", "500kW", "--floor", "600kW"), "below the floor"),
    ],
)
def test_refusals_leave_the_file_unchanged(scenario, capsys, argv, reason):
    verb, *options = argv
    status, _, err = call(capsys, "power", verb, scenario, *options)
    assert status == 2
    assert err.count("\n") == 1
    assert reason in err
    assert scenario.read_text() == SCENARIO


def test_a_reservation_below_the_floor_is_refused(scenario, capsys):
    ok(capsys, "power", "set", scenario, "--floor", "1.3MW")
    before = scenario.read_text()
    status, _, err = call(capsys, "power", "reserve", scenario, "--start", "1h", "--duration",
                          "1h", "--watts", "532224")
    assert status == 2
    assert "below the floor" in err
    assert scenario.read_text() == before


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ('power = {name = "adaptive", strategy = "sleep"}', "strategy 'sleep' is unknown"),
        ('power = {name = "adaptive", cpu_freq = "fast"}', "'fast' is no frequency"),
        ('power = {name = "adaptive", colour = 1}', "no parameter"),
        ('power = {name = "budget"}', "a budget needs energy"),
        ('power = {name = "budget", energy = "1kWh"}', "draws idle"),
        ('placement = "claims"', "policy.configure = 'claims' too"),
        ('order = {name = "energy-share", half_life = 0}', "half_life"),
    ],
)
def test_scenarios_that_cannot_be_are_refused(tmp_path, capsys, change, reason):
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO.replace('power = {name = "adaptive", strategy = "mix"}', change))
    status, _, err = call(capsys, "simulate", path, "--no-folder")
    assert status == 2
    assert reason in err
