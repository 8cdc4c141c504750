"""Running jobs follow the cap: slowed down when it falls below the power, sped up when it rises.

All by single levels, the fastest jobs down first and the slowest up first, so that jobs end up as
equal as their own bounds let them. Slowing down is not held back by a ramp (a cap comes first);
speeding up is. Jobs that wait are served before those that run are sped up: the watts go to the
queue first, and to running jobs when the cap has changed or nobody waits.
"""

from __future__ import annotations

from typing import Any

from wattline.model.cap_slack import fits
from wattline.model.kernel import kernel, kernel_part
from wattline.policies.admission.levels import highest, lowest
from wattline.policies.admission.ramp import rise_left_w, wake_up
from wattline.policies.committed import committed_w, held_above_idle_w
from wattline.policies.contract import Composition, may_rise_w, power_told
from wattline.policies.starting import note
from wattline.policies.state import ACT_SPEED, State


@kernel_part
def follow_cap(st: State, admission: Any, policy: Composition, cap_w: float) -> float:
    """Ask for other levels of running jobs where the cap wants it; what that changes, in watts."""
    clock = st.clock[0]
    seen = admission.memory.cap_w
    changed = seen[0] != cap_w
    seen[0] = cap_w
    for index in range(clock.running):
        job = st.running[index]
        admission.memory.aim[job] = st.live[job].level
    if not fits(clock.power_w, cap_w):
        change_w = -_slow_down(st, admission, clock.power_w - cap_w)
    elif changed or clock.queue_last - clock.queue_first + clock.aside == 0:
        change_w = _speed_up(st, admission, policy, cap_w - committed_w(st))
    else:
        change_w = 0.0
    if change_w != 0.0:
        for index in range(clock.running):
            _ask(st, admission, st.running[index])
    return float(change_w)


@kernel
def _step_w(st: State, admission: Any, job: int, level: int) -> float:
    """Compute what a running job draws more at the level above this one; 0 where it draws less than
    idle units, which no level changes."""
    live = st.live[job]
    rise_w = held_above_idle_w(st, job) / admission.dynamic[live.level]
    return float(rise_w * (admission.dynamic[level + 1] - admission.dynamic[level]))


@kernel
def _slow_down(st: State, admission: Any, excess_w: float) -> float:
    """Take jobs down a level, from the fastest, until so much is saved or none can go lower."""
    saved_w = 0.0
    aim = admission.memory.aim
    for level in range(admission.speed.size - 1, 0, -1):
        for index in range(st.clock[0].running):
            job = st.running[index]
            if fits(excess_w, saved_w):
                return saved_w
            step_w = _step_w(st, admission, job, level - 1)
            if aim[job] == level and level > lowest(admission, job) and step_w > 0.0:
                saved_w += step_w
                aim[job] = level - 1
    return saved_w


@kernel_part
def _speed_up(st: State, admission: Any, policy: Composition, room_w: float) -> float:
    """Take jobs up a level, from the slowest, as far as the room, the ramp and racks let them."""
    ramp_w = float("inf")
    if admission.ramp_w_per_s > 0.0:
        ramp_w = rise_left_w(st, admission)
    used_w = 0.0
    held_w = float("inf")  # the smallest step that only the ramp holds back
    aim = admission.memory.aim
    for level in range(admission.speed.size - 1):
        for index in range(st.clock[0].running):
            job = st.running[index]
            if aim[job] != level or level >= highest(admission, job):
                continue
            step_w = _step_w(st, admission, job, level)
            if not fits(used_w + step_w, room_w) or step_w > may_rise_w(st, policy.placement, job):
                continue
            if not fits(used_w + step_w, ramp_w):
                held_w = min(held_w, used_w + step_w)
                continue
            power_told(st, policy.placement, job, step_w)
            used_w += step_w
            aim[job] = level + 1
    _tell_back(st, admission, policy)
    if held_w < float("inf"):
        admission.memory.cap_w[0] = float("nan")  # to be gone on with
        wait_s = (held_w - ramp_w) / admission.ramp_w_per_s
        wake_up(st, st.clock[0].now_s + max(wait_s, 1.0), -1)
    return used_w


@kernel_part
def _tell_back(st: State, admission: Any, policy: Composition) -> None:
    """Placement was told of steps while they were worked out; it is told again when they happen."""
    for index in range(st.clock[0].running):
        job = st.running[index]
        change_w = 0.0
        for level in range(st.live[job].level, admission.memory.aim[job]):
            change_w += _step_w(st, admission, job, level)
        if change_w > 0.0:
            power_told(st, policy.placement, job, -change_w)


@kernel
def _ask(st: State, admission: Any, job: int) -> None:
    """Ask for the level that a running job is to have, and write it into its books."""
    live = st.live[job]
    level = admission.memory.aim[job]
    if level == live.level:
        return
    above_w = live.power_w - live.idle_w
    change_w = above_w * (admission.dynamic[level] / admission.dynamic[live.level] - 1.0)
    live.slowdown = 1.0 / admission.speed[level]
    live.dynamic = admission.dynamic[level]
    rate = st.clock[0].speed / (live.stretch * live.slowdown)
    note(st, ACT_SPEED, job, rate, live.power_w + change_w)
    live.watts += change_w
    st.clock[0].running_watts += change_w
    live.level = level
