"""How the books follow a running machine: power is integrated, jobs begin, change and end."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.books.log import END, NO_JOB, PAUSE, RATE, RESUME, START, log_event
from wattline.books.outages import pay_down
from wattline.books.record import Record
from wattline.books.world import all_paced, begun, confirms, left, paced
from wattline.model.cap_slack import CAP_SLACK
from wattline.model.kernel import kernel, kernel_part
from wattline.policies.committed import count_below_idle, forget_below_idle
from wattline.policies.contract import Composition, give_back, order_told, power_told, released
from wattline.policies.releases import insert_release, remove_release, rescale_releases
from wattline.policies.state import (
    ACT_DONE,
    ACT_RESUME,
    ACT_SPEED,
    ACT_START,
    DONE,
    PAUSED,
    PLAN_STALE,
    RESUMING,
    STARTING,
    State,
)


@kernel
def integrate(st: State, record: Record, until_s: float) -> None:
    """Let time pass: power is constant up to `until_s`."""
    clock = st.clock[0]
    meter = record.meter[0]
    passed_s = until_s - clock.now_s
    if passed_s > 0.0:
        meter.energy_j += clock.power_w * passed_s
        clock.energy_j = meter.energy_j
        meter.peak_w = max(meter.peak_w, clock.power_w)
        if clock.power_w > clock.cap_w * (1.0 + CAP_SLACK):
            meter.time_above_s += passed_s
            meter.energy_above_j += (clock.power_w - clock.cap_w) * passed_s
    clock.now_s = until_s


@kernel
def bring_up_to_date(st: State, job: int) -> None:
    """Count a running job's work and energy up to now."""
    live = st.live[job]
    now_s = st.clock[0].now_s
    passed_s = now_s - live.updated_s
    worked_s = passed_s if live.still_s <= live.updated_s else max(now_s - live.still_s, 0.0)
    live.work_s = max(live.work_s - live.rate * worked_s, 0.0)
    live.energy_j += live.power_w * passed_s
    live.updated_s = now_s


@kernel_part
def begin(
    st: State, record: Record, world: Any, policy: Composition, job: int, resumed: bool,
    cap_w: float,
) -> None:
    """The decision has booked the job; it begins to run."""
    clock = st.clock[0]
    live = st.live[job]
    if not resumed:
        live.start_s = clock.now_s
    live.updated_s = clock.now_s
    live.begun = 1
    live.unconfirmed = STARTING
    if resumed:
        live.unconfirmed = RESUMING
        live.resumed_j = live.energy_j
    if confirms(st, world):
        live.unconfirmed = 0
    live.cap_w = cap_w
    begun(st, world, policy, job, resumed)
    meter = record.meter[0]
    meter.pending_jobs -= 1
    meter.pending_units -= live.units
    meter.pending_w -= live.power_w - live.idle_w
    if meter.pending_jobs == 0:
        meter.pending_w = 0.0
    log_event(st, record, RESUME if resumed else START, job, live.power_w)
    _log_nodes(st, record, job)


@kernel
def _log_nodes(st: State, record: Record, job: int) -> None:
    if record.spans.size == 0:  # nobody wants to know
        return
    meter = record.meter[0]
    run = st.live[job].first_node
    while run >= 0:
        span = record.spans[meter.spans]
        span.job = job
        span.first = run
        span.count = st.nodes[run].length
        meter.spans += 1
        run = st.nodes[run].next


@kernel
def rescale(st: State, job: int, rate: float, power_w: float) -> None:
    """Give a running job another rate and power, and the end that follows from its request."""
    live = st.live[job]
    begins_s = max(st.clock[0].now_s, live.still_s)
    if live.expected_s > begins_s:
        live.expected_s = begins_s + (live.expected_s - begins_s) * live.rate / rate
    live.rate = rate
    live.power_w = power_w


@kernel_part
def end_job(
    st: State, record: Record, world: Any, policy: Composition, job: int, completed: bool
) -> None:
    """A job, brought up to date, has ended: its work is done, or it was killed."""
    st.live[job].completed = 1 if completed else 0  # who takes the units back may learn from it
    release_units(st, world, policy, job)
    close_job(st, record, job, completed)


@kernel
def close_job(st: State, record: Record, job: int, completed: bool) -> None:
    """A job that holds no units, or no more, is over."""
    live = st.live[job]
    live.completed = 1 if completed else 0
    live.state = DONE
    live.end_s = st.clock[0].now_s
    record.meter[0].done += 1
    log_event(st, record, END, job, live.energy_j)


@kernel_part
def pause(st: State, record: Record, world: Any, policy: Composition, job: int) -> None:
    """A running job gives its units back and keeps what it has done."""
    live = st.live[job]
    bring_up_to_date(st, job)
    begins_s = max(st.clock[0].now_s, live.still_s)
    live.requested_s = max(live.expected_s - begins_s, 0.0) * live.rate
    live.still_s = -np.inf
    release_units(st, world, policy, job)
    live.state = PAUSED
    log_event(st, record, PAUSE, job, live.energy_j)


@kernel_part
def release_units(st: State, world: Any, policy: Composition, job: int) -> None:
    """A job gives back its units, and what it drew above idle."""
    clock = st.clock[0]
    live = st.live[job]
    released(st, policy.backfill, job)
    order_told(st, policy.order, job)
    remove_release(st, live.expected_s, job)
    left(st, world, job)
    give_back(st, policy.placement, job)
    clock.free += live.units
    _leave_running(st, job)
    clock.running_watts = 0.0 if clock.running == 0 else clock.running_watts - live.watts
    # Sums of floats drift; an empty machine says exactly what it draws.
    if clock.running == 0 and st.nodes.size == 0:
        on = clock.units - clock.off - clock.changing - clock.down
        off = clock.off + clock.down
        clock.power_w = on * clock.idle_w + off * clock.off_w + clock.changing_w + clock.rest_w
    else:
        clock.power_w += live.idle_w - live.power_w
    live.power_w = 0.0
    forget_below_idle(st, job)
    live.begun = 0
    clock.examined = 0
    if clock.down_owed > 0:
        pay_down(st)


@kernel
def _leave_running(st: State, job: int) -> None:
    """Take a job off the list of running ones: the last takes its place."""
    clock = st.clock[0]
    clock.running -= 1
    last = st.running[clock.running]
    place = st.live[job].place
    st.running[place] = last
    st.live[last].place = place


@kernel_part
def set_speed(
    st: State, record: Record, world: Any, policy: Composition, job: int, rate: float,
    power_w: float, cap_w: float,
) -> None:
    """A running job goes on at another rate and power."""
    _change_speed(st, policy, job, rate, power_w, cap_w)
    paced(st, world, job)
    st.clock[0].examined = 0
    st.clock[0].replan = PLAN_STALE
    log_event(st, record, RATE, job, power_w)


@kernel_part
def _change_speed(
    st: State, policy: Composition, job: int, rate: float, power_w: float, cap_w: float
) -> None:
    live = st.live[job]
    bring_up_to_date(st, job)
    st.clock[0].power_w += power_w - live.power_w
    power_told(st, policy.placement, job, power_w - live.power_w)
    remove_release(st, live.expected_s, job)
    rescale(st, job, rate, power_w)
    count_below_idle(st, job)
    live.cap_w = cap_w
    insert_release(st, live.expected_s, job, live.units)


@kernel_part
def correct(
    st: State, record: Record, world: Any, policy: Composition, job: int, rate: float,
    power_w: float,
) -> None:
    """A job was seen to run otherwise than was expected; nobody decided that.

    Where speeds change together, whoever calls this writes one row for all into the log.
    """
    _change_speed(st, policy, job, rate, power_w, st.live[job].cap_w)
    paced(st, world, job)
    note_answer(st, record, job)
    st.clock[0].examined = 0
    st.clock[0].replan = PLAN_STALE
    if not st.clock[0].together:
        log_event(st, record, RATE, job, power_w)


@kernel
def note_answer(st: State, record: Record, job: int) -> None:
    """Keep how the world answered, where somebody wants to know."""
    meter = record.meter[0]
    if meter.answers < record.answers.size:
        answer = record.answers[meter.answers]
        answer.job = job
        answer.rate = st.live[job].rate
        answer.power_w = st.live[job].power_w
        answer.stretch = st.live[job].stretch
        meter.answers += 1


@kernel_part
def set_speeds(st: State, record: Record, world: Any, policy: Composition) -> None:
    """All changes of speed that a decision asks for, and one row in the log for them.

    The world looks at all of them once: with thousands of jobs, moving each end by itself costs
    more than all the rest. Jobs that the same decision starts are left to their turn.
    """
    clock = st.clock[0]
    changed = 0
    for index in range(clock.actions):
        action = st.actions[index]
        if action.kind == ACT_SPEED and st.live[action.job].begun:
            _change_speed(st, policy, action.job, action.value, action.power_w, action.cap_w)
            action.kind = ACT_DONE
            changed += 1
    if changed > 0:
        all_paced(st, world)
        log_event(st, record, RATE, NO_JOB, 0.0)


@kernel_part
def set_level(
    st: State, record: Record, world: Any, speed: float, power_factor: float, level: int
) -> None:
    """All running jobs go on at the machine's new level."""
    clock = st.clock[0]
    _begin_at(record, speed / clock.speed, power_factor / clock.power_factor)
    clock.speed = speed
    clock.power_factor = power_factor
    clock.level = level
    for index in range(clock.running):
        job = st.running[index]
        live = st.live[job]
        bring_up_to_date(st, job)
        _end_standstill(st, job)
        power_w = live.watts * power_factor
        clock.power_w += power_w - live.power_w
        rescale(st, job, speed / (live.stretch * live.slowdown), power_w)
        count_below_idle(st, job)
        if clock.latency_s > 0.0:
            _stand_still(st, job)
    all_paced(st, world)
    rescale_releases(st)
    clock.examined = 0
    clock.replan = PLAN_STALE
    log_event(st, record, RATE, NO_JOB, speed)


@kernel
def _begin_at(record: Record, faster: float, more: float) -> None:
    """Jobs that the same step starts begin at the level that it sets: what is said of them fits."""
    for index in range(record.meter[0].decided):
        kept = record.decided[index]
        if kept.kind in (ACT_START, ACT_RESUME):
            kept.value *= faster
            kept.power_w *= more


@kernel
def _end_standstill(st: State, job: int) -> None:
    """What is left of an earlier standstill falls away: the next one begins anew."""
    now_s = st.clock[0].now_s
    live = st.live[job]
    if live.still_s > now_s:
        if live.expected_s > now_s:
            live.expected_s -= live.still_s - now_s
        live.still_s = -np.inf


@kernel
def _stand_still(st: State, job: int) -> None:
    """The job does nothing for the latency, and has as much longer by its requested time."""
    clock = st.clock[0]
    live = st.live[job]
    live.still_s = clock.now_s + clock.latency_s
    if live.expected_s > clock.now_s:
        live.expected_s += clock.latency_s
