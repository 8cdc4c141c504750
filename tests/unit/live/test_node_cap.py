"""A node's cap turned into caps of its devices, on nodes that are made up."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.cards import Card, FakeNvml

from wattline.live.actuators.nvml import NvmlLimit
from wattline.live.node_cap import SLOPE, Device, device_caps, keep_node_cap
from wattline.model.errors import InputError


@dataclass
class Made:
    """A device of a node that is made up: it draws what it wants, as far as its cap lets it."""

    idle_w: float
    low_w: float
    high_w: float
    slope: float
    cap_w: float = math.inf

    def draws_w(self, wanted: float) -> float:
        wanted_w = self.idle_w + wanted * (self.high_w - self.idle_w)
        return min(wanted_w, max(self.cap_w, self.idle_w))


@dataclass
class Node:
    base_w: float
    devices: list[Made]
    powers_w: list[float] = field(default_factory=list)

    def run(self, wanted: list[float]) -> float:
        self.powers_w = [device.draws_w(share)
                         for device, share in zip(self.devices, wanted, strict=True)]
        return self.base_w + sum(device.slope * power_w for device, power_w
                                 in zip(self.devices, self.powers_w, strict=True))

    def step(self, cap_w: float, node_w: float) -> float:
        """Set caps from what was measured; gives by how much they may miss."""
        found = device_caps(cap_w, node_w, [
            Device(str(place), power_w, device.cap_w, device.low_w, device.high_w)
            for place, (device, power_w) in enumerate(zip(self.devices, self.powers_w,
                                                          strict=True))])
        for place, device in enumerate(self.devices):
            device.cap_w = found.caps_w[str(place)]
            assert device.low_w <= device.cap_w <= device.high_w
        return found.short_w


devices = st.builds(
    lambda idle, low, more, slope: Made(idle, idle + low, idle + low + more, slope),
    st.floats(5, 80), st.floats(0, 100), st.floats(10, 600), st.floats(1.0, SLOPE))
nodes = st.builds(Node, st.floats(20, 300), st.lists(devices, min_size=1, max_size=8))


@given(node=nodes, share=st.floats(0.0, 1.2), data=st.data())
def test_a_node_is_never_above_its_cap_whatever_its_devices_come_to_want(node, share, data):
    """From the first step on, as far as devices at their lowest can keep it."""
    lowest_w = node.base_w + sum(device.slope * device.low_w for device in node.devices)
    highest_w = node.base_w + sum(device.slope * device.high_w for device in node.devices)
    cap_w = lowest_w + share * (highest_w - lowest_w)
    wants = st.lists(st.floats(0, 1), min_size=len(node.devices), max_size=len(node.devices))
    node_w = node.run(data.draw(wants))
    for _ in range(6):
        node.step(cap_w, node_w)
        node_w = node.run(data.draw(wants))
        assert node_w <= cap_w + 1e-6


@given(node=nodes, below_w=st.floats(1, 500))
def test_a_cap_that_is_too_low_is_always_said(node, below_w):
    lowest_w = node.base_w + sum(device.slope * device.low_w for device in node.devices)
    busy = [1.0] * len(node.devices)
    short_w = node.step(lowest_w - below_w, node.run(busy))
    assert short_w >= below_w - 1e-6
    assert node.run(busy) == pytest.approx(lowest_w)


@given(node=nodes, share=st.floats(0.05, 0.95))
def test_a_busy_node_comes_to_its_cap(node, share):
    lowest_w = node.base_w + sum(device.slope * device.low_w for device in node.devices)
    highest_w = node.base_w + sum(device.slope * device.high_w for device in node.devices)
    cap_w = lowest_w + share * (highest_w - lowest_w)
    busy = [1.0] * len(node.devices)
    node_w = node.run(busy)
    for _ in range(25):
        node.step(cap_w, node_w)
        node_w = node.run(busy)
    assert 0.99 * cap_w <= node_w <= cap_w + 1e-6


def test_what_an_idle_device_leaves_goes_to_the_busy_one_and_stays_there():
    node = Node(100.0, [Made(50.0, 100.0, 700.0, 1.1), Made(50.0, 100.0, 700.0, 1.1)])
    seen = []
    node_w = node.run([0.1, 1.0])
    for _ in range(12):
        node.step(800.0, node_w)
        node_w = node.run([0.1, 1.0])
        seen.append(node.powers_w[1])
    assert node.powers_w[0] == pytest.approx(115.0)
    assert max(seen[-4:]) - min(seen[-4:]) < 1.0
    assert 770.0 < node_w <= 800.0


def test_a_cap_that_devices_cannot_keep_is_said():
    found = device_caps(300.0, 500.0, [Device("gpu0", 200.0, math.inf, 150.0, 700.0)])
    assert found.caps_w == {"gpu0": 150.0}
    assert found.short_w == pytest.approx(150.0)


def test_devices_without_a_highest_power_are_shared_too():
    found = device_caps(500.0, 300.0, [Device(name, 100.0, 100.0, 1.0, math.inf)
                                       for name in ("package-0", "package-1")])
    assert found.caps_w["package-0"] == pytest.approx(found.caps_w["package-1"])
    assert sum(found.caps_w.values()) == pytest.approx(200.0 + 200.0 / SLOPE)


def test_caps_reach_the_cards_and_those_that_fall_come_first():
    cards = [Card(limit_mw=300_000), Card(limit_mw=700_000)]
    told = []

    class Watched(FakeNvml):
        def nvmlDeviceSetPowerManagementLimit(self, card, limit_mw):
            told.append(cards.index(card))
            super().nvmlDeviceSetPowerManagementLimit(card, limit_mw)

    actuator = NvmlLimit(nvml=Watched(*cards))
    found, held = keep_node_cap(1000.0, 1100.0, {"gpu0": 300.0, "gpu1": 600.0}, actuator,
                                {"gpu0": 300.0, "gpu1": 700.0})
    assert told == [1, 0]
    assert all(each.ok for each in held)
    assert [card.limit_mw / 1e3 for card in cards] == pytest.approx(list(found.caps_w.values()),
                                                                    abs=1.0)
    assert found.short_w == 0.0


def test_a_slope_below_one_is_refused():
    with pytest.raises(InputError, match="slope"):
        device_caps(100.0, 50.0, [], slope=0.9)
