"""What the simulated machine does: jobs run at their rate, power is integrated, nodes boot."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.engine.heap import move_end, push_end, rebuild_ends, remove_end
from wattline.engine.log import (
    END,
    NO_JOB,
    NODE,
    PAUSE,
    RATE,
    RESUME,
    START,
    log_event,
)
from wattline.engine.timers import NODES_OFF, NODES_ON, WAKE, push_timer
from wattline.engine.world import World
from wattline.model.kernel import implement, kernel, kernel_part, slot
from wattline.policies.contract import (
    Composition,
    Everything,
    give_back,
    order_told,
    released,
)
from wattline.policies.releases import insert_release, remove_release, rescale_releases
from wattline.policies.state import (
    ACT_DONE,
    ACT_DOWN,
    ACT_LEVEL,
    ACT_PAUSE,
    ACT_RESUME,
    ACT_SPEED,
    ACT_START,
    ACT_UP,
    ACT_WAKE,
    DONE,
    PAUSED,
    PLAN_STALE,
    State,
)

TOLERANCE = 1e-9
"""Relative slack in comparisons of power with a cap, for sums of many floats."""


@kernel
def integrate(st: State, world: World, until_s: float) -> None:
    """Let time pass: power is constant up to `until_s`."""
    clock = st.clock[0]
    meter = world.meter[0]
    passed_s = until_s - clock.now_s
    if passed_s > 0.0:
        meter.energy_j += clock.power_w * passed_s
        clock.energy_j = meter.energy_j
        meter.peak_w = max(meter.peak_w, clock.power_w)
        if clock.power_w > clock.cap_w * (1.0 + TOLERANCE):
            meter.time_above_s += passed_s
            meter.energy_above_j += (clock.power_w - clock.cap_w) * passed_s
    clock.now_s = until_s


@kernel_part
def apply_actions(st: State, world: World, policy: Composition) -> None:
    """Carry out what the decision asked for."""
    clock = st.clock[0]
    _count_pending(st, world)
    if clock.together:
        _steer_together(st, world, policy.scope)
    for index in range(clock.actions):
        action = st.actions[index]
        kind = action.kind
        if kind in (ACT_START, ACT_RESUME):
            _begin(st, world, action.job, kind == ACT_RESUME)
        else:
            _steer(st, world, policy.scope, policy, index)
    clock.actions = 0


@slot(2, default=True)
def _steer(st: State, world: World, scope: Any, policy: Composition, index: int) -> None:
    """Carry out an action that is not a start; in a scope of starts only, count it as an error."""
    world.meter[0].undone += 1


@slot(2, default=True)
def _steer_together(st: State, world: World, scope: Any) -> None:
    """Change all speeds of a decision at once; a scope of starts only changes none."""
    return


@implement(_steer, Everything)
@kernel
def _steer_all(
    st: State, world: World, scope: Everything, policy: Composition, index: int
) -> None:
    action = st.actions[index]
    kind = action.kind
    if kind == ACT_SPEED:
        set_speed(st, world, action.job, action.value, action.power_w)
    elif kind == ACT_LEVEL:
        set_level(st, world, action.value, action.power_w, action.job)
    elif kind == ACT_PAUSE:
        _pause(st, world, policy, action.job)
    elif kind == ACT_DOWN:
        _power_down(st, world, int(action.value))
    elif kind == ACT_UP:
        _power_up(st, world, int(action.value))
    elif kind == ACT_WAKE:
        push_timer(st, world.meter[0].timers, action.value, WAKE, action.job)
        world.meter[0].timers += 1


@kernel
def _count_pending(st: State, world: World) -> None:
    meter = world.meter[0]
    for index in range(st.clock[0].actions):
        action = st.actions[index]
        if action.kind in (ACT_START, ACT_RESUME):
            meter.pending_w += action.power_w - st.live[action.job].idle_w
            meter.pending_units += st.live[action.job].units
            meter.pending_jobs += 1


@kernel_part
def end_job(st: State, world: World, policy: Composition, job: int) -> None:
    """A job finishes, or is killed at its requested time."""
    clock = st.clock[0]
    live = st.live[job]
    _bring_up_to_date(st, job)
    _release_units(st, world, policy, job)
    live.state = DONE
    live.end_s = clock.now_s
    world.meter[0].done += 1
    log_event(st, world, END, job, live.energy_j)


@kernel
def set_speed(st: State, world: World, job: int, rate: float, power_w: float) -> None:
    """A running job goes on at another rate and power."""
    clock = st.clock[0]
    live = st.live[job]
    _bring_up_to_date(st, job)
    clock.power_w += power_w - live.power_w
    remove_release(st, live.expected_s, job)
    _rescale(st, job, rate, power_w)
    insert_release(st, live.expected_s, job, live.units)
    move_end(st, world.meter[0].heap, live.end_s, job)
    clock.examined = 0
    clock.replan = PLAN_STALE
    log_event(st, world, RATE, job, power_w)


@implement(_steer_together, Everything)
@kernel
def _set_speeds(st: State, world: World, scope: Everything) -> None:
    """All changes of speed that a decision asks for, and one row in the log for them.

    The heap of ends is put in order once: with thousands of jobs, moving each end by itself costs
    more than all the rest. Jobs that the same decision starts are left to their turn.
    """
    clock = st.clock[0]
    changed = 0
    for index in range(clock.actions):
        action = st.actions[index]
        job = action.job
        if action.kind != ACT_SPEED or st.live[job].heap < 0:
            continue
        live = st.live[job]
        _bring_up_to_date(st, job)
        clock.power_w += action.power_w - live.power_w
        _rescale(st, job, action.value, action.power_w)
        st.heap[live.heap].time_s = live.end_s
        action.kind = ACT_DONE
        changed += 1
    if changed > 0:
        rebuild_ends(st, world.meter[0].heap)
        log_event(st, world, RATE, NO_JOB, 0.0)


@kernel
def set_level(st: State, world: World, speed: float, power_factor: float, level: int) -> None:
    """All running jobs go on at the machine's new level."""
    clock = st.clock[0]
    clock.speed = speed
    clock.power_factor = power_factor
    clock.level = level
    running = world.meter[0].heap
    for index in range(running):
        job = st.heap[index].job
        live = st.live[job]
        _bring_up_to_date(st, job)
        _end_standstill(st, job)
        power_w = live.watts * power_factor
        clock.power_w += power_w - live.power_w
        _rescale(st, job, speed / live.stretch, power_w)
        if clock.latency_s > 0.0:
            _stand_still(st, job)
        st.heap[index].time_s = live.end_s
    rebuild_ends(st, running)
    rescale_releases(st)
    clock.examined = 0
    clock.replan = PLAN_STALE
    log_event(st, world, RATE, NO_JOB, speed)


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
    live.end_s = _end_of(st, job)


@kernel
def _begin(st: State, world: World, job: int, resumed: bool) -> None:
    """The decision has booked the job; it begins to run."""
    clock = st.clock[0]
    live = st.live[job]
    if not resumed:
        live.start_s = clock.now_s
    live.updated_s = clock.now_s
    live.end_s = _end_of(st, job)
    push_end(st, world.meter[0].heap, live.end_s, job)
    meter = world.meter[0]
    meter.heap += 1
    meter.pending_jobs -= 1
    meter.pending_units -= live.units
    meter.pending_w -= live.power_w - live.idle_w
    if meter.pending_jobs == 0:
        meter.pending_w = 0.0
    log_event(st, world, RESUME if resumed else START, job, live.power_w)
    run = live.first_node
    while run >= 0:
        span = world.spans[world.meter[0].spans]
        span.job = job
        span.first = run
        span.count = st.nodes[run].length
        world.meter[0].spans += 1
        run = st.nodes[run].next


@kernel_part
def _pause(st: State, world: World, policy: Composition, job: int) -> None:
    """A running job gives its units back and keeps what it has done."""
    live = st.live[job]
    _bring_up_to_date(st, job)
    begins_s = max(st.clock[0].now_s, live.still_s)
    live.requested_s = max(live.expected_s - begins_s, 0.0) * live.rate
    live.still_s = -np.inf
    _release_units(st, world, policy, job)
    live.state = PAUSED
    log_event(st, world, PAUSE, job, live.energy_j)


@kernel_part
def _release_units(st: State, world: World, policy: Composition, job: int) -> None:
    clock = st.clock[0]
    live = st.live[job]
    released(st, policy.backfill, job)
    order_told(st, policy.order, job)
    remove_release(st, live.expected_s, job)
    remove_end(st, world.meter[0].heap, job)
    world.meter[0].heap -= 1
    give_back(st, policy.placement, job)
    clock.free += live.units
    clock.running -= 1
    clock.running_watts = 0.0 if clock.running == 0 else clock.running_watts - live.watts
    # Sums of floats drift; an empty machine says exactly what it draws.
    if clock.running == 0 and st.nodes.size == 0:
        on = clock.units - clock.off - clock.changing
        clock.power_w = on * clock.idle_w + clock.off * clock.off_w + clock.changing_w
    else:
        clock.power_w += live.idle_w - live.power_w
    live.power_w = 0.0
    clock.examined = 0


@kernel
def _power_down(st: State, world: World, units: int) -> None:
    """Free units begin to shut down."""
    clock = st.clock[0]
    units = min(units, clock.free)
    clock.free -= units
    clock.changing += units
    clock.changing_w += units * clock.halt_w
    clock.power_w += units * (clock.halt_w - clock.idle_w)
    clock.replan = PLAN_STALE
    push_timer(st, world.meter[0].timers, clock.now_s + clock.halt_s, NODES_OFF, units)
    world.meter[0].timers += 1
    log_event(st, world, NODE, NO_JOB, float(-units))


@kernel
def _power_up(st: State, world: World, units: int) -> None:
    """Units that are off begin to boot."""
    clock = st.clock[0]
    units = min(units, clock.off)
    clock.off -= units
    clock.changing += units
    clock.changing_w += units * clock.boot_w
    clock.power_w += units * (clock.boot_w - clock.off_w)
    push_timer(st, world.meter[0].timers, clock.now_s + clock.boot_s, NODES_ON, units)
    world.meter[0].timers += 1
    log_event(st, world, NODE, NO_JOB, float(units))


@kernel
def nodes_off(st: State, world: World, units: int) -> None:
    """Units have shut down."""
    clock = st.clock[0]
    clock.changing -= units
    clock.changing_w -= units * clock.halt_w
    clock.off += units
    clock.power_w += units * (clock.off_w - clock.halt_w)
    clock.examined = 0  # power fell: a job that waits for watts may have them now
    log_event(st, world, NODE, NO_JOB, float(-units))


@kernel
def nodes_on(st: State, world: World, units: int) -> None:
    """Units have booted."""
    clock = st.clock[0]
    clock.changing -= units
    clock.changing_w -= units * clock.boot_w
    clock.free += units
    clock.power_w += units * (clock.idle_w - clock.boot_w)
    clock.examined = 0
    clock.replan = PLAN_STALE
    log_event(st, world, NODE, NO_JOB, float(units))


@kernel
def _end_of(st: State, job: int) -> float:
    """When a job will end at its rate: when its work is done, or when it is killed."""
    live = st.live[job]
    end_s = max(st.clock[0].now_s, live.still_s) + live.work_s / live.rate
    if not st.clock[0].overrun:
        end_s = min(end_s, live.expected_s)
    return float(end_s)


@kernel
def _bring_up_to_date(st: State, job: int) -> None:
    """Count a running job's work and energy up to now."""
    live = st.live[job]
    now_s = st.clock[0].now_s
    passed_s = now_s - live.updated_s
    worked_s = passed_s if live.still_s <= live.updated_s else max(now_s - live.still_s, 0.0)
    live.work_s = max(live.work_s - live.rate * worked_s, 0.0)
    live.energy_j += live.power_w * passed_s
    live.updated_s = now_s


@kernel
def _rescale(st: State, job: int, rate: float, power_w: float) -> None:
    live = st.live[job]
    begins_s = max(st.clock[0].now_s, live.still_s)
    if live.expected_s > begins_s:
        live.expected_s = begins_s + (live.expected_s - begins_s) * live.rate / rate
    live.rate = rate
    live.power_w = power_w
    live.end_s = _end_of(st, job)
