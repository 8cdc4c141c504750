"""EASY backfilling where reservations of nodes lie ahead: a plan of free units over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.kernel import implement, kernel, kernel_part, slot
from wattline.policies.attempt import (
    attempt_configured,
    configured,
    leaves_queue,
    time_taken_s,
)
from wattline.policies.contract import (
    START,
    STOP,
    Composition,
    Everything,
    not_before_s,
    waits_for_cap,
    watts_at,
    watts_of,
)
from wattline.policies.in_order import lacks_units
from wattline.policies.planning import planned_w, reserved_s, rises_s, spares
from wattline.policies.profile import add_to_profile, earliest, plan_running
from wattline.policies.queue import drop_entries
from wattline.policies.queue_blocks import lower_bounds
from wattline.policies.releases import list_deferred
from wattline.policies.state import BLOCK, State


@slot(1, default=True)
def schedule_around_windows(st: State, scope: Any, policy: Composition) -> None:
    """Schedule where nodes are reserved; a scope without reservations has no use for it."""
    return


@implement(schedule_around_windows, Everything)
@kernel
def _plan_around_windows(st: State, scope: Everything, policy: Composition) -> None:
    """Start what may start beside the reservation of the first job that has to wait.

    The first job that has to wait gets its rectangle in the plan, and watts at its beginning; a
    later one may start now if the plan has room for it and it ends by then or leaves those watts.
    """
    clock = st.clock[0]
    plan_running(st)
    head = -1  # the job with the reservation
    clock.shadow_s = float("inf")
    clock.extra_w = float("inf")
    kept = clock.queue_first
    position = kept
    while position < clock.queue_last and not clock.stopped:
        entry = st.queue[position]
        may_start = configured(st, policy, position)
        duration_s = time_taken_s(st, policy, entry.job, entry.requested_s)
        in_time = clock.now_s + duration_s <= clock.shadow_s
        may_start = may_start and ((in_time and duration_s == 0.0) or earliest(
            st, clock.now_s, entry.units, duration_s) <= clock.now_s)
        stays = True
        if may_start and (in_time or (
                planned_w(st, policy.admission, entry.job) <= clock.extra_w
                and (head < 0 or spares(st, policy.admission, entry.job, head)))):
            verdict = attempt_configured(st, policy, position)
            stays = not leaves_queue(verdict)
            if verdict == START:
                add_to_profile(st, clock.now_s, clock.now_s + duration_s, -entry.units)
                if not in_time:
                    clock.extra_w -= watts_of(st, policy.admission, entry.job)
            if verdict == STOP:
                clock.stopped = 1
        if stays and head < 0 and not lacks_units(st, policy, position):
            head = entry.job
            _reserve_in_plan(st, policy, position)
        if stays:
            st.queue[kept] = st.queue[position]
            lower_bounds(st, kept)
            kept += 1
        position += 1
    drop_entries(st, kept, position)
    clock.examined = 0


@kernel_part
def _reserve_in_plan(st: State, policy: Composition, position: int) -> None:
    """Take the first time at which the plan has the units and running jobs have left the watts."""
    entry = st.queue[position]
    job = entry.job
    if waits_for_cap(st, policy.configuration, job):
        return  # no end of a job lets it start: all may pass
    clock = st.clock[0]
    list_deferred(st)
    need_w = watts_of(st, policy.admission, job)
    duration_s = reserved_s(st, policy.admission, job, entry.requested_s)
    first_s = not_before_s(st, policy.admission, job, clock.now_s)
    start_s = earliest(st, clock.now_s, entry.units, duration_s)
    while start_s < float("inf"):
        left_w, next_s = _watts_left(st, policy, start_s)
        least_w = need_w - clock.cap_w * CAP_SLACK  # as admission has it: sums are rounded
        if left_w >= least_w and not_before_s(st, policy.admission, job, start_s) <= start_s:
            clock.shadow_s = start_s
            clock.extra_w = max(left_w - need_w, 0.0)
            # A job of no length needs its units for an instant.
            end_s = max(start_s + duration_s, np.nextafter(start_s, float("inf")))
            add_to_profile(st, start_s, end_s, -entry.units)
            return
        if start_s < first_s:
            next_s = min(next_s, first_s)
        start_s = earliest(st, next_s, entry.units, duration_s) if next_s < float("inf") else next_s


@kernel_part
def _watts_left(st: State, policy: Composition, time_s: float) -> tuple[float, float]:
    """Watts that nobody holds at a time by the requested times, and when more may be left."""
    watts = watts_at(st, policy.admission, time_s)
    next_s = rises_s(st, policy.admission, time_s)
    for place in range(st.clock[0].blocks):
        first = st.blocks[place].order * BLOCK
        for index in range(first, first + st.blocks[st.blocks[place].order].count):
            release = st.releases[index]
            if release.expected_s > time_s:
                return watts, min(next_s, release.expected_s)
            watts += watts_of(st, policy.admission, release.job)
    return watts, next_s
