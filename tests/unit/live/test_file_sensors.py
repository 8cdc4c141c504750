"""Sensors that are files of the kernel: cpufreq and Cray's pm_counters."""

from __future__ import annotations

import io

import pytest

from wattline.controller.testbed.configuration import write_all
from wattline.controller.testbed.emulator import Emulator
from wattline.controller.testbed.layout import Bed
from wattline.live.found import open_sensor
from wattline.live.sensor import Quality
from wattline.live.sensors.cpufreq import Cpufreq
from wattline.live.sensors.pm_counters import PmCounters
from wattline.live.sensors.powercap import Powercap
from wattline.model.errors import InputError
from wattline.testing import SensorContract


@pytest.fixture
def cores(tmp_path):
    for number, khz in ((0, 2_400_000), (2, 1_200_000), (10, 800_000)):
        folder = tmp_path / f"policy{number}"
        folder.mkdir()
        (folder / "scaling_cur_freq").write_text(f"{khz}\n")
        (folder / "scaling_max_freq").write_text("3000000\n")
    return tmp_path


@pytest.fixture
def cray(tmp_path):
    for name, text in {"power": "245 W 1000 us", "energy": "70000 J 1000 us",
                       "cpu_energy": "30000 J 1000 us", "accel0_power": "90 W",
                       "memory_power": "31 W 1000 us", "freshness": "7",
                       "power_cap": "0 W", "raw_scan_hz": "10"}.items():
        (tmp_path / name).write_text(f"{text}\n")
    return tmp_path


class TestContractOfCpufreq(SensorContract):
    @pytest.fixture(autouse=True)
    def _folder(self, cores):
        self.folder = cores

    def make_sensor(self):
        return Cpufreq(self.folder)


class TestContractOfPmCounters(SensorContract):
    @pytest.fixture(autouse=True)
    def _folder(self, cray):
        self.folder = cray

    def make_sensor(self):
        return PmCounters(self.folder)


def test_frequencies_are_in_hertz_and_in_order(cores):
    sensor = open_sensor("cpufreq", cores)
    assert [channel.name for channel in sensor.channels()] == ["policy0", "policy2", "policy10"]
    assert [reading.value for reading in sensor.read()] == [2.4e9, 1.2e9, 8e8]
    (cores / "policy2" / "scaling_cur_freq").unlink()
    assert [reading.quality for reading in sensor.read()] == [
        Quality.GOOD, Quality.MISSING, Quality.GOOD]


def test_parts_of_a_cray_node_are_told_apart(cray):
    channels = PmCounters(cray).channels()
    found = {(channel.name, channel.unit, channel.domain) for channel in channels}
    assert found == {
        ("power", "W", "node"), ("energy", "J", "node"), ("cpu_energy", "J", "package"),
        ("accel0_power", "W", "gpu"), ("memory_power", "W", "memory")}


def test_counter_whose_time_stands_still_is_a_gap(cray):
    now = [0.0]
    sensor = PmCounters(cray, clock=lambda: now[0])
    place = [channel.name for channel in sensor.channels()].index("power")
    assert sensor.read()[place].value == 245.0
    now[0] = 6.0
    late = sensor.read()
    assert "not measured for 6 s" in late[place].reason
    (cray / "power").write_text("250 W 2000 us\n")
    assert sensor.read()[place].value == 250.0
    accelerator = [channel.name for channel in sensor.channels()].index("accel0_power")
    assert late[accelerator].value == 90.0  # this file says no time


@pytest.mark.parametrize("text", ["", "245", "245 J", "nan W 1 us", "-3 W 1 us"])
def test_file_that_says_no_watts_is_a_gap(cray, text):
    (cray / "power").write_text(text)
    sensor = PmCounters(cray)
    place = [channel.name for channel in sensor.channels()].index("power")
    assert sensor.read()[place].quality is Quality.MISSING


def test_folders_without_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="no cpufreq policies"):
        Cpufreq(tmp_path)
    with pytest.raises(InputError, match="no files of Cray's pm_counters"):
        PmCounters(tmp_path)


def test_emulated_node_is_read_by_both_its_meters_alike(tmp_path):
    """Also over the end of the counter's range, which the emulated zone goes round at."""
    bed = Bed(tmp_path, nodes=1, port=21000)
    write_all(bed)
    emulator = Emulator(bed, io.StringIO())
    emulator.now_s = 1000.0
    emulator.nodes[0].energy_j = 262_143.0
    emulator.tick(1000.0)
    now = [1000.0]
    cray = PmCounters(bed.meters / "n0001" / "pm_counters", clock=lambda: now[0])
    zones = Powercap(bed.meters / "n0001" / "powercap", clock=lambda: now[0])
    for sensor in (cray, zones):
        assert sensor.read()[0].quality is Quality.FIRST
    for tick in range(1, 101):
        now[0] = 1000.0 + tick / 10
        emulator.tick(now[0])
    drawn_j = 10.0 * bed.power.idle_w
    assert cray.read()[0].value == pytest.approx(drawn_j, abs=1.0)
    assert zones.read()[0].value == pytest.approx(drawn_j, abs=1.0)
