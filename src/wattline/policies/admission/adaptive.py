"""Power-adaptive admission: start at a frequency that the cap allows, or wait.

The rule of docs/energy.md: a job starts at its highest frequency if the machine then stays under
the cap; else at the optimal one, the highest at which all idle nodes could be given to jobs; else
at its lowest; else it waits. A job that would run into a planned window is admitted only if the
window can still be kept. Nodes are switched off where that gives jobs room (SHUT, MIX).

A job keeps its frequency until it ends. Its level stands in the books as a power (`live.watts`)
and a slowdown (`live.stretch`), so that everything else works as for any other job.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.physics.adaptive import SLACK, choose_level, fits
from wattline.physics.adaptive import WAIT as NO_LEVEL
from wattline.policies.admission.ramp import may_rise, remember, units_that_may_change
from wattline.policies.contract import (
    START,
    WAIT,
    Composition,
    admit,
    exhausted,
    most_speed,
    most_units,
    not_before_s,
    planned_s,
    refuses,
    settle,
    watts_at,
    watts_available,
    watts_of,
)
from wattline.policies.starting import note
from wattline.policies.state import ACT_DOWN, ACT_UP, BLOCK, RUNNING, State


class Adaptive(NamedTuple):
    """Levels from the slowest to the fastest; what of them each job allows; planned windows.

    Arrays of one entry hold for all jobs.
    """

    speed: Any
    """Progress a second at each level, relative to full speed."""
    dynamic: Any
    """Power above idle at each level, relative to full speed."""
    low: Any
    """Lowest and highest level that each job allows."""
    high: Any
    window_start_s: Any
    window_end_s: Any
    window_w: Any
    """The cap in each window that is known in advance, in the order of their starts."""
    cap_w: float
    """The cap outside of the windows, as far as is known in advance."""
    node_w: float
    """A unit at full speed."""
    least_rise_w: float = 0.0
    """No job raises the power by less a unit, at its lowest level."""
    least: int = 0
    """The lowest level that any job allows."""
    shut: int = 0
    """1: units that only take power from jobs are switched off."""
    floor_w: float = 0.0
    """Switching off does not take the machine below this; units are switched on for it."""
    ramp_w_per_s: float = 0.0
    """How fast decisions may change the power; 0 for no limit. See `ramp`."""
    ramp_w: float = 0.0
    """How much of a change may come at once."""


@kernel
def level_of(st: State, admission: Adaptive, job: int, room_w: float) -> int:
    """The level at which a job could start with this room under the cap, or NO_LEVEL."""
    clock = st.clock[0]
    idle_rise_w = clock.free * (admission.node_w - clock.idle_w)
    return choose_level(room_w, rise_of(st, job), idle_rise_w, admission.dynamic,
                        lowest(admission, job), highest(admission, job))


@kernel
def start_level(st: State, admission: Adaptive, job: int, cap_w: float) -> int:
    """The level at which a job may start now under this cap and all windows, or NO_LEVEL."""
    level = level_of(st, admission, job, cap_w - st.clock[0].power_w)
    if level != NO_LEVEL and admission.window_start_s.size > 0:
        level = _level_for_windows(st, admission, job, level)
    return level


@kernel
def lowest(admission: Adaptive, job: int) -> int:
    return int(admission.low[job if admission.low.size > 1 else 0])


@kernel
def highest(admission: Adaptive, job: int) -> int:
    return int(admission.high[job if admission.high.size > 1 else 0])


@kernel
def rise_of(st: State, job: int) -> float:
    """Power of a waiting job at full speed above the idle power of its units."""
    return float(st.jobs[job].watts - st.live[job].units * st.clock[0].idle_w)


@kernel
def set_level(st: State, admission: Adaptive, job: int, level: int) -> None:
    """Write a level into the books of a waiting job."""
    live = st.live[job]
    live.watts = live.units * st.clock[0].idle_w + rise_of(st, job) * admission.dynamic[level]
    live.stretch = 1.0 / admission.speed[level]


@kernel
def admit_under(st: State, admission: Adaptive, job: int, cap_w: float) -> int:
    """The verdict under this cap; on START the job's level is set."""
    level = start_level(st, admission, job, cap_w)
    if level == NO_LEVEL:
        return WAIT
    if admission.ramp_w_per_s > 0.0:
        rise_w = rise_of(st, job) * admission.dynamic[level]
        if not may_rise(st, admission, job, rise_w):
            return WAIT
    set_level(st, admission, job, level)
    return START


@implement(admit, Adaptive)
@kernel
def _admit(st: State, admission: Adaptive, policy: Composition, job: int) -> int:
    return admit_under(st, admission, job, st.clock[0].cap_w)


@implement(planned_s, Adaptive)
@kernel
def _planned_s(st: State, admission: Adaptive, job: int, requested_s: float) -> float:
    return time_at_level(admission, start_level(st, admission, job, st.clock[0].cap_w),
                         requested_s)


@kernel
def time_at_level(admission: Adaptive, level: int, requested_s: float) -> float:
    if level == NO_LEVEL:
        return float("inf")
    return float(requested_s / admission.speed[level])


@implement(exhausted, Adaptive)
@kernel
def _exhausted(st: State, admission: Adaptive) -> bool:
    return no_room_for_any(st, admission, st.clock[0].cap_w)


@kernel
def no_room_for_any(st: State, admission: Adaptive, cap_w: float) -> bool:
    """Whether the room under the cap is too small for the smallest job of the queue."""
    clock = st.clock[0]
    return not fits(clock.smallest * admission.least_rise_w, cap_w - clock.power_w)


@implement(most_units, Adaptive)
@kernel
def _most_units(st: State, admission: Adaptive) -> int:
    return units_in_room(st, admission, st.clock[0].cap_w)


@kernel
def units_in_room(st: State, admission: Adaptive, cap_w: float) -> int:
    """No job on more units fits under the cap; one more than computed, for rounding."""
    clock = st.clock[0]
    room_w = max(cap_w - clock.power_w, 0.0) * (1.0 + SLACK)
    if room_w >= admission.least_rise_w * clock.units:
        return int(clock.units)
    return int(room_w / admission.least_rise_w) + 1


@implement(most_speed, Adaptive)
@kernel
def _most_speed(st: State, admission: Adaptive) -> float:
    return float(admission.speed[-1])


@implement(watts_available, Adaptive)
@kernel
def _watts_available(st: State, admission: Adaptive) -> float:
    return float(st.clock[0].cap_w - st.clock[0].power_w)


@implement(watts_at, Adaptive)
@kernel
def _watts_at(st: State, admission: Adaptive, time_s: float) -> float:
    clock = st.clock[0]
    if time_s <= clock.now_s:
        return float(clock.cap_w - clock.power_w)
    return cap_at(st, admission, time_s) - float(clock.power_w)


@kernel
def cap_at(st: State, admission: Adaptive, time_s: float) -> float:
    """The cap at a later time: a window's, the plan's, or the one that holds now."""
    cap_w = st.clock[0].cap_w
    for window in range(admission.window_start_s.size):
        if admission.window_start_s[window] <= time_s < admission.window_end_s[window]:
            return float(admission.window_w[window])
        if admission.window_start_s[window] <= st.clock[0].now_s < admission.window_end_s[window]:
            cap_w = admission.cap_w
    return float(cap_w)


@implement(watts_of, Adaptive)
@kernel
def _watts_of(st: State, admission: Adaptive, job: int) -> float:
    return held_watts(st, admission, job)


@kernel
def held_watts(st: State, admission: Adaptive, job: int) -> float:
    """What a running job draws above idle; of a waiting one, the least that it needs."""
    live = st.live[job]
    if live.state == RUNNING:
        return float(live.power_w - live.idle_w)
    return rise_of(st, job) * float(admission.dynamic[lowest(admission, job)])


# ---- windows that are known in advance -------------------------------------------------------


@kernel
def _level_for_windows(st: State, admission: Adaptive, job: int, level: int) -> int:
    """The highest level not above `level` at which all windows can be kept, or NO_LEVEL."""
    now_s = st.clock[0].now_s
    for lower in range(level, lowest(admission, job) - 1, -1):
        if keeps_windows(st, admission, job, now_s, lower):
            return lower
    return NO_LEVEL


@kernel
def keeps_windows(
    st: State, admission: Adaptive, job: int, start_s: float, level: int
) -> bool:
    """Whether a job that starts at this time and level leaves every window under its cap."""
    end_s = start_s + st.live[job].requested_s / admission.speed[level]
    rise_w = rise_of(st, job) * admission.dynamic[level]
    for window in range(admission.window_start_s.size):
        begins_s = admission.window_start_s[window]
        if begins_s >= end_s:
            break
        if admission.window_end_s[window] <= start_s:
            continue
        held_w = power_at(st, max(begins_s, start_s))
        if not fits(held_w + rise_w, admission.window_w[window]):
            return False
    return True


@kernel
def power_at(st: State, time_s: float) -> float:
    """What the machine will draw at a later time by the requested times of running jobs.

    A job that is overdue counts as running on.
    """
    clock = st.clock[0]
    power_w = clock.power_w
    for place in range(clock.blocks):
        block = st.blocks[place].order
        for index in range(block * BLOCK, block * BLOCK + st.blocks[block].count):
            expected_s = st.releases[index].expected_s
            if expected_s > time_s:
                return float(power_w)
            if expected_s >= clock.now_s:
                live = st.live[st.releases[index].job]
                power_w -= live.power_w - live.idle_w
    return float(power_w)


@implement(not_before_s, Adaptive)
@kernel
def _not_before_s(st: State, admission: Adaptive, job: int) -> float:
    return after_windows_s(st, admission, job)


@kernel
def after_windows_s(st: State, admission: Adaptive, job: int) -> float:
    """The first time, now or the end of a window, at which no window is in a job's way."""
    start_s = st.clock[0].now_s
    if admission.window_start_s.size == 0 or keeps_windows(
        st, admission, job, start_s, lowest(admission, job)
    ):
        return float(start_s)
    for window in range(admission.window_start_s.size):
        if admission.window_end_s[window] <= start_s:
            continue
        if keeps_windows(st, admission, job, admission.window_end_s[window],
                         lowest(admission, job)):
            return float(admission.window_end_s[window])
    return float("inf")


# ---- switching off ---------------------------------------------------------------------------


@implement(settle, Adaptive)
@kernel
def _settle(st: State, admission: Adaptive, policy: Composition) -> None:
    settle_under(st, admission, st.clock[0].cap_w)


@kernel
def settle_under(st: State, admission: Adaptive, cap_w: float) -> None:
    """Switch units after a decision, and keep account of the ramp."""
    change_w = 0.0
    if admission.shut:
        change_w = switch(st, admission, cap_w)
    if admission.ramp_w_per_s > 0.0:
        remember(st, admission, change_w)


@kernel
def switch(st: State, admission: Adaptive, cap_w: float) -> float:
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
def _switch_off(st: State, admission: Adaptive, units: int) -> float:
    clock = st.clock[0]
    saved_w = clock.idle_w - clock.off_w
    units = min(units, int(max(clock.power_w - admission.floor_w, 0.0) / saved_w))
    units = units_that_may_change(st, admission, units, -saved_w)
    if units > 0:
        note(st, ACT_DOWN, -1, float(units), 0.0)
    return float(units * (clock.halt_w - clock.idle_w))


@kernel
def _switch_on(st: State, admission: Adaptive, units: int, cap_w: float) -> float:
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
def _units_for_windows(st: State, admission: Adaptive, units: int) -> int:
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
def useful_units(st: State, admission: Adaptive, cap_w: float) -> int:
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


@implement(refuses, Adaptive)
@kernel
def _refuses(st: State, admission: Adaptive, job: int) -> bool:
    return never_fits(st, admission, job)


@kernel
def never_fits(st: State, admission: Adaptive, job: int) -> bool:
    """Whether a job alone at its lowest level exceeds the highest cap to come."""
    clock = st.clock[0]
    others_w = clock.off_w if admission.shut else clock.idle_w
    alone_w = (clock.units - st.live[job].units) * others_w + (
        st.live[job].units * clock.idle_w
        + rise_of(st, job) * admission.dynamic[lowest(admission, job)]
    )
    return not fits(alone_w, clock.cap_w_max)
