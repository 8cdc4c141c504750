"""Pausing jobs when caps alone cannot come down to the target, and letting them go on."""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.regulation.cycle import (
    extra_w,
    free_servers,
    modelled_w,
    room_w,
    under_limit,
)
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.quality import relative_to_threshold
from wattline.policies.starting import note
from wattline.policies.state import ACT_PAUSE, State


@kernel
def resume_paused(st: State, desk: Desk) -> None:
    """Choose paused jobs that come nearer to the target, the nearest to violation first."""
    control = desk.control[0]
    if not control.preempt or control.paused == 0:
        return
    free = free_servers(st, desk)
    left_w = room_w(st, desk)
    while control.resuming < control.paused:
        place = _nearest(st, desk, control.paused - control.resuming)
        job = desk.paused[place]
        kind = st.jobs[job].kind
        each_w = extra_w(st, desk, kind)
        fits = desk.types[kind].servers <= free and under_limit(st, desk, kind)
        if not fits or 0.5 * each_w > left_w:
            # New jobs that are farther from violation would take what it waits for.
            control.held = relative_to_threshold(st, desk, job)
            return
        # The chosen ones gather at the list's end.
        last = control.paused - control.resuming - 1
        desk.paused[place] = desk.paused[last]
        desk.paused[last] = job
        control.resuming += 1
        desk.types[kind].resumes += 1
        free -= desk.types[kind].servers
        left_w -= each_w


@kernel
def _nearest(st: State, desk: Desk, count: int) -> int:
    """Place of the paused job that is nearest to violating its constraint."""
    found = 0
    most = -float("inf")
    for place in range(count):
        relative = relative_to_threshold(st, desk, desk.paused[place])
        if relative > most:
            most = relative
            found = place
    return found


@kernel
def pause_surplus(st: State, desk: Desk) -> None:
    """Where all jobs at their lowest caps draw more than the target, pause the least urgent.

    A job close to violation is not paused, nor one whose watts would leave a larger gap below
    the target than there is above it.
    """
    control = desk.control[0]
    if not control.preempt:
        return
    surplus_w = modelled_w(st, desk, 0.0) + control.bias_w - control.target_w
    idle_w = st.clock[0].idle_w
    while surplus_w > 0.0:
        job = _least_urgent(st, desk, surplus_w)
        if job < 0:
            return
        kind = st.jobs[job].kind
        entry = desk.types[kind]
        entry.pauses += 1
        surplus_w -= entry.servers * (entry.power_w_min - idle_w)
        desk.mark[job] = st.clock[0].now_s + 1.0  # chosen in this cycle
        # Before those that are to go on: they gather at the list's end.
        first = control.paused - control.resuming
        desk.paused[control.paused] = desk.paused[first]
        desk.paused[first] = job
        note(st, ACT_PAUSE, job, 0.0, 0.0)
        control.paused += 1


@kernel
def _least_urgent(st: State, desk: Desk, surplus_w: float) -> int:
    control = desk.control[0]
    idle_w = st.clock[0].idle_w
    found = -1
    least = control.margin
    for index in range(control.known):
        job = st.running[index]
        entry = desk.types[st.jobs[job].kind]
        low_w = entry.servers * (entry.power_w_min - idle_w)
        if low_w > 2.0 * surplus_w or desk.mark[job] == st.clock[0].now_s + 1.0:
            continue
        relative = relative_to_threshold(st, desk, job)
        if relative < least:
            least = relative
            found = job
    return found
