"""One attempt at one queue entry: configure it, see that it fits, ask admission, start it."""

from __future__ import annotations

from wattline.model.kernel import kernel, kernel_part
from wattline.model.kernel_fetch import fetch_soon
from wattline.policies.contract import (
    SET_ASIDE,
    START,
    STOP,
    WAIT,
    Composition,
    admit,
    configure,
    planned_s,
    reserves,
)
from wattline.policies.in_order import lacks_units
from wattline.policies.leaders import sort_rest
from wattline.policies.node_classes import expect_classes, expected_stretch
from wattline.policies.profile import add_to_profile, earliest, plan_running
from wattline.policies.queue import move_up
from wattline.policies.starting import start
from wattline.policies.state import State

NO_ROOM = 4
"""The job does not fit in the free units (beside the verdicts of the contract)."""


@kernel_part
def configured(st: State, policy: Composition, position: int) -> bool:
    """Choose the configuration of an entry, and the classes of node by which it is judged."""
    may_start = configure(st, policy.configuration, policy, position)
    expect_classes(st, policy, st.queue[position].job)
    return may_start


@kernel_part
def attempt(st: State, policy: Composition, position: int) -> int:
    """Try to start the queue entry at this position; the verdict says what became of it."""
    if not configured(st, policy, position):
        return WAIT
    return attempt_configured(st, policy, position)


@kernel_part
def attempt_configured(st: State, policy: Composition, position: int) -> int:
    """The same for an entry whose configuration has just been chosen."""
    entry = st.queue[position]
    if entry.units > st.clock[0].free:
        return NO_ROOM
    verdict = admit(st, policy.admission, policy, entry.job)
    if verdict != START:
        return verdict
    # A placement policy may refuse the free nodes there are; such a job waits like a large one.
    if start(st, policy, entry.job):
        return START
    note_unplaced(st, entry.job)
    return NO_ROOM


@kernel
def note_unplaced(st: State, job: int) -> None:
    """A job does not get the nodes that are free now."""
    st.live[job].unplaced_s = st.clock[0].now_s
    st.clock[0].unplaced_s = st.clock[0].now_s


@kernel
def leaves_queue(verdict: int) -> bool:
    return verdict in (START, SET_ASIDE)


@kernel_part
def serve_in_order(st: State, policy: Composition) -> int:
    """Start jobs from the head of the queue while they may start.

    Returns the position of the first job that has to wait, or -1 where no other may start. Where
    it gets a reservation, one that needs more units than are in order holds up nobody.
    """
    clock = st.clock[0]
    position = clock.queue_first
    passed = 0  # entries before `position` that stay
    while position < clock.queue_last:
        sort_rest(st, policy.order, policy, position)
        if position + 1 < clock.queue_last:  # now or later, it is the next to be tried
            fetch_soon(st.live, st.queue[position + 1].job)
            fetch_soon(st.jobs, st.queue[position + 1].job)
        verdict = attempt(st, policy, position)
        if verdict == STOP:
            clock.stopped = 1
            clock.stopper = -1
        if leaves_queue(verdict):
            if passed > 0:
                move_up(st, position - passed, position, 1)
        elif clock.stopped or not _is_passed(st, policy, position):
            break
        else:
            passed += 1
        position += 1
    clock.reached = position - clock.queue_first + 1
    first = position - passed
    clock.leaders = max(clock.leaders - (first - clock.queue_first), 0)
    clock.queue_first = first
    if position == clock.queue_last or clock.stopped:
        return -1
    return int(position)


@kernel_part
def _is_passed(st: State, policy: Composition, position: int) -> bool:
    return reserves(st, policy.backfill) and lacks_units(st, policy, position)


@kernel_part
def time_taken_s(st: State, policy: Composition, job: int, requested_s: float) -> float:
    """The time that a job takes by its request at the speed and on the nodes that it would get now.

    Where admission would not start it, at the machine's speed: the best that can be said.
    """
    time_s = planned_s(st, policy.admission, job, requested_s)
    if time_s == float("inf"):
        time_s = requested_s / st.clock[0].speed
    return float(time_s * expected_stretch(st, policy.placement, job))


@kernel_part
def serve_around_windows(st: State, policy: Composition) -> None:
    """The same where reservation windows lie ahead: no job starts that would run into one."""
    clock = st.clock[0]
    plan_running(st)
    position = clock.queue_first
    while position < clock.queue_last:
        may_start = configured(st, policy, position)
        entry = st.queue[position]
        duration_s = time_taken_s(st, policy, entry.job, entry.requested_s)
        if not may_start or earliest(st, clock.now_s, entry.units, duration_s) > clock.now_s:
            break
        verdict = attempt_configured(st, policy, position)
        if not leaves_queue(verdict):
            break
        if verdict == START:
            add_to_profile(st, clock.now_s, clock.now_s + duration_s, -entry.units)
        position += 1
    clock.queue_first = position
