"""Jobs, and booting nodes, that draw less than idle ones: what comes back is held, by hand.

Two nodes of 50 W idle.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.support.workloads import compose

from wattline.books import Books, Submitted, Terms
from wattline.model.machine import Machine, NodeClass
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.admission.power import exceeds_alone, within_cap
from wattline.policies.admission.switching import _switch_on
from wattline.policies.admission.watts import Watts
from wattline.policies.committed import committed_w, count_below_idle
from wattline.policies.contract import carries, watts_at, watts_available
from wattline.policies.state import RUNNING, State


def state(watts: float = 30.0, power_w: float = 100.0, below_w: float = 0.0) -> State:
    """One job of one node waits; the machine draws so much, and so much less than it may soon."""
    node = NodeClass(power_w_idle=50.0, power_w_active=200.0)
    books = Books.open(Machine.uniform(2, node), compose(), Terms())
    books.apply(0, [Submitted("a", 1, 10.0)])
    st = books.state
    st.live.watts[0] = watts
    st.clock[0].power_w, st.clock[0].below_idle_w = power_w, below_w
    return st


def under(st: State, cap_w: float) -> State:
    st.clock[0].cap_w = cap_w
    return st


@pytest.mark.parametrize(("watts", "cap_w", "fits"), [
    (30.0, 340.0, True), (30.0, 339.0, False), (80.0, 370.0, True), (80.0, 369.0, False)])
def test_under_a_cap_a_job_below_idle_power_takes_nothing_and_leaves_nothing(
    watts: float, cap_w: float, fits: bool
) -> None:
    """300 W are drawn and 40 W come back; a job of 80 W adds 30 W to its node."""
    st = under(state(watts, 300.0, 40.0), cap_w)
    assert committed_w(st) == 340.0
    assert within_cap(st, 0, False) == fits


@pytest.mark.parametrize(("watts", "cap_w", "exceeds"), [
    (30.0, 100.0, False), (30.0, 99.0, True), (80.0, 130.0, False), (80.0, 129.0, True)])
def test_a_job_below_idle_power_is_no_reason_for_a_cap_below_the_idle_machine(
    watts: float, cap_w: float, exceeds: bool
) -> None:
    assert exceeds_alone(state(watts), 0, 1.0, False, cap_w, 100.0) == exceeds


def test_what_comes_back_is_not_available_now_or_later() -> None:
    st = under(state(power_w=300.0, below_w=40.0), 1000.0)
    watts = Watts()
    assert watts_available(st, watts) == 660.0
    assert watts_at(st, watts, 0.0) == watts_at(st, watts, 50.0) == 660.0


@pytest.mark.parametrize(("power_w", "least_factor", "below_w"), [
    (30.0, 1.0, 20.0), (80.0, 1.0, 0.0), (80.0, 0.5, 10.0), (30.0, 0.5, 20.0),
    (200.0, 0.5, 10.0)])
def test_a_running_job_counts_at_the_lowest_level_to_which_it_may_be_slowed(
    power_w: float, least_factor: float, below_w: float
) -> None:
    """A job of 80 W draws 40 W at half its power, 10 W less than its node idle; at 30 W it draws
    20 W less already."""
    st = state(80.0)
    live = st.live[0]
    live.state, live.power_w, live.idle_w = RUNNING, power_w, 50.0
    st.clock[0].least_factor = least_factor
    count_below_idle(st, 0)
    assert (live.below_idle_w, st.clock[0].below_idle_w) == (below_w, below_w)


@pytest.mark.parametrize(("watts", "cap_w", "fits"), [
    (30.0, 100.0, True), (30.0, 99.0, False), (200.0, 150.0, True), (200.0, 149.0, False)])
def test_under_levels_the_idle_power_beneath_a_job_comes_back(
    watts: float, cap_w: float, fits: bool
) -> None:
    """At half its power a job of 30 W draws 15 W, and one of 200 W 100 W, on one of two idle nodes
    of 100 W together."""
    levels = Dvfs(np.array([0.5, 1.0]), np.array([0.5, 1.0]))
    assert carries(under(state(watts), cap_w), levels, 0) == fits


@pytest.mark.parametrize(("boot_w", "units"), [(30.0, 2), (50.0, 2), (90.0, 1), (91.0, 0)])
def test_a_node_that_is_switched_on_needs_what_it_draws_booting_or_idle_whichever_is_more(
    boot_w: float, units: int
) -> None:
    """Four of 10 W are off; 80 W are left. Booting at 30 W each needs the 40 W more that it draws
    idle."""
    st = under(state(power_w=260.0), 340.0)
    clock = st.clock[0]
    clock.off, clock.off_w, clock.boot_w = 4, 10.0, boot_w
    none = np.zeros(0)
    admission = SimpleNamespace(window_start_s=none, window_end_s=none, ramp_w_per_s=0.0)
    assert _switch_on(st, admission, 4, 340.0, -1) == units * (boot_w - 10.0)
    assert int(clock.actions) == (1 if units else 0)
