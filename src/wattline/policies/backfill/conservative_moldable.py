"""Conservative backfilling of moldable jobs: every waiting job has a reservation, made anew.

What a moldable job starts in depends on the nodes and watts of the moment, so no reservation can
be kept from its arrival on. Instead the whole plan is made at every decision, in the order of the
queue: each job starts now, if the plan has room for the configuration that it would get now, or
has the nodes of its regular configuration reserved at the earliest time that the reservations
before it leave. So no job waits for the nodes of one that stands behind it.

Watts are planned for one job only, as EASY does it: the first that has its nodes and waits for
watts. Those behind it may start if they end in time or take what is left beside it. A job that no
configuration suits before the cap rises holds up nobody.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel, kernel_part
from wattline.policies.attempt import (
    NO_ROOM,
    attempt_configured,
    configured,
    leaves_queue,
    time_taken_s,
)
from wattline.policies.backfill.easy import in_time_for, may_pass, reserve
from wattline.policies.contract import (
    START,
    STOP,
    WAIT,
    Composition,
    before_queue,
    schedule,
    starts_only,
    waits_for_cap,
    watts_available,
    watts_of,
)
from wattline.policies.profile import add_to_profile, earliest, plan_running
from wattline.policies.queue import drop_entries, sort_queue
from wattline.policies.releases import first_release_s
from wattline.policies.state import State


@starts_only
class ConservativeMoldable(NamedTuple):
    """Backfilling that lets no job wait for the nodes of one behind it."""

    @property
    def axis(self) -> Literal["backfill"]:
        return "backfill"


@implement(schedule, ConservativeMoldable)
@kernel
def _schedule(st: State, backfill: ConservativeMoldable, policy: Composition) -> None:
    clock = st.clock[0]
    if not before_queue(st, policy.admission, policy):
        return
    sort_queue(st, policy)
    plan_running(st)
    held = False
    kept = clock.queue_first
    position = kept
    while position < clock.queue_last:
        verdict = _start_or_reserve(st, policy, position, held)
        if verdict == STOP:
            break
        held = held or verdict == WAIT
        if not leaves_queue(verdict):
            if kept != position:
                st.queue[kept] = st.queue[position]
            kept += 1
        position += 1
    drop_entries(st, kept, position)


@kernel_part
def _start_or_reserve(st: State, policy: Composition, position: int, held: bool) -> int:
    """Start an entry now, or give it its place in the plan.

    `WAIT` is returned of the first that waits for watts: what is left beside it is then known.
    """
    clock = st.clock[0]
    entry = st.queue[position]
    job = entry.job
    may_start = configured(st, policy, position)
    if not may_start and waits_for_cap(st, policy.configuration, job):
        return NO_ROOM
    duration_s = time_taken_s(st, policy, job, entry.requested_s)
    start_s = earliest(st, clock.now_s, entry.units, duration_s)
    lacks_watts = False
    if start_s <= clock.now_s and (not held or may_pass(st, policy, job)):
        uses_extra = held and not in_time_for(st, policy, job, entry.requested_s)
        verdict = attempt_configured(st, policy, position) if may_start else WAIT
        if verdict == START:
            add_to_profile(st, clock.now_s, clock.now_s + duration_s, -entry.units)
            if uses_extra:
                clock.extra -= entry.units
                clock.extra_w -= watts_of(st, policy.admission, job)
        if leaves_queue(verdict) or verdict == STOP:
            return verdict
        lacks_watts = verdict == WAIT
    _reserve_nodes(st, position, start_s, duration_s)
    if lacks_watts and not held and watts_available(st, policy.admission) < float("inf"):
        reserve(st, policy, job)
        return WAIT
    return NO_ROOM


@kernel
def _reserve_nodes(st: State, position: int, start_s: float, duration_s: float) -> None:
    """The place in the plan of an entry that does not start now, though its nodes may be free."""
    units = st.queue[position].units
    now_s = st.clock[0].now_s
    if start_s <= now_s and first_release_s(st) > now_s:
        start_s = earliest(st, first_release_s(st), units, duration_s)
    add_to_profile(st, start_s, start_s + duration_s, -units)
