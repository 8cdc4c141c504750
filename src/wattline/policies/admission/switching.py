"""Switching units off where that gives jobs room under a cap, and on again."""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel
from wattline.physics.adaptive import SLACK, fits
from wattline.policies.admission.ramp import remember, units_that_may_change
from wattline.policies.admission.windows import power_at
from wattline.policies.starting import note
from wattline.policies.state import ACT_DOWN, ACT_UP, State


@kernel
def settle_under(st: State, admission: Any, cap_w: float) -> None:
    """Switch units after a decision, and keep account of the ramp."""
    change_w = 0.0
    if admission.shut:
        change_w = switch(st, admission, cap_w)
    if admission.ramp_w_per_s > 0.0:
        remember(st, admission, change_w)


@kernel
def switch(st: State, admission: Any, cap_w: float) -> float:
    """Keep as many units on as can be busy together under the cap; the others are switched off.

    The result is what that changes the power by at once.
    Only while jobs wait: an idle machine without a queue is left as it is. Below the floor, units
    that are off are switched on again, whoever waits.
    """
    clock = st.clock[0]
    if clock.changing > 0:
        return 0.0
    waiting = clock.queue_last - clock.queue_first
    over = not fits(clock.power_w, cap_w)
    saved_w = clock.idle_w - clock.off_w
    on = clock.units - clock.off
    wanted = on
    if waiting > 0 or over:
        wanted = useful_units(st, admission, cap_w)
    if clock.power_w < admission.floor_w and saved_w > 0.0:
        missing_w = admission.floor_w - clock.power_w
        wanted = max(wanted, on + int((missing_w / saved_w) * (1.0 - SLACK)) + 1)
    if on > wanted and clock.free > 0 and saved_w > 0.0:
        return _switch_off(st, admission, min(on - wanted, clock.free))
    if on < wanted and clock.off > 0:
        return _switch_on(st, admission, min(wanted - on, clock.off), cap_w)
    return 0.0


@kernel
def _switch_off(st: State, admission: Any, units: int) -> float:
    clock = st.clock[0]
    saved_w = clock.idle_w - clock.off_w
    units = min(units, int(max(clock.power_w - admission.floor_w, 0.0) / saved_w))
    units = units_that_may_change(st, admission, units, -saved_w)
    if units > 0:
        note(st, ACT_DOWN, -1, float(units), 0.0)
    return float(units * (clock.halt_w - clock.idle_w))


@kernel
def _switch_on(st: State, admission: Any, units: int, cap_w: float) -> float:
    clock = st.clock[0]
    booting_w = max(clock.boot_w, clock.idle_w) - clock.off_w
    if booting_w > 0.0 and cap_w < float("inf"):
        units = min(units, int(max(cap_w - clock.power_w, 0.0) / booting_w))
    units = _units_for_windows(st, admission, units)
    units = units_that_may_change(st, admission, units, booting_w)
    if units > 0:
        note(st, ACT_UP, -1, float(units), 0.0)
    return float(units * (clock.boot_w - clock.off_w))


@kernel
def _units_for_windows(st: State, admission: Any, units: int) -> int:
    """So many of these units that, idle, they leave every window to come under its cap."""
    clock = st.clock[0]
    more_w = clock.idle_w - clock.off_w
    for window in range(admission.window_start_s.size):
        if admission.window_end_s[window] <= clock.now_s or more_w <= 0.0:
            continue
        begins_s = max(admission.window_start_s[window], clock.now_s)
        room_w = admission.window_w[window] - power_at(st, begins_s)
        units = min(units, int(max(room_w, 0.0) / more_w))
    return units


@kernel
def useful_units(st: State, admission: Any, cap_w: float) -> int:
    """How many units can be busy under the cap with all others off, at the lowest level in use."""
    clock = st.clock[0]
    if cap_w == float("inf"):
        return int(clock.units)
    rise_w = (admission.node_w - clock.idle_w) * admission.dynamic[admission.least]
    busy_w = clock.idle_w + rise_w
    room_w = cap_w - clock.units * clock.off_w
    if busy_w <= clock.off_w:
        return int(clock.units)
    return int(min(max(room_w / (busy_w - clock.off_w), 0.0), float(clock.units)))
