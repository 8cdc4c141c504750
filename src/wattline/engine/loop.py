"""The event loop: one instant after another, all events of an instant, then one decision.

Events of one instant are applied in this order: ends, timers (nodes, reservations, jobs that
become eligible, wake-ups), steps of the cap, submissions, the control cycle. Then the policy
decides once, and what it asked for is carried out.
"""

from __future__ import annotations

from wattline.engine.log import (
    CAP_STEP,
    CONTROL,
    NO_JOB,
    RESERVATION,
    SUBMIT,
    WAKE,
    log_event,
)
from wattline.engine.physics import apply_actions, end_job, integrate, nodes_off, nodes_on
from wattline.engine.timers import (
    ELIGIBLE,
    NODES_OFF,
    NODES_ON,
    WINDOW_END,
    WINDOW_START,
    pop_timer,
    push_timer,
)
from wattline.engine.world import World
from wattline.model.kernel import kernel, kernel_part
from wattline.policies.contract import (
    Composition,
    congest,
    cycle_s,
    never_configured,
    never_placed,
    refuses,
    regulate,
    schedule,
    settle,
)
from wattline.policies.queue import enqueue
from wattline.policies.state import DONE, HELD, REFUSED, State

# Why the loop came back to its caller.
FINISHED, GO_ON, LOG_FULL, SPANS_FULL, TIMERS_FULL = range(5)


@kernel
def run_events(st: State, world: World, policy: Composition, budget: int) -> int:
    """Simulate up to `budget` instants; the result says why it stopped."""
    clock = st.clock[0]
    meter = world.meter[0]
    while budget > 0:
        reason = _must_stop(st, world)
        if reason != GO_ON:
            return reason
        budget -= 1
        integrate(st, world, next_instant(st, world))
        apply_due(st, world, policy)
        if meter.next_cycle_s <= clock.now_s:
            meter.next_cycle_s = clock.now_s + cycle_s(st, policy.regulation)
            log_event(st, world, CONTROL, NO_JOB, 0.0)
            regulate(st, policy.regulation, policy)
            apply_actions(st, world, policy)
        schedule(st, policy.backfill, policy)
        apply_actions(st, world, policy)
        settle(st, policy.admission, policy)
        apply_actions(st, world, policy)
        if congest(st, policy.placement, policy):
            apply_actions(st, world, policy)
    return GO_ON


@kernel
def _must_stop(st: State, world: World) -> int:
    """Stop when all is done, when nothing more will happen, or when an array is nearly full."""
    meter = world.meter[0]
    if meter.done == st.jobs.size:
        return FINISHED
    if meter.spare_rows < 2 * meter.heap + 64:
        return LOG_FULL
    if world.spans.size - meter.spans < st.nodes.size + 1 and st.nodes.size > 0:
        return SPANS_FULL
    # At worst every job that is left asks for a wake-up in one instant.
    if st.timers.size - meter.timers < st.jobs.size - meter.done + 128:
        return TIMERS_FULL
    if next_instant(st, world) == float("inf"):
        return FINISHED
    return GO_ON


@kernel
def next_instant(st: State, world: World) -> float:
    """The time of the next event, infinite when nothing more will happen by itself."""
    meter = world.meter[0]
    time_s = float("inf")
    if meter.heap > 0:
        time_s = st.heap[0].time_s
    if meter.arrived < st.jobs.size:
        time_s = min(time_s, st.jobs[meter.arrived].submit_s)
    if meter.timers > 0:
        time_s = min(time_s, st.timers[0].time_s)
    if meter.caps < world.caps.size:
        time_s = min(time_s, world.caps[meter.caps].time_s)
    return float(min(time_s, meter.next_cycle_s))


@kernel_part
def apply_due(st: State, world: World, policy: Composition) -> None:
    """Apply all events of this instant, in their order."""
    clock = st.clock[0]
    meter = world.meter[0]
    now_s = clock.now_s
    while meter.heap > 0 and st.heap[0].time_s <= now_s:
        job = st.heap[0].job
        end_job(st, world, policy, job)
        if st.jobs[job].first_dependent >= 0:
            _release_dependents(st, world, policy, job)
    while meter.timers > 0 and st.timers[0].time_s <= now_s:
        kind = st.timers[0].kind
        arg = st.timers[0].arg
        pop_timer(st, meter.timers)
        meter.timers -= 1
        _go_off(st, world, policy, kind, arg)
    if clock.owed > 0:
        _pay_windows(st)
    while meter.caps < world.caps.size and world.caps[meter.caps].time_s <= now_s:
        clock.cap_w = world.caps[meter.caps].cap_w
        clock.examined = 0
        clock.smallest = 1  # another cap may mean configurations of fewer units
        log_event(st, world, CAP_STEP, NO_JOB, clock.cap_w)
        meter.caps += 1
    while meter.arrived < st.jobs.size and st.jobs[meter.arrived].submit_s <= now_s:
        _submit(st, world, policy, meter.arrived)
        meter.arrived += 1


@kernel_part
def _submit(st: State, world: World, policy: Composition, job: int) -> None:
    after = st.jobs[job].after
    if (
        refuses(st, policy.admission, job)
        or never_configured(st, policy.configuration, job)
        or never_placed(st, policy.placement, job)
    ):
        st.live[job].state = REFUSED
        world.meter[0].done += 1
    elif after >= 0:
        st.live[job].state = HELD
        if st.live[after].state == DONE:
            _become_eligible(st, world, policy, job, st.live[after].end_s)
        elif st.live[after].state == REFUSED:
            enqueue(st, policy, job)  # as where that job is left out of the log
    else:
        enqueue(st, policy, job)
    log_event(st, world, SUBMIT, job, 1.0 if st.live[job].state == REFUSED else 0.0)


@kernel_part
def _release_dependents(st: State, world: World, policy: Composition, job: int) -> None:
    dependent = st.jobs[job].first_dependent
    while dependent >= 0:
        if st.live[dependent].state == HELD:
            _become_eligible(st, world, policy, dependent, st.clock[0].now_s)
        dependent = st.jobs[dependent].next_dependent


@kernel_part
def _become_eligible(
    st: State, world: World, policy: Composition, job: int, end_s: float
) -> None:
    """A job may be queued once the job before it has ended and the think time has passed."""
    eligible_s = end_s + st.jobs[job].think_s
    if eligible_s <= st.clock[0].now_s:
        enqueue(st, policy, job)
    else:
        push_timer(st, world.meter[0].timers, eligible_s, ELIGIBLE, job)
        world.meter[0].timers += 1


@kernel_part
def _go_off(st: State, world: World, policy: Composition, kind: int, arg: int) -> None:
    clock = st.clock[0]
    if kind == NODES_OFF:
        nodes_off(st, world, arg)
    elif kind == NODES_ON:
        nodes_on(st, world, arg)
    elif kind == ELIGIBLE:
        enqueue(st, policy, arg)
    elif kind == WINDOW_START:
        clock.owed += st.windows[arg].units
        log_event(st, world, RESERVATION, NO_JOB, float(arg))
    elif kind == WINDOW_END:
        _end_window(st, st.windows[arg].units)
        log_event(st, world, RESERVATION, NO_JOB, float(arg))
    else:
        clock.examined = 0
        log_event(st, world, WAKE, arg, 0.0)


@kernel
def _pay_windows(st: State) -> None:
    """Give free units to reservations that have begun."""
    clock = st.clock[0]
    units = min(clock.free, clock.owed)
    clock.free -= units
    clock.owed -= units
    clock.reserved += units


@kernel
def _end_window(st: State, units: int) -> None:
    clock = st.clock[0]
    never_paid = min(units, clock.owed)
    clock.owed -= never_paid
    clock.reserved -= units - never_paid
    clock.free += units - never_paid
    clock.windows -= 1
    clock.examined = 0
