"""Processor energy from the kernel's counters."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.shared_data import shared

from wattline.cli.main import main
from wattline.cli.sensors import command
from wattline.live.sensor import Quality, Reading
from wattline.live.sensors.powercap import Powercap
from wattline.model.errors import InputError
from wattline.testing import SensorContract

RANGE_UJ = 10_000_000_000


def zone(tree: Path, folder: str, name: str, energy_uj: int) -> Path:
    made = tree / folder
    made.mkdir(parents=True)
    (made / "name").write_text(f"{name}\n")
    (made / "energy_uj").write_text(f"{energy_uj}\n")
    (made / "max_energy_range_uj").write_text(f"{RANGE_UJ}\n")
    return made / "energy_uj"


@pytest.fixture
def tree(tmp_path):
    zone(tmp_path, "intel-rapl:0", "package-0", 9_005_000_000)
    zone(tmp_path, "intel-rapl:0:0", "core", 1_000_000)
    zone(tmp_path, "intel-rapl:1:0", "core", 2_000_000)
    (tmp_path / "intel-rapl").mkdir()  # the control type itself is no zone
    return tmp_path


class TestContract(SensorContract):
    @pytest.fixture(autouse=True)
    def _tree(self, tree):
        self.tree = tree

    def make_sensor(self):
        return Powercap(self.tree)


class TestContractOnARealTree(SensorContract):
    def make_sensor(self):
        return Powercap(shared("fixtures/powercap_sysfs/procfs/powercap"))


def test_zones_are_told_apart_and_placed(tree):
    found = {channel.name: channel.domain for channel in Powercap(tree).channels()}
    assert found == {"package-0@0": "package", "core@0-0": "core", "core@1-0": "core"}


def test_real_tree_has_its_three_zones():
    tree = shared("fixtures/powercap_sysfs/procfs/powercap")
    assert [channel.name for channel in Powercap(tree).channels()] == [
        "package-0@0", "core@0-0", "package-10@a"]


def test_counter_that_wraps_goes_on_rising(tree):
    counter = tree / "intel-rapl:0" / "energy_uj"
    times = iter(range(100))
    sensor = Powercap(tree, clock=lambda: float(next(times)))
    assert sensor.read()[0].quality is Quality.FIRST
    values = []
    for energy_uj in (9_900_000_000, 100_000_000, 101_000_000):  # 895, then 100 + 100 J, then 1
        counter.write_text(f"{energy_uj}\n")
        values.append(sensor.read()[0].value)
    assert values == pytest.approx([895.0, 1095.0, 1096.0])


def test_counter_that_cannot_have_wrapped_was_reset_and_adds_no_joules(tree):
    """From 5,000 J round to 3 J would be 5,003 J in a second, which no package draws."""
    counter = tree / "intel-rapl:0" / "energy_uj"
    counter.write_text("5000000000\n")
    times = iter(range(100))
    sensor = Powercap(tree, clock=lambda: float(next(times) // 3))
    sensor.read()
    counter.write_text("3000000\n")
    reset = sensor.read()[0]
    assert (reset.quality, reset.value) == (Quality.RESET, 0.0)
    assert "reset" in reset.reason
    counter.write_text("53000000\n")
    assert sensor.read()[0] == Reading("package-0@0", 2.0, 50.0, Quality.GOOD)


def test_stated_power_tells_wrap_and_reset_apart(tree):
    """A zone of 40 kW at most may have come round from 5,000 J in a second."""
    folder = tree / "intel-rapl:0"
    (folder / "constraint_0_max_power_uw").write_text("20000000000\n")
    (folder / "energy_uj").write_text("5000000000\n")
    times = iter(range(100))
    sensor = Powercap(tree, clock=lambda: float(next(times)) / 30)
    sensor.read()
    (folder / "energy_uj").write_text("3000000\n")
    assert sensor.read()[0].value == pytest.approx(5003.0)


def test_counter_that_may_have_come_round_unseen_counts_nothing(tree):
    times = iter([0.0] * 3 + [60.0] * 3)
    sensor = Powercap(tree, clock=lambda: next(times))
    sensor.read()
    lost = sensor.read()[0]
    assert (lost.quality, lost.value) == (Quality.RESET, 0.0)
    assert "more often" in lost.reason


def test_zone_that_goes_away_is_missing_and_comes_back(tree):
    counter = tree / "intel-rapl:0" / "energy_uj"
    sensor = Powercap(tree)
    sensor.read()
    counter.write_text("rubbish\n")
    lost = sensor.read()[0]
    assert lost.quality is Quality.MISSING
    assert math.isnan(lost.value)
    assert "rubbish" in lost.reason
    counter.write_text("9008000000\n")
    assert sensor.read()[0].value == pytest.approx(3.0)


def test_machine_without_zones_is_refused(tmp_path):
    with pytest.raises(InputError, match="no powercap zones"):
        Powercap(tmp_path)


def test_command_makes_power_of_two_readings(tree):
    result = CliRunner().invoke(command, ["--kind", "powercap", "--place", str(tree), "--seconds",
                                          "0.05", "--json"], catch_exceptions=False)
    rows = json.loads(result.stdout)["sensors"]
    assert [row["channel"] for row in rows] == ["package-0@0", "core@0-0", "core@1-0"]
    # Nobody moves these counters: of cores that may be, a package draws something at any time.
    assert [row["power_w"] for row in rows] == [None, 0.0, 0.0]
    assert (rows[0]["quality"], rows[0]["reason"]) == (
        "missing", "the counter did not move in 0.05 s: read it for longer")


@pytest.mark.parametrize(("arguments", "message"), [
    (["--kind", "thermometer"], "powercap"),
    (["--kind", "powercap", "--place", "/"], "no powercap zones"),
    (["--place", "/"], "--kind"),
])
def test_mistakes_get_one_line(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["sensors", *arguments])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1
