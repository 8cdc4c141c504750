"""Starting a job in the books: units, watts, the expected end, and the action to carry out."""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel, kernel_part
from wattline.policies.committed import count_below_idle
from wattline.policies.contract import Composition, place
from wattline.policies.releases import insert_release
from wattline.policies.state import (
    ACT_RESUME,
    ACT_START,
    PAUSED,
    PLAN_STALE,
    RUNNING,
    State,
)


@kernel_part
def start(st: State, policy: Composition, job: int) -> bool:
    """Start a job at the machine's current speed; False where placement finds no nodes."""
    clock = st.clock[0]
    return start_at(st, policy, job, clock.speed, st.live[job].watts * clock.power_factor)


@kernel_part
def start_at(st: State, policy: Composition, job: int, speed: float, power_w: float) -> bool:
    """Start (or resume) a job at this speed and power."""
    clock = st.clock[0]
    live = st.live[job]
    live.idle_w = live.units * clock.idle_w
    asked_w = live.watts
    if not place(st, policy.placement, job):
        return False
    if live.watts != asked_w:
        power_w *= live.watts / asked_w  # the nodes that were found draw more, or less
    book_start(st, job, speed / (live.stretch * live.slowdown), power_w)
    return True


@kernel
def book_start(st: State, job: int, rate: float, power_w: float) -> None:
    """Write a start into the books of a job whose nodes are chosen, and note the action."""
    clock = st.clock[0]
    live = st.live[job]
    resumed = live.state == PAUSED or live.start_s == live.start_s  # queued again after a pause
    if resumed:
        clock.replan = PLAN_STALE  # no plan knows of it
    live.state = RUNNING
    live.rate = rate
    live.power_w = power_w
    live.expected_s = clock.now_s + live.requested_s / rate
    clock.free -= live.units
    live.place = clock.running
    st.running[clock.running] = job
    clock.running += 1
    clock.running_watts += live.watts
    clock.power_w += power_w - live.idle_w
    count_below_idle(st, job)
    insert_release(st, live.expected_s, job, live.units)
    note(st, ACT_RESUME if resumed else ACT_START, job, rate, power_w)


@kernel
def note(st: State, kind: int, job: int, value: float, power_w: float) -> None:
    """Write an action down. There is room: the books see to it before each decision."""
    clock = st.clock[0]
    action: Any = st.actions[clock.actions]
    action.kind = kind
    action.job = job
    action.value = value
    action.power_w = power_w
    action.cap_w = float("inf")
    clock.actions += 1
