"""Jobs that do not go the usual way: starts of others, starts that fail, withdrawn, changed."""

from __future__ import annotations

from typing import Any

from wattline.books.applying import release_dependents
from wattline.books.keeping import begin, bring_up_to_date, release_units
from wattline.books.record import Record
from wattline.books.timers import ELIGIBLE, push_timer
from wattline.model.kernel import kernel, kernel_part
from wattline.policies.contract import Composition, occupied
from wattline.policies.placement.nodes import adopt_kinds, take_run
from wattline.policies.queue import drop_entries
from wattline.policies.releases import insert_release, remove_release
from wattline.policies.set_aside import queue_or_set_aside
from wattline.policies.starting import book_start
from wattline.policies.state import (
    ASIDE,
    CANCELLED,
    HELD,
    PAUSED,
    PLAN_STALE,
    QUEUED,
    REFUSED,
    RESUMING,
    RUNNING,
    State,
)


@kernel
def confirm(st: State, job: int) -> None:
    """A start that was asked for has happened: the requested time counts from now."""
    clock = st.clock[0]
    live = st.live[job]
    resumed = live.unconfirmed == RESUMING
    live.unconfirmed = 0
    if resumed or live.start_s == clock.now_s:
        return
    live.start_s = clock.now_s
    remove_release(st, live.expected_s, job)
    live.expected_s = clock.now_s + live.requested_s / live.rate
    insert_release(st, live.expected_s, job, live.units)
    clock.examined = 0
    clock.replan = PLAN_STALE


@kernel_part
def start_elsewhere(
    st: State, record: Record, world: Any, policy: Composition, job: int, nodes: int
) -> None:
    """Somebody else started a job on the nodes that were named before."""
    clock = st.clock[0]
    live = st.live[job]
    if live.state == REFUSED:  # whoever started it knows better; it is not over
        record.meter[0].done -= 1
    leave_waiting(st, job)
    lent = max(live.units - clock.free, 0)  # it runs in a reservation, which waits for its end
    clock.free += lent
    clock.reserved -= lent
    clock.owed += lent
    live.idle_w = live.units * clock.idle_w
    if st.nodes.size > 0:
        for index in range(nodes):
            take_run(st, job, st.scratch_nodes[index], 1)
        adopt_kinds(st, job)
        occupied(st, policy.placement, job)
    rate = clock.speed / (live.stretch * live.slowdown)
    book_start(st, job, rate, live.watts * clock.power_factor)
    clock.actions -= 1  # nobody has to carry it out
    record.meter[0].pending_jobs += 1
    record.meter[0].pending_units += live.units
    record.meter[0].pending_w += live.power_w - live.idle_w
    begin(st, record, world, policy, job, False, float("inf"))
    live.unconfirmed = 0
    clock.examined = 0
    clock.replan = PLAN_STALE


@kernel_part
def take_back(
    st: State, record: Record, world: Any, policy: Composition, job: int, backoff_s: float
) -> None:
    """A start did not happen: units and watts come back, and the job waits again."""
    live = st.live[job]
    release_units(st, world, policy, job)
    if live.unconfirmed == RESUMING:
        live.energy_j = live.resumed_j  # what it did before its pause stays
    else:
        live.watts = st.jobs[job].watts
        live.energy_j = 0.0
        live.start_s = float("nan")
    live.unconfirmed = 0
    if backoff_s > 0.0:
        live.state = HELD
        push_timer(st, record.meter[0].timers, st.clock[0].now_s + backoff_s, ELIGIBLE, job)
        record.meter[0].timers += 1
    else:
        queue_or_set_aside(st, policy, job)
    st.clock[0].replan = PLAN_STALE


@kernel
def hold_until(st: State, record: Record, job: int, time_s: float) -> None:
    """A job that was queued may not start before a time."""
    if st.live[job].state not in (QUEUED, ASIDE):
        return
    leave_waiting(st, job)
    push_timer(st, record.meter[0].timers, time_s, ELIGIBLE, job)
    record.meter[0].timers += 1


@kernel_part
def cancel(st: State, record: Record, policy: Composition, job: int) -> None:
    """A job that does not run is withdrawn; those that wait for it need not any more."""
    if st.live[job].state not in (QUEUED, ASIDE, HELD, PAUSED):
        return  # it was refused in this very step
    leave_waiting(st, job)
    st.live[job].state = CANCELLED
    record.meter[0].done += 1
    if st.jobs[job].first_dependent >= 0:
        release_dependents(st, record, policy, job)
    st.clock[0].examined = 0
    st.clock[0].replan = PLAN_STALE


@kernel_part
def change_request(st: State, policy: Composition, job: int, requested_s: float) -> None:
    """A job asks for another time; a running one counts it from its start.

    Where a claim or a configuration said when a running job ends, that stays: the request did not.
    """
    clock = st.clock[0]
    live = st.live[job]
    resumed = live.resumed_j > 0.0  # then what is left of its request is noted, and no claim
    if live.state == RUNNING:
        if live.requested_s != st.jobs[job].requested_s and not resumed:
            st.jobs[job].requested_s = requested_s
            return
        bring_up_to_date(st, job)
        remove_release(st, live.expected_s, job)
        live.expected_s += (requested_s - st.jobs[job].requested_s) / live.rate
        insert_release(st, live.expected_s, job, live.units)
    live.requested_s = requested_s
    st.jobs[job].requested_s = requested_s
    if live.state == QUEUED:
        leave_waiting(st, job)
        queue_or_set_aside(st, policy, job)
    clock.examined = 0
    clock.replan = PLAN_STALE


@kernel
def leave_waiting(st: State, job: int) -> None:
    """Take a waiting job out of the queue, or off the list of those set aside."""
    clock = st.clock[0]
    state = st.live[job].state
    if state == QUEUED:
        position = clock.queue_first
        while st.queue[position].job != job:
            position += 1
        drop_entries(st, position, position + 1)
        clock.planned = 0
    elif state == ASIDE:
        place = 0
        while st.aside[place].job != job:
            place += 1
        clock.aside -= 1
        while place < clock.aside:
            st.aside[place] = st.aside[place + 1]
            place += 1
    st.live[job].state = HELD
