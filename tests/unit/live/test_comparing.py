"""Meters side by side: what was put in is what is found."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from tests.shared_data import shared
from tests.support.bmcs import Played, ipmi, redfish
from tests.support.printed import columns

from wattline.cli.main import main
from wattline.cli.sensors import command
from wattline.cli.testbed import command as bed_command
from wattline.controller.testbed.meters import USUAL, put_in, try_meters
from wattline.controller.testbed.wattmeter import Faults
from wattline.live.comparing import compare
from wattline.live.comparing_plot import lines_of
from wattline.live.recording import Cost, Recording, Track, record
from wattline.live.sensor import Channel, Quality, Reading, missing
from wattline.live.sensors.ipmi import Ipmi
from wattline.live.sensors.pm_counters import PmCounters
from wattline.live.sensors.redfish import RedfishPower
from wattline.model.errors import InputError
from wattline.physics.metering.comparing import Series, compared


@pytest.fixture(scope="module")
def tried():
    return {each[0]: each[1:] for each in put_in(USUAL, try_meters(every=0.5))}


@pytest.mark.parametrize("meter", USUAL)
def test_faults_of_a_meter_are_found_as_they_were_put_in(tried, meter):
    (lag_s, found_lag_s), (bias, found_bias), (noise_w, found_noise_w) = tried[meter]
    assert found_lag_s == pytest.approx(lag_s, abs=0.2)
    assert found_bias == pytest.approx(bias, abs=0.005)
    assert found_noise_w == pytest.approx(noise_w, rel=0.25, abs=0.5)


def test_the_nodes_own_counters_agree():
    rows = {(row.sensor, row.channel): row for row in try_meters(seconds=60).rows}
    assert rows["powercap", "psys@0"].reference
    own = rows["pm_counters", "energy"]
    assert abs(own.lag_s) < 0.05
    assert abs(own.bias_share) < 0.001
    assert own.gain == pytest.approx(1.0, abs=0.01)


def test_a_scale_that_is_wrong_is_a_gain_and_no_lag():
    found = try_meters({"half": Faults(bias=-0.5)}, seconds=60, every=0.5)
    half, = [row for row in found.rows if row.sensor == "half"]
    assert half.gain == pytest.approx(0.5, abs=0.02)
    assert abs(half.lag_s) < 0.2


class Told:
    """A sensor that says what it is told, on a clock that is told too."""

    def __init__(self, says, clock, unit="W", domain="node"):
        self.says, self.clock, self.unit, self.domain = says, clock, unit, domain

    def channels(self):
        return [Channel("power", self.unit, self.domain)]

    def read(self):
        value = self.says(self.clock())
        if value is None:
            return [missing("power", self.clock(), "nobody answers")]
        return [Reading("power", self.clock(), value, Quality.GOOD)]


def recorded(seconds=60.0, **says):
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds

    sensors = {name: Told(*(each if isinstance(each, tuple) else (each,))[:1], lambda: now[0],
                          *(each if isinstance(each, tuple) else (each,))[1:])
               for name, each in says.items()}
    return record(sensors, seconds, 1.0, clock=lambda: now[0], sleep=sleep)


def test_flat_power_tells_bias_and_noise_and_says_that_it_tells_no_lag():
    rows = compare(recorded(truth=lambda s: 200.0, other=lambda s: 210.0), 1.0, "truth").rows
    assert rows[1].bias_w == pytest.approx(10.0)
    assert rows[1].lag_s is None
    assert "changed too little" in rows[1].remark


def test_a_meter_that_shows_something_else_is_said_to():
    def other(time_s):
        return 300.0 + 40.0 * math.sin(7.3 * time_s**1.3)

    rows = compare(recorded(truth=lambda s: 200.0 + 90.0 * (s % 20 > 10), other=other), 1.0,
                   "truth").rows
    assert rows[1].lag_s is None
    assert rows[1].remark == "it does not follow the reference"


def test_silence_is_no_zero_and_is_counted_with_its_reason():
    def now_and_then(time_s):
        return None if 10 < time_s < 30 else 200.0 + 90.0 * (time_s % 20 > 10)

    found = compare(recorded(truth=lambda s: 200.0 + 90.0 * (s % 20 > 10), other=now_and_then,
                             silent=lambda s: None), 1.0, "truth")
    other, silent = found.rows[1:]
    assert abs(other.bias_w) < 1.0
    assert 15 <= other.missing <= 20
    assert (silent.bias_w, silent.readings, silent.remark) == (None, 0, "nobody answers")
    assert any("silent power" in line and "nobody answers" in line for line in found.remarks)


def test_reference_is_chosen_by_rule_and_may_be_several_parts():
    found = compare(recorded(nvml=(lambda s: 300.0, "W", "gpu"),
                             powercap=(lambda s: 150.0 * s, "J", "package")), 1.0)
    assert found.reference == "powercap power + nvml power"
    assert "no meter of the whole node" in found.remarks[0]
    assert [row.reference for row in found.rows] == [True, True]
    with pytest.raises(InputError, match="reference"):
        compare(recorded(truth=lambda s: 1.0, silent=lambda s: None), 1.0, "silent")


def test_recorded_averages_of_a_card_lag_behind_its_counter():
    """The average of a card that was recorded is late by some half a second."""
    with shared("fixtures/nvml_h200.csv").open(encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    time_s = np.array([float(row["t_s"]) for row in rows])
    counter, average, instant = (
        Series(time_s, np.array([float(row[name]) for row in rows]) / 1e3, name == "energy_mj",
               np.zeros(len(rows))) for name in ("energy_mj", "power_mw", "instant_mw"))
    late, at_once = (compared(counter.stretches(), each) for each in (average, instant))
    assert late.lag_s > at_once.lag_s + 0.2
    assert abs(late.bias_share) < 0.05


def test_picture_and_json_show_the_same_meters(tmp_path):
    found = try_meters(seconds=30)
    assert set(lines_of(found)) == {f"{row.sensor} {row.channel}" for row in found.rows}
    assert found.draw(tmp_path / "meters.svg").stat().st_size > 1000
    assert list(found.to_pandas()["sensor"]) == [row.sensor for row in found.rows]


def test_real_controllers_are_compared_with_the_nodes_own_counter(tmp_path, monkeypatch):
    """ipmitool and Redfish while the load changes; a program costs more than a file."""
    played = Played(tmp_path)

    def clock():
        return played.emulator.now_s

    def sleep(seconds):
        played.node.jobs[0].watts = 350.0 if clock() % 20 < 10 else 150.0
        played.tick(seconds)

    with ipmi(played, monkeypatch) as (first, _), redfish(played, monkeypatch) as second:
        sensors = {"ipmi": Ipmi(first, clock), "redfish": RedfishPower(second, clock),
                   "pm_counters": PmCounters(played.folder / "pm_counters", clock)}
        found = compare(record(sensors, 40.0, 1.0, clock=clock, sleep=sleep), 1.0, "pm_counters")
    rows = {(row.sensor, row.channel): row for row in found.rows}
    assert rows["pm_counters", "energy"].reference
    for name in ("ipmi", "redfish"):
        assert rows[name, "power"].bias_w == pytest.approx(0.0, abs=1.5)
        assert rows[name, "power"].gain == pytest.approx(1.0, abs=0.02)
        assert rows[name, "power"].cpu_share > rows["pm_counters", "energy"].cpu_share > 0


def test_the_command_compares_what_it_is_given(tmp_path):
    folder = Played(tmp_path).folder
    said = CliRunner().invoke(command, [
        "compare", f"powercap={folder / 'powercap'}", f"pm_counters={folder / 'pm_counters'}",
        "--seconds", "0.2", "--every", "0.05", "--json"], catch_exceptions=False)
    found = json.loads(said.stdout)
    assert found["reference"] == f"pm_counters={folder / 'pm_counters'} energy"
    assert [row["channel"] for row in found["meters"]] == ["psys@0", "energy", "power"]


def test_commands_print_tables():
    said = CliRunner().invoke(bed_command, ["meters", "--seconds", "60"],
                              catch_exceptions=False).stdout
    assert "note: the reference: the whole node, by a counter" in said
    # What a meter was given is found again, but for the 0.16 s that a reading is late by itself.
    assert columns(said, "meter", "lag put in", "found", "bias put in", "found", "noise put in",
                   "found") == [
        ("exact", "0.00 s", "0.16 s", "0.0%", "0.0%", "0.0 W", "0.0 W"),
        ("late", "1.50 s", "1.69 s", "0.0%", "0.0%", "0.0 W", "0.0 W"),
        ("biased", "0.00 s", "0.16 s", "8.0%", "8.0%", "0.0 W", "0.0 W"),
        ("noisy", "0.00 s", "0.19 s", "0.0%", "0.9%", "6.0 W", "4.8 W"),
        ("all", "0.70 s", "0.85 s", "-5.0%", "-5.1%", "3.0 W", "3.9 W")]
    assert columns(said, "sensor", "channel", "domain", "bias", "gain", "lag", "noise", "gaps",
                   "remark")[2:6] == [
        ("powercap", "psys@0", "node", "-", "-", "-", "-", "0", "the reference"),
        ("exact", "power", "node", "+0.0 W (+0.0%)", "1.000", "+0.16 s", "0.0 W", "0", ""),
        ("late", "power", "node", "+0.0 W (+0.0%)", "1.000", "+1.69 s", "0.0 W", "0", ""),
        ("biased", "power", "node", "+18.6 W (+8.0%)", "1.080", "+0.16 s", "0.0 W", "0", "")]
    assert {cell.split()[1] for cell, in columns(said, "reading")} == {"ms"}


@pytest.mark.parametrize(("arguments", "message"), [
    (["thermometer"], "there are: pm_counters"), (["powercap=/nowhere"], "no powercap zones"),
    (["powercap", "--plot", "x.txt"], ".svg"), (["powercap", "--seconds", "1"], "twice --every"),
])
def test_mistakes_get_one_line(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["sensors", "compare", *arguments])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1


def two_meters(reads: int = 5, begin_s: float = 0.0) -> Recording:
    """Ten seconds of a node of 100 W, and of its processor from some time on."""
    tracks = [Track(name, Channel(channel, "W", domain), times, [watts] * len(times),
                    [False] * len(times))
              for name, channel, domain, watts, times in (
                  ("a", "board", "node", 100.0, [2.0 * at for at in range(6)]),
                  ("b", "cpu", "package", 60.0, [begin_s + 2.0 * at for at in range(5)]))]
    return Recording(tracks, {name: Cost(reads, 0.2, 0.5) for name in "ab"}, 10.0)


@pytest.mark.parametrize(("every_s", "slow"), [(1.6, True), (1.7, False), (2.0, False)])
def test_readings_that_come_a_fifth_later_than_asked_for_are_said(every_s, slow):
    """Five readings in ten seconds: every 2 s, which is 1.25 times 1.6 s and 1.18 times 1.7 s."""
    found = compare(two_meters(), every_s)
    assert any("they came every 2 s" in line for line in found.remarks) is slow
    assert [(row.read_s, row.cpu_share) for row in found.rows] == [(0.1, 0.02)] * 2


def test_a_stretch_that_a_meter_saw_half_of_is_an_empty_cell(tmp_path):
    """The second meter begins a second later: of the first two seconds it has seen the second."""
    table = compare(two_meters(begin_s=1.0), 2.0).write_csv(tmp_path / "t.csv")
    rows = list(csv.DictReader(table.open()))
    assert [row["b cpu"] for row in rows][:2] == ["", "60.000"]
    assert [row["a board"] for row in rows][:2] == ["100.000", "100.000"]
