"""Ramps of the machine's power, and caps in windows that are known, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.support.workloads import compose

from wattline.books import Books, Terms
from wattline.model.machine import Machine, NodeClass
from wattline.policies.admission.ramp import RAMP, may_rise, rise_left_w
from wattline.policies.admission.windows import cap_at
from wattline.policies.state import State


def state(power_w: float = 500.0, now_s: float = 0.0, cap_w: float = 1000.0) -> State:
    node = NodeClass(power_w_idle=50.0, power_w_active=200.0)
    st = Books.open(Machine.uniform(10, node), compose(), Terms()).state
    clock = st.clock[0]
    clock.power_w, clock.now_s, clock.cap_w, clock.wake_s = power_w, now_s, cap_w, -1.0
    return st


def ramp(level_w: float, since_w: float) -> SimpleNamespace:
    """10 W a second, 100 W at once; a level as of now and the power since then."""
    row = np.zeros(1, RAMP).view(np.recarray)
    row[0].level_w, row[0].since_w = level_w, since_w
    return SimpleNamespace(ramp_w=100.0, ramp_w_per_s=10.0, memory=SimpleNamespace(ramp=row))


@pytest.mark.parametrize(("level_w", "left_w"), [(500.0, 100.0), (450.0, 50.0), (550.0, 150.0)])
def test_power_may_rise_to_what_the_ramp_allows_above_its_level(
    level_w: float, left_w: float
) -> None:
    assert rise_left_w(state(), ramp(level_w, 500.0)) == left_w


@pytest.mark.parametrize(("rise_w", "level_w", "may"), [
    (100.0, 500.0, True), (300.0, 500.0, True), (51.0, 450.0, False), (50.0, 450.0, True),
    (300.0, 499.0, False)])
def test_a_rise_larger_than_the_ramp_waits_until_the_level_is_the_power(
    rise_w: float, level_w: float, may: bool
) -> None:
    """Otherwise it would never be: what it needs is the whole ramp, and no more."""
    assert may_rise(state(), ramp(level_w, 500.0), 0, rise_w) == may


@pytest.mark.parametrize(("now_s", "cap_w", "then_s", "found_w"), [
    (0.0, 900.0, 50.0, 900.0), (0.0, 900.0, 100.0, 1000.0), (100.0, 1000.0, 250.0, 700.0),
    (100.0, 1000.0, 300.0, 1000.0), (250.0, 700.0, 50.0, 900.0)])
def test_the_cap_of_another_time_is_that_of_now_with_the_windows_of_then(
    now_s: float, cap_w: float, then_s: float, found_w: float
) -> None:
    """1,000 W, of which windows take 100 W until 100 s and 300 W from 200 to 300 s."""
    admission = SimpleNamespace(
        window_start_s=np.array([0.0, 200.0]), window_end_s=np.array([100.0, 300.0]),
        window_held_w=np.array([100.0, 300.0]), machine_w=2000.0)
    assert cap_at(state(now_s=now_s, cap_w=cap_w), admission, then_s) == found_w


def test_without_a_cap_a_window_takes_from_what_the_machine_can_draw() -> None:
    admission = SimpleNamespace(
        window_start_s=np.array([200.0]), window_end_s=np.array([300.0]),
        window_held_w=np.array([300.0]), machine_w=2000.0)
    st = state(cap_w=np.inf)
    assert (cap_at(st, admission, 100.0), cap_at(st, admission, 200.0)) == (np.inf, 1700.0)
