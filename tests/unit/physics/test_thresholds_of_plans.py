"""Thresholds of caps, budgets, levels and lines: below, at and above each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from wattline.model.errors import InputError
from wattline.model.machine import Machine, NodeClass
from wattline.model.signal import Signal
from wattline.physics.budget import EnergyBudget, Offer, has_room
from wattline.physics.budget_terms import ALLOW, CARRIES, CHARGE_NOW, EXPIRE, KEEP
from wattline.physics.configurations import Configuration, ConfigurationTable
from wattline.physics.core_power import CorePower, FrequencyRange, parse_cpu_freq
from wattline.physics.powercap import (
    CapChange,
    DrawLimits,
    PowerCap,
    PowerStatus,
    WattReservation,
)
from wattline.physics.scaling import BestTimes, Scaling, fit_scaling
from wattline.physics.variability import node_slowdown

FORBID = CARRIES.index("forbid")
LIMITS = DrawLimits(min_w=400.0, max_w=1200.0, off_w=40.0)


def accepts(make: Callable[[], Any], words: str) -> bool:
    """Return whether nothing is refused; a refusal has these words."""
    try:
        make()
    except InputError as error:
        if words not in str(error):
            raise
        return False
    return True


@pytest.mark.parametrize(("watts", "kept"), [(39.0, False), (40.0, True), (41.0, True)])
def test_a_cap_may_be_what_the_machine_draws_with_all_nodes_off(watts: float, kept: bool) -> None:
    assert accepts(lambda: PowerCap(watts).checked(LIMITS), "with all its nodes off") == kept
    later = PowerCap(changes=(CapChange(5.0, watts),))
    assert accepts(lambda: later.checked(LIMITS), "with all its nodes off") == kept


@pytest.mark.parametrize(("floor_w", "kept"), [(1199.0, True), (1200.0, True), (1201.0, False)])
def test_a_floor_may_be_all_that_the_machine_draws(floor_w: float, kept: bool) -> None:
    assert accepts(lambda: PowerCap(floor_w=floor_w).checked(LIMITS), "above what") == kept


@pytest.mark.parametrize(("watts", "kept"), [(499.0, False), (500.0, True), (501.0, True)])
def test_a_cap_may_be_its_floor(watts: float, kept: bool) -> None:
    plan = PowerCap(watts, floor_w=500.0)
    assert accepts(lambda: plan.checked(LIMITS), "below the floor") == kept


@pytest.mark.parametrize(("watts", "kept"), [(499.0, True), (500.0, True), (501.0, False)])
def test_a_reservation_may_leave_the_floor(watts: float, kept: bool) -> None:
    plan = PowerCap(1000.0, floor_w=500.0, reservations=(WattReservation(10.0, 5.0, watts),))
    assert accepts(lambda: plan.checked(LIMITS), "below the floor") == kept


@pytest.mark.parametrize(("start_s", "kept"), [(9.0, False), (10.0, True), (11.0, True)])
def test_a_reservation_may_begin_now(start_s: float, kept: bool) -> None:
    wanted = WattReservation(start_s, 5.0, 100.0)
    assert accepts(lambda: PowerCap(1000.0).reserve(wanted, LIMITS, 10.0), "in the past") == kept


@pytest.mark.parametrize(("time_s", "cap_w"), [
    (9.0, 1000.0), (10.0, 900.0), (14.0, 900.0), (15.0, 1000.0)])
def test_a_reservation_holds_from_its_start_to_before_its_end(time_s: float, cap_w: float) -> None:
    plan = PowerCap(1000.0, reservations=(WattReservation(10.0, 5.0, 100.0),))
    assert plan.signal(1200.0).at(time_s) == cap_w


def test_nodes_that_are_off_lower_the_most_by_what_they_would_draw_busy() -> None:
    """Of four nodes of 300 W two are off, at 10 W each: 2 x 290 W less than 1,200 W."""
    node = NodeClass(power_w_idle=100.0, power_w_active=300.0, power_w_off=10.0)
    found = PowerStatus.of(Machine.uniform(4, node), PowerCap(900.0), nodes_off=2)
    assert (found.min_w, found.max_w, found.adjusted_max_w) == (400.0, 1200.0, 620.0)


@pytest.mark.parametrize(("energy_j", "kept"), [(3999.0, False), (4000.0, True), (4001.0, True)])
def test_a_budget_may_be_what_the_idle_machine_draws(energy_j: float, kept: bool) -> None:
    budget = EnergyBudget(energy_j, 0.0, 10.0, Signal.constant(1.0))
    assert accepts(lambda: budget.checked(400.0, 1200.0), "is below the") == kept


@pytest.mark.parametrize(("carry", "unspent", "rise_w", "time_s", "fits"), [
    # 1,000 J in each period of 10 s, of which 6 s are left.
    (FORBID, EXPIRE, 100.0, 6.0, True), (FORBID, EXPIRE, 100.0, 16.0, True),
    (FORBID, EXPIRE, 100.0, 999.0, True),  # each later period has 1,000 J for it
    (FORBID, EXPIRE, 101.0, 16.0, False), (FORBID, EXPIRE, 166.0, 6.0, True),
    (FORBID, EXPIRE, 167.0, 6.0, False), (FORBID, EXPIRE, 150.0, 12.6, True),
    (FORBID, EXPIRE, 150.0, 12.7, False),  # 1,005 J in the second period
    (ALLOW, EXPIRE, 166.0, 999.0, True), (ALLOW, EXPIRE, 167.0, 999.0, False),
    (CHARGE_NOW, EXPIRE, 100.0, 10.0, True), (CHARGE_NOW, EXPIRE, 100.0, 10.1, False),
    # What the first leaves, 1,000 - 110 x 6 = 340 J, is what later ones may draw more: 100 J each.
    (FORBID, KEEP, 110.0, 36.0, True), (FORBID, KEEP, 110.0, 46.0, False)])
def test_the_joules_of_an_idle_machine_are_enough_to_the_last(
    carry: int, unspent: int, rise_w: float, time_s: float, fits: bool
) -> None:
    offer = Offer(1000.0, 1000.0, 6.0, 10.0, carry, unspent)
    assert bool(has_room(offer, rise_w, time_s)) == fits


CORE = CorePower((1e9, 2e9, 3e9), (12.0, 16.0, 22.0), 7.0)


@pytest.mark.parametrize(("low_hz", "high_hz", "levels"), [
    (0.9e9, 3.1e9, (0, 2)), (1e9, 3e9, (0, 2)), (1.1e9, 2.9e9, (1, 1)), (2e9, 2e9, (1, 1)),
    (2.1e9, 3e9, (2, 2))])
def test_a_range_has_the_levels_at_its_ends(
    low_hz: float, high_hz: float, levels: tuple[int, int]
) -> None:
    assert CORE.level_range(FrequencyRange(low_hz, high_hz)) == levels


def test_a_range_between_two_levels_has_none() -> None:
    assert not accepts(lambda: CORE.level_range(FrequencyRange(2.1e9, 2.9e9)), "no frequency lies")


@pytest.mark.parametrize(("levels", "medium_ghz"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_the_medium_of_frequencies_is_the_lower_of_two_in_the_middle(
    levels: int, medium_ghz: int
) -> None:
    core = CorePower(tuple(1e9 * (1 + n) for n in range(levels)), (10.0,) * levels, 5.0)
    assert parse_cpu_freq("medium", core).min_hz == 1e9 * medium_ghz


def test_power_above_idle_is_relative_to_that_at_full_speed() -> None:
    """5 and 9 of 15 W above the 7 W of an idle core."""
    assert CORE.dynamic().tolist() == pytest.approx([5 / 15, 9 / 15, 1.0])
    assert CorePower(CORE.frequency_hz, CORE.power_w, 7.0, beta=0.5).speed() == pytest.approx(
        [(1 / 3) ** 0.5, (2 / 3) ** 0.5, 1.0])


@pytest.mark.parametrize(("nodes", "known"), [(3, False), (4, True), (8, True), (9, False)])
def test_a_line_holds_from_its_first_to_its_last_node_count(nodes: int, known: bool) -> None:
    line = Scaling(-1.0, 20.0, nodes_max=8, nodes_min=4)
    assert accepts(lambda: line.time_s(nodes), "is valid from 4 to 8 nodes") == known


@pytest.mark.parametrize(("nodes", "known"), [(19, True), (20, False), (21, False)])
def test_a_line_does_not_hold_where_it_comes_to_no_time_at_all(nodes: int, known: bool) -> None:
    assert accepts(lambda: Scaling(-1.0, 20.0).time_s(nodes), "must be above 0") == known


def test_a_cap_slows_a_node_down_only_where_it_is_below_its_demand() -> None:
    """100 W times the node's factor, under 100 W: 1.1 times too much, just enough, and to spare."""
    found = node_slowdown(100.0, np.full(3, 100.0), np.array([1.1, 1.0, 0.9]), throttle=1.0)
    assert found.tolist() == pytest.approx([1.1, 1.0, 1.0])


def test_time_grows_as_the_demand_over_the_cap_to_the_power_of_the_throttle() -> None:
    """A node that needs 150 W has 100 W."""
    for throttle in (1.0, 0.9, 0.5):
        found = node_slowdown(150.0, np.array([100.0]), np.array([1.0]), throttle=throttle)
        assert found.tolist() == pytest.approx([1.5**throttle])


def test_a_line_is_as_far_from_the_best_times_as_from_the_one_that_it_is_furthest_from() -> None:
    """Through 10, 16 and 10 s goes 12 s: a fifth above the first, a quarter below the second."""
    drawn = fit_scaling([Configuration(nodes, {}, time_s, 100.0)
                         for nodes, time_s in ((1, 10.0), (2, 16.0), (3, 10.0))])
    assert (drawn.scaling.slope_s, drawn.scaling.intercept_s) == pytest.approx((0.0, 12.0))
    assert (drawn.deviation, drawn.deviation_nodes) == (pytest.approx(0.25), 2)


def test_budgets_at_which_times_change_have_the_idle_power_of_nodes_that_are_not_used() -> None:
    """Of 8 nodes those that a configuration of 4 leaves draw 40 W; one of 8 or 16 leaves none."""
    table = ConfigurationTable.build("made", [4, 8, 16], [8] * 3, [50.0] * 3, [16.0, 8.0, 4.0],
                                     [200.0, 400.0, 800.0])
    assert BestTimes(table, 1600.0, 10.0).steps_w(8).tolist() == [200.0, 240.0, 400.0, 800.0]
