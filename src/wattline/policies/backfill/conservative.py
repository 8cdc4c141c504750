"""Conservative backfilling: every job has a reservation, and none is ever made later.

At its arrival a job gets the earliest reservation that moves no earlier one. When a job ends
before its requested time, the reservations are reconsidered one by one in the order of their
start, each moved to the earliest time possible, never later. Reservations are made in the order of
arrival; the order axis has no say.

Each reservation was the earliest when it was made, and from then on others only take room before
it. So one can move only to a time before `clock.freed_s`, up to which units have come back early:
those of a job that ended, and of reservations that moved. Nothing behind that is looked at.

Where jobs run on past their requested time, the units of an overdue job are expected back at any
moment: the plan counts them as free. A job whose time has come and that finds no room is late; it
starts as soon as there is room, and until then the plan is made anew at every event, in the order
of planned starts. Only so can reservations slip, and when what runs changes its speed or nodes
come and go, for then the plan is made anew as well.

A job whose time has come, that has its units, and that placement still refuses its nodes (a rack
without watts) gets a new reservation at the next expected end, for other nodes must come back
first; those behind it move up beside it. Where nothing runs it waits for any event. So does a job
whose time has come and that has no watts while nothing runs: no end that is expected brings them.

A job that needs more units than are in order has no planned start: it holds up nobody, and stands
behind those that have one when the plan is made with what was repaired.

Jobs that were set aside (`wattline.policies.set_aside`) have no reservation. When they come back
the plan is made anew in the order of arrival. One that waits for the known end of reserved watts
is planned from then on, and the first such has its watts kept too.

The plan is in units and at the machine's speed. Where watts are short too, the first job whose time
has come and that waits for watts gets a reservation of watts as EASY makes it: those behind it may
start only if they end in time or take what is left beside it. A job that admission slows down holds
its units longer; then the plan is made anew.

The queue is kept in the order of planned starts, which are its keys; new entries stand behind.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from wattline.model.kernel import constants, implement, kernel, kernel_part
from wattline.model.promises import ALL
from wattline.policies.attempt import attempt, leaves_queue, note_unplaced, time_taken_s
from wattline.policies.backfill.easy import in_time_for, may_pass, reserve
from wattline.policies.contract import (
    START,
    STOP,
    WAIT,
    Composition,
    before_queue,
    cap_to_come_w,
    entry_key,
    not_before_s,
    rejoined,
    released,
    schedule,
    watts_available,
    watts_of,
)
from wattline.policies.node_classes import expect_classes
from wattline.policies.profile import (
    add_to_profile,
    earliest,
    first_chance,
    forget_past,
    most_free,
    note_no_room,
    plan_running,
    take_earlier,
    take_earliest,
)
from wattline.policies.queue import drop_entries
from wattline.policies.releases import first_release_s, release_at
from wattline.policies.starting import note
from wattline.policies.state import ACT_WAKE, PLAN_STALE, State
from wattline.policies.traits import queue_keeps

ALL_TRIED, PUT_OFF, STOPPED = constants(3)
"""How a pass over the due jobs ended: with the last, with one that was put off, or by admission."""


class Conservative(NamedTuple):
    """Backfilling that delays no job that came earlier."""

    @property
    def axis(self) -> Literal["backfill"]:
        return "backfill"


@implement(entry_key, Conservative)
@kernel
def _entry_key(st: State, backfill: Conservative, policy: Composition, job: int) -> float:
    return float("inf")


@implement(released, Conservative)
@kernel
def _released(st: State, backfill: Conservative, job: int) -> None:
    clock = st.clock[0]
    live = st.live[job]
    if live.expected_s > clock.now_s:
        add_to_profile(st, clock.now_s, live.expected_s, live.units)
        clock.freed_s = max(clock.freed_s, live.expected_s)
        clock.replan = max(clock.replan, 1)


@implement(rejoined, Conservative)
@kernel
def _rejoined(st: State, backfill: Conservative) -> None:
    """Jobs that were set aside have their places by arrival: the plan is made anew in that order.
    """
    clock = st.clock[0]
    for position in range(clock.queue_first, clock.queue_last):
        st.queue[position].key = np.inf
        _move_to(st, position, np.inf)
    clock.planned = 0
    clock.replan = PLAN_STALE


@implement(schedule, Conservative)
@kernel
def _schedule(st: State, backfill: Conservative, policy: Composition) -> None:
    clock = st.clock[0]
    forget_past(st)
    late = clock.planned > 0 and st.queue[clock.queue_first].key < clock.now_s
    if clock.windows > 0 or late or clock.replan == PLAN_STALE:
        _plan_anew(st, policy)
    elif clock.replan:
        _compress(st, policy)
    clock.replan = 0
    while clock.planned < clock.queue_last - clock.queue_first:
        _plan(st, policy, clock.queue_first + clock.planned)
        clock.planned += 1
    passed = STOPPED
    if before_queue(st, policy.admission, policy):
        passed = _start_due(st, policy)
        while passed == PUT_OFF:
            _compress(st, policy)  # each time round one job more was refused: it ends
            passed = _start_due(st, policy)
    # Where admission lets nobody start, a planned start is no reason to ask it again.
    if passed != STOPPED:
        _wake_at_next_start(st)


@kernel
def _duration_s(st: State, position: int) -> float:
    return float(st.queue[position].requested_s / st.clock[0].speed)


@kernel_part
def _risen_s(st: State, policy: Composition, position: int) -> float:
    """From when on the cap has room for an entry: later than now where watts are reserved that it
    needs, and it is known for how long."""
    clock = st.clock[0]
    if cap_to_come_w(st, policy.admission) <= clock.cap_w:
        return float(clock.now_s)
    return not_before_s(st, policy.admission, st.queue[position].job, clock.now_s)


@kernel_part
def _hold_for_rise(st: State, policy: Composition) -> bool:
    """Reserve units and watts for the first entry for which the cap has to rise; is there one?"""
    clock = st.clock[0]
    for position in range(clock.queue_first, clock.queue_last):
        if cap_to_come_w(st, policy.admission) <= clock.cap_w:
            return False
        if _risen_s(st, policy, position) > clock.now_s:
            reserve(st, policy, st.queue[position].job)
            return True
    return False


@kernel_part
def _plan(st: State, policy: Composition, position: int) -> None:
    """Give an entry the earliest reservation, and its place by planned start."""
    start_s, _ = take_earliest(st, _risen_s(st, policy, position), st.queue[position].units,
                               _duration_s(st, position))
    _move_to(st, position, start_s)


@kernel
def _move_to(st: State, position: int, start_s: float) -> None:
    job = st.queue[position].job
    size = st.queue[position].units
    requested_s = st.queue[position].requested_s
    first = st.clock[0].queue_first
    while position > first and (
        st.queue[position - 1].key > start_s
        or (st.queue[position - 1].key == start_s and st.queue[position - 1].job > job)
    ):
        st.queue[position] = st.queue[position - 1]
        position -= 1
    entry = st.queue[position]
    entry.job = job
    entry.units = size
    entry.requested_s = requested_s
    entry.key = start_s


@kernel_part
def _compress(st: State, policy: Composition) -> None:
    """Reconsider the reservations in the order of their start.

    Where one finds no earlier time, none behind it does before that which asks for as much and for
    longer than any time that it found: it would need the same units up to the same time at least,
    and what moves in between gives units back at later times only.
    """
    clock = st.clock[0]
    known = 0
    most = -1
    seen_s = clock.now_s
    freed_s = clock.freed_s
    some_unplaced = clock.unplaced_s == clock.now_s  # spares a look at every job
    put_off = False
    for position in range(clock.queue_first, clock.queue_first + clock.planned):
        planned_s = st.queue[position].key
        if planned_s <= clock.now_s:
            continue
        if some_unplaced and st.live[st.queue[position].job].unplaced_s == clock.now_s:
            put_off = True
            continue
        until_s = min(planned_s, freed_s)
        if until_s > seen_s or most < 0:
            most = max(most, most_free(st, seen_s, until_s))
            seen_s = until_s
        size = st.queue[position].units
        if most < size:
            continue  # nowhere before its start has room for it come back
        duration_s = _duration_s(st, position)
        from_s, known_s = first_chance(st, known, size, duration_s, until_s)
        risen_s = _risen_s(st, policy, position)
        from_s = max(from_s, risen_s)
        if from_s >= until_s:
            continue
        start_s, longest_s = take_earlier(st, from_s, until_s, planned_s, size, duration_s)
        if start_s < planned_s:
            freed_s = max(freed_s, planned_s + duration_s)
            _move_to(st, position, start_s)
        elif risen_s <= clock.now_s:
            known = note_no_room(st, known, size, max(longest_s, known_s), until_s)
    # A job that was put off has not the earliest reservation: the next time all are looked at.
    clock.freed_s = np.inf if put_off else -np.inf


@kernel_part
def _plan_anew(st: State, policy: Composition) -> None:
    """Make the whole plan again from what runs now, in the order of planned starts.

    Less and less is free: where one found no room, none behind it that asks for as much does.
    """
    clock = st.clock[0]
    clock.freed_s = -np.inf
    plan_running(st)
    known = 0
    for position in range(clock.queue_first, clock.queue_first + clock.planned):
        size, duration_s = st.queue[position].units, _duration_s(st, position)
        from_s, known_s = first_chance(st, known, size, duration_s, np.inf)
        risen_s = _risen_s(st, policy, position)
        from_s = max(from_s, risen_s)
        start_s, longest_s = take_earliest(st, from_s, size, duration_s)
        _move_to(st, position, start_s)
        if start_s > from_s and risen_s <= clock.now_s:
            known = note_no_room(st, known, size, max(longest_s, known_s), start_s)


@kernel_part
def _start_due(st: State, policy: Composition) -> int:
    """Start the jobs whose time has come and that find room; how that ended."""
    clock = st.clock[0]
    position = clock.queue_first
    held = _hold_for_rise(st, policy)
    found = ALL_TRIED
    while position < clock.queue_last and st.queue[position].key <= clock.now_s:
        job = st.queue[position].job
        expect_classes(st, policy, job)
        if held and not may_pass(st, policy, job):
            position += 1
            continue
        if clock.windows > 0 and not _keeps_windows(st, policy, position):
            position += 1
            continue
        units = st.queue[position].units
        planned_end_s = clock.now_s + _duration_s(st, position)
        in_time = held and in_time_for(st, policy, job, st.queue[position].requested_s)
        verdict = attempt(st, policy, position)
        if leaves_queue(verdict):
            if verdict != START or st.live[job].expected_s != planned_end_s:
                clock.replan = PLAN_STALE  # it does not hold the place that was planned for it
            if clock.windows > 0 and verdict == START:
                add_to_profile(st, planned_end_s, st.live[job].expected_s, -units)
            if held and verdict == START and not in_time:
                clock.extra -= st.live[job].units
                clock.extra_w -= watts_of(st, policy.admission, job)
            first = clock.queue_first
            drop_entries(st, position, position + 1)
            clock.planned -= 1
            position += clock.queue_first - first
        elif verdict == STOP:
            return int(PUT_OFF if found == PUT_OFF else STOPPED)
        elif _has_no_time(st, policy, job, verdict):
            add_to_profile(st, clock.now_s, planned_end_s, units)
            clock.freed_s = np.inf
            _put_off(st, position)
            found = PUT_OFF
        else:
            if verdict == WAIT and not held and watts_available(st, policy.admission) < np.inf:
                held = True
                reserve(st, policy, job)
            position += 1
    return int(found)


@kernel_part
def _has_no_time(st: State, policy: Composition, job: int, verdict: int) -> bool:
    """Whether a due job that was refused can be sure of no start before the next expected end."""
    live = st.live[job]
    now_s = st.clock[0].now_s
    nothing_runs = first_release_s(st) == np.inf
    if nothing_runs and verdict == WAIT and watts_available(st, policy.admission) < np.inf:
        note_unplaced(st, job)
    return bool(live.unplaced_s == now_s and _may_put_off(st))


@kernel_part
def _keeps_windows(st: State, policy: Composition, position: int) -> bool:
    """Whether the plan has room for a due entry for as long as it takes at its speed of now.

    A job that starts slower than it was planned with could run into a reservation.
    """
    entry = st.queue[position]
    now_s = st.clock[0].now_s
    time_s = time_taken_s(st, policy, entry.job, entry.requested_s)
    planned_s = _duration_s(st, position)
    if time_s <= planned_s:
        return True
    add_to_profile(st, now_s, now_s + planned_s, entry.units)
    start_s = earliest(st, now_s, entry.units, time_s)
    add_to_profile(st, now_s, now_s + planned_s, -entry.units)
    return bool(start_s <= now_s)


@kernel
def _may_put_off(st: State) -> bool:
    """Not beside overdue jobs: theirs is expected back at any moment, so the job stays due."""
    return bool(first_release_s(st) > st.clock[0].now_s)


@kernel
def _put_off(st: State, position: int) -> None:
    """Give a due entry that placement refuses a reservation from the next expected end on.

    An entry behind it stands at `position` afterwards, or none does.
    """
    clock = st.clock[0]
    job = st.queue[position].job
    size = st.queue[position].units
    requested_s = st.queue[position].requested_s
    duration_s = _duration_s(st, position)
    start_s = earliest(st, first_release_s(st), size, duration_s)
    add_to_profile(st, start_s, start_s + duration_s, -size)
    if start_s == np.inf:
        clock.replan = PLAN_STALE  # no end to wait for: it is tried again at every event
    last = clock.queue_first + clock.planned - 1
    while position < last and st.queue[position + 1].key <= start_s:
        st.queue[position] = st.queue[position + 1]
        position += 1
    entry = st.queue[position]
    entry.job = job
    entry.units = size
    entry.requested_s = requested_s
    entry.key = start_s


@kernel
def _wake_at_next_start(st: State) -> None:
    """A planned start at which no job is sure to end needs an event of its own."""
    clock = st.clock[0]
    position = clock.queue_first
    end = clock.queue_first + clock.planned
    while position < end and st.queue[position].key <= clock.now_s:
        position += 1
    if position == end:
        return
    next_s = st.queue[position].key
    if next_s == np.inf or next_s == clock.wake_s:  # noqa: PLR1714 (compiled: no tuples)
        return
    if clock.overrun or not release_at(st, next_s):
        clock.wake_s = next_s
        note(st, ACT_WAKE, -1, next_s, 0.0)


@queue_keeps.register
def _keeps(backfill: Conservative) -> str:
    return ALL
