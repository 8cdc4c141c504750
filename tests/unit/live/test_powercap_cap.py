"""Caps through the kernel's powercap tree."""

from __future__ import annotations

import math

import pytest
from tests.shared_data import shared
from tests.support.emulated_node import FOUND_W, KNOB, EmulatedNode

from wattline.live.actuator import Actuator, Remembers
from wattline.live.powercap_cap import PowercapCap, open_actuator
from wattline.model.errors import InputError


@pytest.fixture
def node(tmp_path):
    return EmulatedNode(tmp_path)


def test_it_is_an_actuator_that_remembers_and_opening_changes_nothing(node):
    actuator = open_actuator("powercap", node.tree)
    assert isinstance(actuator, Actuator)
    assert isinstance(actuator, Remembers)
    (knob,) = actuator.knobs()
    assert (knob.name, knob.unit, knob.domain, knob.high) == (KNOB, "W", "node", 400.0)
    assert node.cap_w == FOUND_W
    assert actuator.restore() == []


def test_what_was_found_first_is_put_back_after_several_changes(node):
    actuator = PowercapCap(node.tree)
    assert actuator.apply(KNOB, 200.0).value == 200.0
    assert actuator.apply(KNOB, 150.5).value == 150.5
    assert node.cap_w == 150.5
    (held,) = actuator.restore()
    assert (held.ok, held.value, node.cap_w) == (True, FOUND_W, FOUND_W)


@pytest.mark.parametrize("cap_w", [401.0, -1.0, math.nan])
def test_an_order_outside_of_the_hardwares_bounds_is_refused_not_clipped(node, cap_w):
    held = PowercapCap(node.tree).apply(KNOB, cap_w)
    assert (held.ok, held.value) == (False, FOUND_W)
    assert "outside" in held.reason
    assert node.cap_w == FOUND_W


def test_a_zone_that_is_switched_off_is_not_said_to_be_capped(node):
    (node.zone / "enabled").write_text("0\n")
    held = PowercapCap(node.tree).apply(KNOB, 200.0)
    assert not held.ok
    assert "switched off" in held.reason


def test_a_limit_that_vanished_is_said(node):
    actuator = PowercapCap(node.tree)
    (node.zone / "constraint_0_power_limit_uw").unlink()
    held = actuator.apply(KNOB, 200.0)
    assert not held.ok
    assert math.isnan(held.value)


def test_an_unknown_knob_is_said(node):
    assert PowercapCap(node.tree).apply("dram@7", 10.0).reason == "there is no knob dram@7"


def test_another_process_puts_back_what_the_first_found(node):
    first = PowercapCap(node.tree)
    first.apply(KNOB, 200.0)
    second = PowercapCap(node.tree)
    second.remember(first.found())
    second.apply(KNOB, 180.0)
    second.restore()
    assert node.cap_w == FOUND_W


def test_a_real_tree_has_its_package(tmp_path):
    knobs = {knob.name: knob.domain
             for knob in PowercapCap(shared("fixtures/powercap_sysfs/procfs/powercap")).knobs()}
    assert knobs["package-0@0"] == "package"


def test_a_folder_without_limits_is_refused(tmp_path):
    with pytest.raises(InputError, match="no powercap zone"):
        PowercapCap(tmp_path)
    with pytest.raises(InputError, match="no kind of actuator 'x'"):
        open_actuator("x")
