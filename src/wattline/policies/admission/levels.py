"""Levels under a cap: at which a job may start, what it draws there, what none can do.

The functions take the parameters of adaptive admission (`adaptive.Adaptive`) and the cap that
holds, so that a budget can call them with its own.
"""

from __future__ import annotations

from typing import Any

from wattline.model.cap_slack import CAP_SLACK, fits
from wattline.model.kernel import kernel
from wattline.policies.admission.level_rule import WAIT as NO_LEVEL
from wattline.policies.admission.level_rule import choose_level, optimal_level
from wattline.policies.admission.power import idle_beneath_w, idle_machine_w
from wattline.policies.committed import committed_w, held_above_idle_w
from wattline.policies.contract import Reach
from wattline.policies.state import RUNNING, State


@kernel
def lowest(admission: Any, job: int) -> int:
    return int(admission.memory.low[job])


@kernel
def highest(admission: Any, job: int) -> int:
    return int(admission.memory.high[job])


@kernel
def rise_of(st: State, job: int) -> float:
    """Power of a waiting job at full speed above the idle power of its units.

    Below 0 where it draws less than they do idle.
    """
    if st.kinds.size > 1:
        return float(st.live[job].rise_w)
    return float(st.jobs[job].watts - idle_beneath_w(st, job))


@kernel
def held_rise_w(st: State, job: int) -> float:
    """Return the rise in power that the cap must have room for with a job at full speed: a fall
    counts as 0, since it is not given away."""
    return float(max(rise_of(st, job), 0.0))


@kernel
def level_of(st: State, admission: Any, job: int, room_w: float) -> int:
    """The level at which a job could start with this room under the cap, or NO_LEVEL."""
    clock = st.clock[0]
    idle_rise_w = clock.free * (admission.unit_w - clock.idle_w)
    return choose_level(room_w, held_rise_w(st, job), idle_rise_w, admission.dynamic,
                        lowest(admission, job), highest(admission, job))


@kernel
def set_level(st: State, admission: Any, job: int, level: int) -> None:
    """Write a level into the books of a waiting job."""
    live = st.live[job]
    live.watts = idle_beneath_w(st, job) + rise_of(st, job) * admission.dynamic[level]
    live.slowdown = 1.0 / admission.speed[level]
    live.dynamic = admission.dynamic[level]
    live.level = level


@kernel
def time_at_level(admission: Any, level: int, requested_s: float) -> float:
    if level == NO_LEVEL:
        return float("inf")
    return float(requested_s / admission.speed[level])


@kernel
def held_watts(st: State, admission: Any, job: int) -> float:
    """What a running job draws above idle; of a waiting one, the least that it needs."""
    if st.live[job].state == RUNNING:
        return held_above_idle_w(st, job)
    return held_rise_w(st, job) * float(admission.dynamic[lowest(admission, job)])


@kernel
def watts_at_level(st: State, admission: Any, job: int, level: int) -> float:
    """Return what a waiting job would hold above idle at a level; at none, the least it needs."""
    if level == NO_LEVEL:
        return held_watts(st, admission, job)
    return held_rise_w(st, job) * float(admission.dynamic[level])


@kernel
def never_fits(st: State, admission: Any, job: int) -> bool:
    """Whether a job alone at its lowest level exceeds the highest cap to come."""
    return exceeds_at_lowest(st, admission, job, st.clock[0].cap_w_max, idle_machine_w(st))


@kernel
def exceeds_at_lowest(
    st: State, admission: Any, job: int, cap_w: float, idle_w: float
) -> bool:
    """Say whether a job at its lowest level exceeds a cap on a machine that draws `idle_w` without
    it."""
    return not fits_alone_at(st, admission, job, lowest(admission, job), cap_w, idle_w)


@kernel
def fits_alone_at(
    st: State, admission: Any, job: int, level: int, cap_w: float, idle_w: float
) -> bool:
    """Say whether a job alone at this level is within a cap, with units that may go off."""
    clock = st.clock[0]
    if admission.shut:
        others = clock.units - st.live[job].units
        off = min(others, _most_off(st, admission, cap_w))
        idle_w = min(idle_w, idle_machine_w(st) - off * (clock.idle_w - clock.off_w))
    return fits(idle_w + held_rise_w(st, job) * admission.dynamic[level], cap_w)


@kernel
def _most_off(st: State, admission: Any, cap_w: float) -> int:
    """Units of an idle machine that can be switched off above the floor and under the cap."""
    clock = st.clock[0]
    saved_w = clock.idle_w - clock.off_w
    idle_w = clock.units * clock.idle_w
    halting_w = clock.halt_w - clock.idle_w
    if saved_w <= 0.0 or (fits(idle_w, cap_w) and idle_w + halting_w > cap_w):
        return 0
    return int(min(max(idle_w - admission.floor_w, 0.0) / saved_w, float(clock.units)))


@kernel
def no_room_for_any(st: State, admission: Any, cap_w: float) -> bool:
    """Whether the room under the cap is too small for the smallest job of the queue."""
    clock = st.clock[0]
    least_w = admission.least_rise_w * admission.dynamic[admission.least]
    return not fits(clock.smallest * least_w, cap_w - committed_w(st))


@kernel
def reach_under(st: State, admission: Any, cap_w: float) -> Reach:
    """Bounds on what can start under this cap, whichever job it is.

    A job starts at its highest level, at its optimal one, or at its lowest. No job's optimal level
    is above the one that a job without bounds would have; so what starts above that and above all
    lowest levels starts at its highest, and has the watts for it.
    """
    clock = st.clock[0]
    room_w = cap_w - committed_w(st)
    top = admission.speed.size - 1
    idle_rise_w = clock.free * (admission.unit_w - clock.idle_w)
    level = max(optimal_level(room_w, idle_rise_w, admission.dynamic, 0, top),
                admission.highest_low)
    fast_units = clock.units
    if level < top:
        fast_units = _units_within(st, admission, room_w, max(level + 1, admission.lowest_high))
    return Reach(
        units=_units_within(st, admission, room_w, admission.least),
        extra_units=_units_within(st, admission, clock.extra_w, admission.least),
        fast_units=fast_units,
        fast=float(admission.speed[top]),
        speed=float(admission.speed[level]),
    )


@kernel
def _units_within(st: State, admission: Any, room_w: float, level: int) -> int:
    """No job on more units has room at this level or above; one more than that, for rounding."""
    clock = st.clock[0]
    each_w = admission.least_rise_w * admission.dynamic[level]
    room_w = max(room_w, 0.0) * (1.0 + CAP_SLACK)
    if room_w >= each_w * clock.units:
        return int(clock.units)
    return int(room_w / each_w) + 1
