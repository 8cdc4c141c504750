"""A counter that stands still although time passes is a gap, and never 0 W."""

from __future__ import annotations

import math

import pytest
from tests.support.emulated_node import EmulatedNode

from wattline.live.agent.meter import Meter
from wattline.live.sensor import Quality
from wattline.live.sensors.counter import Counter
from wattline.live.sensors.powercap import Powercap


@pytest.mark.parametrize("every_s", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("still_s", [6.0, 18.0, 600.0])
def test_joules_that_it_shows_later_were_drawn_since_it_stood(every_s, still_s) -> None:
    counter = Counter("psys", 500.0, 262_144.0, domain="node")
    assert counter.take(0.0, 1000.0).quality is Quality.FIRST
    assert counter.take(1.0, 1090.0).value == 90.0
    for step in range(1, int(still_s / every_s) + 1):
        reading = counter.take(1.0 + step * every_s, 1090.0)
        assert (reading.quality is Quality.MISSING) == (step * every_s >= 1.0)
        assert math.isnan(reading.value) == (reading.quality is Quality.MISSING)
    back = counter.take(1.0 + still_s, 1090.0 + 90.0 * still_s)
    assert (back.quality, back.value) == (Quality.GOOD, 90.0 + 90.0 * still_s)
    assert counter.take(2.0 + still_s, 1180.0 + 90.0 * still_s).value == 180.0 + 90.0 * still_s


def test_one_that_falls_after_it_stood_was_reset() -> None:
    counter = Counter("psys", 500.0, 262_144.0, domain="node")
    counter.take(0.0, 260_000.0)
    for time_s in range(1, 600):
        counter.take(float(time_s), 260_000.0)
    back = counter.take(600.0, 90.0)
    assert (back.quality, back.value) == (Quality.RESET, 0.0)


@pytest.mark.parametrize("domain", ["uncore", "core", "gpu", "memory", "other"])
def test_parts_that_may_be_without_power_draw_nothing(domain) -> None:
    counter = Counter("x", 500.0, domain=domain)
    counter.take(0.0, 7.0)
    still = counter.take(60.0, 7.0)
    assert (still.quality, still.value) == (Quality.GOOD, 0.0)


@pytest.mark.parametrize("every_s", [0.6, 0.9, 1.0, 2.0])
def test_a_node_never_says_that_it_draws_nothing(tmp_path, every_s) -> None:
    node, now_s = EmulatedNode(tmp_path), [1000.0]
    meter = Meter(Powercap(node.tree, lambda: now_s[0]), clock=lambda: now_s[0],
                  steady=lambda: now_s[0])
    meter.read()
    now_s[0] += 2.0
    node.draw(180.0)
    assert meter.read().power_w == 90.0
    gaps = 0
    for _ in range(10):
        now_s[0] += every_s
        measured = meter.read()
        assert not measured.power_w < 90.0
        gaps += measured.quality is Quality.MISSING
        assert ("stood still" in measured.reason) == (measured.quality is Quality.MISSING)
    assert gaps >= 9
    node.draw(90.0 * 10 * every_s)
    now_s[0] += 0.01
    assert meter.read().energy_j == pytest.approx(180.0 + 900.0 * every_s)
    now_s[0] += 1.0
    node.draw(90.0)
    measured = meter.read()
    assert (measured.power_w, measured.quality) == (pytest.approx(90.0), Quality.GOOD)


@pytest.mark.parametrize(("rise_j", "quality"), [
    (500.0, Quality.GOOD), (1000.0, Quality.GOOD), (1000.5, Quality.RESET)])
def test_a_rise_may_hold_the_joules_of_a_second_before(rise_j, quality) -> None:
    """At most 500 W: a counter that is brought up to date once a second may show those of two."""
    counter = Counter("x", 500.0)
    counter.take(0.0, 0.0)
    found = counter.take(1.0, rise_j)
    assert (found.quality, found.value) == (quality, rise_j if quality is Quality.GOOD else 0.0)


@pytest.mark.parametrize(("rise_j", "quality"), [
    (400.0, Quality.RESET), (500.0, Quality.RESET), (500.5, Quality.GOOD)])
def test_a_counter_that_may_have_come_round_once_more_says_so(rise_j, quality) -> None:
    """It begins anew after 1,000 J. In 3 s up to 1,500 J can have been drawn: a rise of 400 J may
    be one of 1,400 J, and one of 501 J is none of 1,501."""
    counter = Counter("x", 500.0, 1000.0)
    counter.take(0.0, 0.0)
    found = counter.take(3.0, rise_j)
    assert found.quality is quality
    assert ("more than once" in found.reason) == (quality is Quality.RESET)
