"""Switching units off where that gives jobs room under a cap, and on again."""

from __future__ import annotations

from typing import Any

from wattline.model.cap_slack import CAP_SLACK, fits
from wattline.model.kernel import kernel, kernel_part
from wattline.policies.admission.levels import held_rise_w, lowest
from wattline.policies.admission.ramp import remember, units_that_may_change
from wattline.policies.admission.windows import (
    cap_at,
    power_at,
    window_end_s,
    window_start_s,
    windows_known,
)
from wattline.policies.committed import committed_w
from wattline.policies.contract import Composition, marks_nodes
from wattline.policies.in_order import units_in_order, units_to_count_on
from wattline.policies.starting import note
from wattline.policies.state import ACT_DOWN, ACT_UP, State


@kernel_part
def settle_under(
    st: State, admission: Any, policy: Composition, cap_w: float, change_w: float, most_off: int
) -> None:
    """Switch units after a decision, not more than `most_off` of them off, and keep account of the
    ramp.

    `change_w` is what the decision does to running jobs; units are then switched the next time,
    when that has happened.
    """
    if admission.shut and change_w == 0.0:
        change_w = switch(st, admission, policy, cap_w, most_off)
    if admission.ramp_w_per_s > 0.0:
        remember(st, admission, change_w)


@kernel_part
def switch(
    st: State, admission: Any, policy: Composition, cap_w: float, most_off: int
) -> float:
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
    first = -1
    if waiting > 0 and not over and clock.running == 0:
        first = _first_waiting(st)
    if first >= 0:
        wanted = _for_first(st, admission, wanted, cap_w, first)
        if st.live[first].unplaced_s == clock.now_s:
            missing, spare = _missing_and_spare(st, policy, first)
            if missing > 0:
                return _exchange(st, admission, missing, min(spare, most_off), cap_w, first)
    if clock.power_w < admission.floor_w and saved_w > 0.0:
        missing_w = admission.floor_w - clock.power_w
        wanted = max(wanted, on + int((missing_w / saved_w) * (1.0 - CAP_SLACK)) + 1)
    if on > wanted and clock.free > 0 and saved_w > 0.0:
        return _switch_off(st, admission, min(on - wanted, clock.free, most_off), cap_w, first)
    if on < wanted and clock.off > 0:
        return _switch_on(st, admission, min(wanted - on, clock.off), cap_w, first)
    return 0.0


@kernel
def _first_waiting(st: State) -> int:
    """The first job of the queue, or -1; those that need units out of order are passed over."""
    clock = st.clock[0]
    for position in range(clock.queue_first, clock.queue_last):
        if st.queue[position].units <= units_to_count_on(st):
            return int(st.queue[position].job)
    return -1


@kernel
def _for_first(st: State, admission: Any, wanted: int, cap_w: float, job: int) -> int:
    """Nothing runs and the first job waits: keep on what it needs, and off what it lacks watts for.

    Jobs differ: one draws little on many units, one allows no level as low as the others do.
    """
    clock = st.clock[0]
    units = st.live[job].units
    rise_w = held_rise_w(st, job) * admission.dynamic[lowest(admission, job)]
    saved_w = clock.idle_w - clock.off_w
    wanted = max(wanted, units)
    if clock.free > units and saved_w > 0.0 and not fits(rise_w, cap_w - committed_w(st)):
        lacking = int((committed_w(st) + rise_w - cap_w) / saved_w) + 1
        wanted = min(wanted, max(units_in_order(st) - clock.off - lacking, units))
    return int(wanted)


@kernel_part
def _missing_and_spare(st: State, policy: Composition, job: int) -> tuple[int, int]:
    """How many of the nodes that a job would get are off, and how many others are free."""
    missing, spare = 0, 0
    if marks_nodes(st, policy.placement, job):
        for node in range(st.nodes.size):
            marked = st.scratch_nodes[node] == 1
            if marked and not st.node_free[node]:
                missing += 1
            if st.node_free[node] and not marked:
                spare += 1
    return missing, spare


@kernel
def _exchange(
    st: State, admission: Any, missing: int, spare: int, cap_w: float, job: int
) -> float:
    """Nodes that the first job waits for are off and others on: those go on or, where there are no
    watts for it, as many others off before."""
    before = st.clock[0].actions
    change_w = _switch_on(st, admission, missing, cap_w, job)
    if st.clock[0].actions == before and st.clock[0].idle_w > st.clock[0].off_w:
        change_w = _switch_off(st, admission, min(missing, spare), cap_w, job)
    return change_w


@kernel
def _switch_off(st: State, admission: Any, units: int, cap_w: float, job: int) -> float:
    """Ask for units to be switched off; `job` is the one whose nodes are to stay, or -1."""
    clock = st.clock[0]
    saved_w = clock.idle_w - clock.off_w
    units = min(units, int(max(clock.power_w - admission.floor_w, 0.0) / saved_w))
    more_w = clock.halt_w - clock.idle_w
    drawn_w = committed_w(st)
    if more_w > 0.0 and fits(drawn_w, cap_w) and cap_w < float("inf"):
        # Shutting down draws more than idling. Above the cap it has to be; below, there is room.
        units = min(units, int((cap_w - drawn_w) / more_w))
        units = _units_for_windows(st, admission, units, more_w, clock.now_s + clock.halt_s)
    units = units_that_may_change(st, admission, units, -saved_w)
    if units > 0:
        note(st, ACT_DOWN, job, float(units), 0.0)
    return float(units * (clock.halt_w - clock.idle_w))


@kernel
def _switch_on(st: State, admission: Any, units: int, cap_w: float, job: int) -> float:
    """Ask for units to be switched on; `job` is the one whose nodes come first, or -1."""
    clock = st.clock[0]
    booting_w = max(clock.boot_w, clock.idle_w) - clock.off_w
    if booting_w > 0.0 and cap_w < float("inf"):
        units = min(units, int(max(cap_w - committed_w(st), 0.0) / booting_w))
    units = _units_for_windows(st, admission, units, clock.idle_w - clock.off_w, float("inf"))
    if clock.boot_w > clock.idle_w:
        units = _units_for_windows(st, admission, units, booting_w, clock.now_s + clock.boot_s)
    units = units_that_may_change(st, admission, units, booting_w)
    if units > 0:
        note(st, ACT_UP, job, float(units), 0.0)
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
