"""Switching units off where that gives jobs room under a cap, and on again."""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel
from wattline.physics.adaptive import SLACK, fits
from wattline.policies.admission.levels import lowest, rise_of
from wattline.policies.admission.ramp import remember, units_that_may_change
from wattline.policies.admission.windows import (
    cap_at,
    power_at,
    window_end_s,
    window_start_s,
    windows_known,
)
from wattline.policies.in_order import units_in_order, units_to_count_on
from wattline.policies.starting import note
from wattline.policies.state import ACT_DOWN, ACT_UP, State


@kernel
def settle_under(
    st: State, admission: Any, cap_w: float, change_w: float, most_off: int
) -> None:
    """Switch units after a decision, not more than `most_off` of them off, and keep account of the
    ramp.

    `change_w` is what the decision does to running jobs; units are then switched the next time,
    when that has happened.
    """
    if admission.shut and change_w == 0.0:
        change_w = switch(st, admission, cap_w, most_off)
    if admission.ramp_w_per_s > 0.0:
        remember(st, admission, change_w)


@kernel
def switch(st: State, admission: Any, cap_w: float, most_off: int) -> float:
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
    on = units_in_order(st) - clock.off
    wanted = on
    if waiting > 0 or over:
        wanted = useful_units(st, admission, cap_w)
    if waiting > 0 and not over and clock.running == 0:
        wanted = _for_first(st, admission, wanted, cap_w)
    if clock.power_w < admission.floor_w and saved_w > 0.0:
        missing_w = admission.floor_w - clock.power_w
        wanted = max(wanted, on + int((missing_w / saved_w) * (1.0 - SLACK)) + 1)
    if on > wanted and clock.free > 0 and saved_w > 0.0:
        return _switch_off(st, admission, min(on - wanted, clock.free, most_off), cap_w)
    if on < wanted and clock.off > 0:
        return _switch_on(st, admission, min(wanted - on, clock.off), cap_w)
    return 0.0


@kernel
def _for_first(st: State, admission: Any, wanted: int, cap_w: float) -> int:
    """Nothing runs and the first job waits: keep on what it needs, and off what it lacks watts for.

    Jobs differ: one draws little on many units, one allows no level as low as the others do. One
    that needs units that are out of order is passed over.
    """
    clock = st.clock[0]
    position = clock.queue_first
    while st.queue[position].units > units_to_count_on(st):
        position += 1
        if position == clock.queue_last:
            return wanted
    job = st.queue[position].job
    units = st.live[job].units
    rise_w = rise_of(st, job) * admission.dynamic[lowest(admission, job)]
    saved_w = clock.idle_w - clock.off_w
    wanted = max(wanted, units)
    if clock.free > units and saved_w > 0.0 and not fits(rise_w, cap_w - clock.power_w):
        lacking = int((clock.power_w + rise_w - cap_w) / saved_w) + 1
        wanted = min(wanted, max(units_in_order(st) - clock.off - lacking, units))
    return int(wanted)


@kernel
def _switch_off(st: State, admission: Any, units: int, cap_w: float) -> float:
    clock = st.clock[0]
    saved_w = clock.idle_w - clock.off_w
    units = min(units, int(max(clock.power_w - admission.floor_w, 0.0) / saved_w))
    more_w = clock.halt_w - clock.idle_w
    if more_w > 0.0 and fits(clock.power_w, cap_w) and cap_w < float("inf"):
        # Shutting down draws more than idling. Above the cap it has to be; below, there is room.
        units = min(units, int((cap_w - clock.power_w) / more_w))
        units = _units_for_windows(st, admission, units, more_w, clock.now_s + clock.halt_s)
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
    units = _units_for_windows(st, admission, units, clock.idle_w - clock.off_w, float("inf"))
    if clock.boot_w > clock.idle_w:
        units = _units_for_windows(st, admission, units, booting_w, clock.now_s + clock.boot_s)
    units = units_that_may_change(st, admission, units, booting_w)
    if units > 0:
        note(st, ACT_UP, -1, float(units), 0.0)
    return float(units * (clock.boot_w - clock.off_w))


@kernel
def _units_for_windows(
    st: State, admission: Any, units: int, more_w: float, until_s: float
) -> int:
    """So many of these units that, each drawing so much more, they leave every window its cap.

    They draw it until a time: windows that begin later do not count.
    """
    clock = st.clock[0]
    for window in range(windows_known(st, admission)):
        begins_s = max(window_start_s(st, admission, window), clock.now_s)
        ends_s = window_end_s(st, admission, window)
        if ends_s <= clock.now_s or begins_s >= until_s or more_w <= 0.0:
            continue
        room_w = cap_at(st, admission, begins_s) - power_at(st, begins_s)
        units = min(units, int(max(room_w, 0.0) / more_w))
    return units


@kernel
def useful_units(st: State, admission: Any, cap_w: float) -> int:
    """How many units can be busy under the cap with all others off, at the lowest level in use."""
    clock = st.clock[0]
    most = units_in_order(st)
    if cap_w == float("inf"):
        return most
    rise_w = (admission.unit_w - clock.idle_w) * admission.dynamic[admission.usual]
    busy_w = clock.idle_w + rise_w
    room_w = cap_w - clock.units * clock.off_w
    if busy_w <= clock.off_w:
        return most
    return int(min(max(room_w / (busy_w - clock.off_w), 0.0), float(most)))
