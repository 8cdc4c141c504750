"""Jobs that the cap of now has no room for, even alone on the machine: they are set aside.

No end of a running job helps such a job; only a cap that rises does, or units that go out of order
and draw nothing. So it leaves the queue and blocks nobody, and comes back to its place, which its
key still is, as soon as the cap could hold it. Where it is known when the cap rises (the end of a
reservation of watts) and backfilling plans watts, it stays in the queue, with a reservation then.

Admissions say with `sets_aside` that they want this; the published BLOCK and WAIT do not.
"""

from __future__ import annotations

from wattline.model.kernel import kernel, kernel_part
from wattline.policies.admission.power import idle_beneath_w, idle_machine_w
from wattline.policies.contract import (
    Composition,
    cap_to_come_w,
    chooses_watts,
    exceeds,
    expect_nodes,
    holds,
    rejoined,
    reserves,
    sets_aside,
    waits_for_cap,
)
from wattline.policies.node_classes import BY_NUMBER, LEAST_RISE
from wattline.policies.queue import drop_entries, enqueue
from wattline.policies.state import ASIDE, PLAN_STALE, State


@kernel_part
def lacks_cap(st: State, policy: Composition, job: int) -> bool:
    """Say whether a job could not start under the cap of now, or one known to come, even alone."""
    if waits_for_cap(st, policy.configuration, job):
        return True
    if chooses_watts(st, policy.configuration, job):
        return False
    cap_w = st.clock[0].cap_w
    if reserves(st, policy.backfill):
        cap_w = cap_to_come_w(st, policy.admission)
    idle_w = idle_now_w(st)
    if st.kinds.size < 2:
        return exceeds(st, policy.admission, job, cap_w, idle_alone_w(st, job, idle_w))
    for order in (BY_NUMBER, LEAST_RISE):
        st.live[job].class_order = order
        expect_nodes(st, policy.placement, job, True)
        if not exceeds(st, policy.admission, job, cap_w, idle_alone_w(st, job, idle_w)):
            return False
    return True


@kernel
def idle_alone_w(st: State, job: int, idle_w: float) -> float:
    """Return the idle power beneath a job alone on a machine that draws `idle_w` without jobs: one
    that needs units that are off or out of order runs only when they idle too."""
    return float(max(idle_w, idle_beneath_w(st, job) + min(st.clock[0].rest_w, 0.0)))


@kernel
def idle_now_w(st: State) -> float:
    """Return what the machine would draw now without jobs: units that are off or out of order draw
    less, and so may all of it, as measured."""
    clock = st.clock[0]
    idle_w = idle_machine_w(st) + min(clock.rest_w, 0.0)
    out = clock.off + clock.down + clock.down_owed  # alone, no job holds what is owed
    if out == 0:
        return float(idle_w)
    if st.kinds.size < 2:
        return float(idle_w - out * (clock.idle_w - clock.off_w))
    for node in range(st.nodes.size):
        if st.node_out[node] or st.nodes[node].power < 0:
            idle_w -= st.kinds[st.nodes[node].kind].idle_w - clock.off_w
    return float(idle_w)


@kernel_part
def queue_or_set_aside(st: State, policy: Composition, job: int) -> None:
    """A job may start from now on: it joins the queue, unless only a higher cap could let it."""
    if sets_aside(st, policy.admission) and lacks_cap(st, policy, job):
        set_aside(st, job)
    else:
        enqueue(st, policy, job)


@kernel
def set_aside(st: State, job: int) -> None:
    """A job waits beside the queue."""
    clock = st.clock[0]
    st.aside[clock.aside].job = job
    clock.aside += 1
    st.live[job].state = ASIDE
    st.live[job].aside_s = clock.now_s


@kernel_part
def follow_cap(st: State, policy: Composition) -> None:
    """Before a decision: set aside and take back what the cap, or the units there are, ask for."""
    if not sets_aside(st, policy.admission):
        return
    clock = st.clock[0]
    cap_w = max(clock.cap_w, cap_to_come_w(st, policy.admission)) - min(clock.rest_w, 0.0)
    units = clock.off + clock.down + clock.down_owed
    if cap_w == clock.sifted_cap_w and clock.cap_w == clock.sifted_now_w and (
            units == clock.sifted_units):
        return
    clock.replan = PLAN_STALE
    clock.sifted_cap_w, clock.sifted_now_w, clock.sifted_units = cap_w, clock.cap_w, units
    _take_back(st, policy)
    _take_out(st, policy)


@kernel_part
def _take_back(st: State, policy: Composition) -> None:
    clock = st.clock[0]
    kept = 0
    aside = clock.aside
    for place in range(aside):
        job = st.aside[place].job
        if holds(st, policy.admission, job) or lacks_cap(st, policy, job):
            st.aside[kept].job = job
            kept += 1
        else:
            enqueue(st, policy, job)
    clock.aside = kept
    if kept < aside:
        rejoined(st, policy.backfill)


@kernel_part
def _take_out(st: State, policy: Composition) -> None:
    clock = st.clock[0]
    position = clock.queue_first
    while position < clock.queue_last:
        job = st.queue[position].job
        if lacks_cap(st, policy, job):
            first = clock.queue_first
            drop_entries(st, position, position + 1)
            position += clock.queue_first - first
            set_aside(st, job)
            clock.examined = 0
            clock.planned = 0
            clock.replan = PLAN_STALE
        else:
            position += 1
