"""Power and joules of a node from the channels of a sensor."""

from __future__ import annotations

import math

import pytest
from tests.support.emulated_node import RANGE_J, EmulatedNode

from wattline.live.agent.meter import LONGEST_PAUSE_S, Meter
from wattline.live.sensor import Channel, Quality, Reading
from wattline.live.sensors.powercap import Powercap
from wattline.model.errors import InputError


class Clock:
    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def node(tmp_path):
    return EmulatedNode(tmp_path)


def meter_of(node, clock):
    return Meter(Powercap(node.tree, clock), clock=clock, steady=clock)


def later(node, clock, seconds, joules):
    clock.now_s += seconds
    node.draw(joules)


def test_power_is_joules_over_time(node, clock):
    meter = meter_of(node, clock)
    first = meter.read()
    assert first.quality is Quality.FIRST
    assert math.isnan(first.power_w)
    later(node, clock, 2.0, 500.0)
    measured = meter.read()
    assert (measured.power_w, measured.energy_j, measured.quality) == (250.0, 500.0, Quality.GOOD)


def test_a_reading_right_after_another_counts_joules_and_keeps_the_power(node, clock):
    meter = meter_of(node, clock)
    meter.read()
    later(node, clock, 1.0, 200.0)
    meter.read()
    later(node, clock, 0.01, 50.0)  # the counter has moved a whole step
    between = meter.read()
    assert (between.power_w, between.energy_j) == (200.0, 250.0)
    later(node, clock, 0.99, 150.0)
    assert meter.read().power_w == 200.0


def test_a_sensor_that_was_away_is_a_gap_that_loses_no_joule(node, clock):
    meter = meter_of(node, clock)
    meter.read()
    hidden = node.zone / "energy_uj"
    hidden.rename(node.zone / "hidden")
    clock.now_s += 1.0
    away = meter.read()
    assert away.quality is Quality.MISSING
    assert "psys@0" in away.reason
    assert math.isnan(away.power_w)
    node.draw(300.0)
    clock.now_s += 1.0
    assert meter.read().energy_j == 300.0


@pytest.mark.parametrize("before_j", [0.0, RANGE_J - 1500.0])
def test_joules_go_on_over_a_restart_also_where_the_counter_went_round(node, clock, before_j):
    node.draw(before_j)
    first = meter_of(node, clock)
    first.read()
    later(node, clock, 1.0, 100.0)
    first.read()
    noted = first.note("boot")
    later(node, clock, 30.0, 700.0)
    second = meter_of(node, clock)
    second.resume(noted, "boot")
    measured = second.read()
    assert measured.energy_j == pytest.approx(100.0 + 700.0)
    assert measured.reason == ""


@pytest.mark.parametrize(("boot", "pause_s"), [("another", 1.0), ("boot", LONGEST_PAUSE_S)])
def test_after_a_boot_or_a_long_pause_joules_go_on_without_the_pause_and_it_is_said(
    node, clock, boot, pause_s
):
    first = meter_of(node, clock)
    first.read()
    later(node, clock, 1.0, 100.0)
    first.read()
    noted = first.note("boot")
    later(node, clock, pause_s, 500.0)
    second = meter_of(node, clock)
    second.resume(noted, boot)
    measured = second.read()
    assert measured.energy_j == 100.0
    assert measured.quality is Quality.FIRST
    assert "not counted" in measured.reason


class Watts:
    """A sensor with watts, some of them missing."""

    def __init__(self, clock, values):
        self._clock, self._values = clock, iter(values)

    def channels(self):
        return [Channel("board", "W", "node"), Channel("cpu", "W", "package")]

    def read(self):
        value = next(self._values)
        quality = Quality.MISSING if value is None else Quality.GOOD
        return [Reading("board", self._clock(), math.nan if value is None else value, quality, "x"),
                Reading("cpu", self._clock(), 1e9, Quality.GOOD)]


def test_watts_are_integrated_and_a_gap_is_not_made_up(clock):
    meter = Meter(Watts(clock, [100.0, 200.0, None, 400.0, 400.0]), clock=clock)
    energies = []
    for _ in range(5):
        energies.append(meter.read().energy_j)
        clock.now_s += 1.0
    assert energies == [0.0, 150.0, 150.0, 150.0, 550.0]


class Told:
    """A sensor of two packages, which says what a test gives it: joules and quality of each."""

    def __init__(self, clock, *told):
        self._clock, self._told = clock, iter(told)

    def channels(self):
        return [Channel("cpu0", "J", "package"), Channel("cpu1", "J", "package")]

    def read(self):
        return [Reading(name, self._clock(), value, quality, reason) for name, (value, quality,
                reason) in zip(("cpu0", "cpu1"), next(self._told), strict=True)]


def test_after_a_counter_was_reset_the_power_of_the_node_is_unknown_and_it_is_said(clock):
    """Two packages of 100 W each; the second counter begins anew at 3 s, where its joules since
    the reading before are not counted: 400 + 100 J, and from then on 200 W again."""
    good = (Quality.GOOD, "")
    meter = Meter(Told(
        clock, ((0.0, *good), (0.0, *good)), ((100.0, *good), (100.0, *good)),
        ((200.0, *good), (200.0, *good)),
        ((300.0, *good), (200.0, Quality.RESET, "cpu1: the counter began anew")),
        ((400.0, *good), (300.0, *good))), clock=clock, steady=clock)
    found = []
    for _ in range(5):
        found.append(meter.read())
        clock.now_s += 1.0
    assert [each.energy_j for each in found] == [0.0, 200.0, 400.0, 500.0, 700.0]
    assert [each.quality for each in found] == [
        Quality.FIRST, Quality.GOOD, Quality.GOOD, Quality.RESET, Quality.GOOD]
    assert [each.power_w for each in found[1:3]] == [200.0, 200.0]
    assert math.isnan(found[3].power_w)
    assert found[3].reason == "cpu1: the counter began anew"
    assert (found[4].power_w, found[4].reason) == (200.0, "")


def test_a_channel_that_is_not_there_is_refused_with_those_that_are(node, clock):
    with pytest.raises(InputError, match="no channel 'dram'; it has: psys@0"):
        Meter(Powercap(node.tree, clock), ["dram"])


def test_a_mark_has_the_joules_of_its_moment_however_late_it_is_heard(node, clock):
    meter = meter_of(node, clock)
    meter.read()
    later(node, clock, 1.0, 90.0)
    shown = float((node.zone / "energy_uj").read_text())
    later(node, clock, 1.0, 300.0)
    meter.read()
    later(node, clock, 1.0, 300.0)
    assert meter.counter_files() == [node.zone / "energy_uj"]
    marked = meter.read_at(clock.now_s - 2.0, (shown,))
    assert (marked.time_s, marked.energy_j) == (1001.0, 90.0)
    assert meter.read().energy_j == 690.0


def test_a_mark_that_came_while_the_agent_was_away_has_its_joules_too(node, clock):
    first = meter_of(node, clock)
    first.read()
    noted = first.note("boot")
    later(node, clock, 1.0, 90.0)
    shown = float((node.zone / "energy_uj").read_text())
    later(node, clock, 2.0, 600.0)
    second = meter_of(node, clock)
    second.resume(noted, "boot")
    marked = second.read_at(clock.now_s - 2.0, (shown,))
    assert (marked.time_s, marked.energy_j) == (1001.0, 90.0)


@pytest.mark.parametrize(("passed_s", "shown"), [(5.0, ()), (5.0, (9e15,)), (5.0, (1.0, 2.0))])
def test_a_mark_without_joules_says_when_and_no_more(node, clock, passed_s, shown):
    meter = meter_of(node, clock)
    meter.read()
    later(node, clock, 10.0, 900.0)
    marked = meter.read_at(clock.now_s - passed_s, shown)
    assert (marked.time_s, marked.quality) == (1005.0, Quality.MISSING)
    assert "not known" in marked.reason


@pytest.mark.parametrize("wrong_s", [-18.0, 0.0, 18.0])
@pytest.mark.parametrize("heard_after", [1, 3])
def test_a_late_mark_lies_between_the_readings_around_it_whatever_the_clock_does(
    node, wrong_s, heard_after
):
    """Otherwise joules would seem to fall, and a job would be given some twice."""
    day, steady = Clock(), Clock()
    meter = Meter(Powercap(node.tree, steady), clock=day, steady=steady)
    found, marked_s, shown = [], 0.0, 0.0
    for step in range(12):
        found.append(meter.read())
        later(node, steady, 0.6, 60.0)
        day.now_s += 0.6 + (wrong_s if step == 5 else 0.0)
        if step == 5:
            marked_s, shown = steady.now_s, float((node.zone / "energy_uj").read_text())
        if step == 5 + heard_after:
            found.append(meter.read_at(marked_s, (shown,)))
        later(node, steady, 0.4, 40.0)
        day.now_s += 0.4
    found.sort(key=lambda each: each.time_s)
    assert [each.energy_j for each in found] == sorted(each.energy_j for each in found)
    assert [each.energy_j for each in found][6] == 560.0


def test_a_clock_that_is_set_back_neither_goes_back_nor_loses_a_joule(node):
    day, steady = Clock(), Clock()
    meter = Meter(Powercap(node.tree, steady), clock=day, steady=steady)
    found = []
    for step_s in (1.0, 1.0, -7.0, *[1.0] * 20):
        day.now_s += step_s
        steady.now_s += 1.0
        node.draw(100.0)
        found.append(meter.read())
    times = [each.time_s for each in found]
    assert times == sorted(set(times))
    assert times[-1] == day.now_s
    assert [each.energy_j for each in found] == [100.0 * each for each in range(len(found))]
    noted = meter.note("boot")
    day.now_s -= 3600.0  # while no agent ran
    steady.now_s += 2.0
    node.draw(200.0)
    after = Meter(Powercap(node.tree, steady), clock=day, steady=steady)
    after.resume(noted, "boot")
    measured = after.read()
    assert measured.energy_j == found[-1].energy_j + 200.0
    assert measured.time_s > times[-1]
