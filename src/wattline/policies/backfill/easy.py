"""EASY backfilling, held to its definition.

Jobs start in order while they fit. The first that does not gets a reservation at the earliest time
when, by the requested times of running jobs, enough units are free (the shadow time); the units
left over then are extra. A later job may start now if it fits and either ends by the shadow time
or uses only extra units, which are then consumed.

Where enough units are free and placement still refuses the first job its nodes (a rack without
watts), other nodes must come back first: its shadow time is the next expected end. The reservation
is in units all the same: it does not say which nodes, so that a later job may take those that
would have helped, and the first job then waits for the end after.

A full pass is needed only when something was released or changed. Otherwise jobs that could not
start still cannot (time only makes the shadow harder to reach), and only new entries are tried.
Where admission stopped a backfilled job and with it all behind it, time frees those once the job
would no longer end by the shadow time.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.kernel import implement, kernel, kernel_part
from wattline.model.kernel_fetch import fetch_soon
from wattline.model.promises import HEAD
from wattline.policies.attempt import (
    attempt_configured,
    configured,
    leaves_queue,
    serve_in_order,
)
from wattline.policies.backfill.easy_around_windows import schedule_around_windows
from wattline.policies.committed import committed_w
from wattline.policies.contract import (
    START,
    STOP,
    Composition,
    as_queued,
    before_queue,
    exhausted,
    least_units,
    not_before_s,
    planned_s,
    reach,
    schedule,
    starts_only,
    waits_for_cap,
    watts_at,
    watts_available,
    watts_of,
)
from wattline.policies.from_view import decides_from_view
from wattline.policies.in_order import lacks_units
from wattline.policies.leaders import sort_front, sort_rest, sorted_until
from wattline.policies.node_classes import expect_classes_alone, expected_stretch, fastest_class
from wattline.policies.planning import (
    faster_when_full,
    planned_w,
    resizes_when_full,
    rises_s,
    spares,
)
from wattline.policies.queue import drop_entries, move_down, sort_queue
from wattline.policies.releases import first_release_s, list_deferred
from wattline.policies.state import BLOCK, QUEUE_BLOCK, State
from wattline.policies.traits import queue_keeps


@decides_from_view()
@starts_only
class Easy(NamedTuple):
    """Backfilling with one reservation, that of the first job that has to wait."""

    @property
    def axis(self) -> Literal["backfill"]:
        return "backfill"


@implement(schedule, Easy)
@kernel
def _schedule(st: State, backfill: Easy, policy: Composition) -> None:
    clock = st.clock[0]
    may_try = before_queue(st, policy.admission, policy)
    if not may_try or (clock.free < clock.smallest and clock.windows == 0):
        return  # nothing may start or nothing fits: no need to sort
    if clock.windows > 0:
        sort_queue(st, policy)
    else:
        sort_front(st, policy.order, policy)
    if clock.examined > 0 and clock.overrun and first_release_s(st) <= clock.now_s:
        clock.examined = 0  # overdue jobs: time alone may have changed the reservation
    if clock.shadow_s < clock.now_s and st.kinds.size > 1:
        clock.examined = 0  # the first job lacks the watts of the nodes that are free
    if clock.stopped and clock.stopper >= 0 and not may_pass(st, policy, clock.stopper):
        clock.examined = 0  # it would no longer end in time: it stops those behind it no more
    if clock.examined == 0:
        clock.stopped = 0
    if clock.stopped:
        return
    if clock.windows > 0:
        schedule_around_windows(st, policy.scope, policy)
        return
    free = clock.free
    if clock.examined == 0:
        head = serve_in_order(st, policy)
        if head < 0:
            # Who comes next, behind those that lack units in order, has to be looked at.
            clock.examined = clock.queue_last - clock.queue_first if clock.stopped else 0
            if clock.queue_first == clock.queue_last:
                clock.smallest = clock.units + 1
                clock.shortest_s = float("inf")
            return
        reserve(st, policy, st.queue[head].job)
        least = clock.units
        shortest_s = float("inf")
        for position in range(clock.queue_first, head + 1):  # those that lack units in order too
            entry = st.queue[position]
            least = min(least, least_units(st, policy.configuration, entry.job, entry.units))
            shortest_s = min(shortest_s, entry.requested_s)
        _backfill(st, policy, head, head + 1, least, shortest_s)
    else:
        head = clock.queue_first
        while lacks_units(st, policy, head):
            head += 1
        first = clock.queue_first + clock.examined
        _backfill(st, policy, head, first, clock.smallest, clock.shortest_s)
    clock.examined = clock.queue_last - clock.queue_first
    if clock.free < free and (
            st.kinds.size > 1 or faster_when_full(st, policy.admission)
            or resizes_when_full(st, policy.configuration)):
        clock.examined = 0  # with what is left others may be faster, or run on less


@kernel_part
def _backfill(
    st: State, policy: Composition, head: int, position: int, smallest: int, shortest_s: float
) -> None:
    """Try the entries from `position` on beside the reservation of the one at `head`.

    `smallest` is the least that any entry before them can run on, `shortest_s` the least time that
    one asks for. They are kept up to date so that a release of fewer units costs no pass at all,
    and one that helps nobody in the queue no look at its entries.
    """
    clock = st.clock[0]
    kept = position  # started jobs leave a gap, [kept, gone): it is closed once, at the end
    gone = position
    end = clock.queue_last
    while position < end:
        if (clock.free == 0 or clock.stopped or exhausted(st, policy.admission)
                or _none_is_hopeful(st, policy)):
            smallest = min(smallest, clock.smallest)  # the rest is not looked at: still bounds
            shortest_s = min(shortest_s, clock.shortest_s)
            break
        sort_rest(st, policy.order, policy, position)
        if as_queued(st, policy.configuration):
            until = min(end, sorted_until(st, policy.order))
            position, least, least_s = _next_hopeful(st, policy, position, until)
            smallest = min(smallest, least)
            shortest_s = min(shortest_s, least_s)
            if position == until:
                continue
        entry = st.queue[position]
        stays = True
        if configured(st, policy, position) and entry.units <= clock.free:
            in_time = in_time_for(st, policy, entry.job, entry.requested_s)
            if in_time or (_uses_extra_only(st, policy, entry.job, entry.units)
                           and spares(st, policy.admission, entry.job, st.queue[head].job)):
                fetch_soon(st.jobs, entry.job)  # what it is in truth is asked when it begins
                verdict = attempt_configured(st, policy, position)
                stays = not leaves_queue(verdict)
                if verdict == START and not in_time:
                    clock.extra -= entry.units
                    clock.extra_w -= watts_of(st, policy.admission, entry.job)
                if verdict == STOP:
                    clock.stopped = 1
                    clock.stopper = entry.job
        if stays:
            least = least_units(st, policy.configuration, entry.job, entry.units)
            smallest = min(smallest, least)
            shortest_s = min(shortest_s, entry.requested_s)
        else:
            if kept < gone:
                move_down(st, gone, position, gone - kept)
            kept += position - gone
            gone = position + 1
        position += 1
    clock.smallest = smallest
    clock.shortest_s = shortest_s
    clock.reached = position - clock.queue_first
    drop_entries(st, kept, gone)


class Room(NamedTuple):
    """What a job must not exceed to have a chance to start beside the head job's reservation."""

    few: int
    """On so many units it may, however long it takes; on up to `most` if it is short."""
    most: int
    fast_units: int
    longest_s: float
    """The most time that it may ask for; on up to `fast_units` it is `longest_fast_s`."""
    longest_fast_s: float


@kernel_part
def _room(st: State, policy: Composition) -> Room:
    clock = st.clock[0]
    bounds = reach(st, policy.admission)
    most = min(clock.free, bounds.units)
    # The second more than makes up for rounding.
    left_s = (clock.shadow_s - clock.now_s) * fastest_class(st)
    return Room(few=int(min(most, clock.extra, bounds.extra_units)), most=int(most),
                fast_units=int(bounds.fast_units), longest_s=float(left_s * bounds.speed + 1.0),
                longest_fast_s=float(left_s * bounds.fast + 1.0))


@kernel_part
def _none_is_hopeful(st: State, policy: Composition) -> bool:
    """Whether no entry could start now, by what is known of all of them."""
    if not as_queued(st, policy.configuration):
        return False
    clock = st.clock[0]
    room = _room(st, policy)
    too_long = clock.shortest_s > room.longest_fast_s
    return bool(clock.smallest > room.few and (too_long or clock.smallest > room.most))


@kernel_part
def _next_hopeful(
    st: State, policy: Composition, position: int, end: int
) -> tuple[int, int, float]:
    """The first entry from `position` on that could perhaps start now, or `end`.

    With it, the least units of those before it, and the least time they ask for, or less. A long
    queue is mostly entries that are too large or too long. To see that takes a few comparisons with
    bounds that hold for all, most often those of a whole block; what passes them is looked at
    closely.
    """
    room = _room(st, policy)
    least = st.clock[0].units + 1
    least_s = float("inf")
    while position < end:
        block = st.queue_blocks[position // QUEUE_BLOCK]
        until = min((position // QUEUE_BLOCK + 1) * QUEUE_BLOCK, end)
        if _is_hopeful(room, block.units, block.requested_s):
            hopeful, units, requested_s = _look_through(st, room, position, until)
            least = min(least, units)
            least_s = min(least_s, requested_s)
            if hopeful < until:
                return hopeful, least, least_s
        else:
            least = min(least, block.units)
            least_s = min(least_s, block.requested_s)
        position = until
    return end, least, least_s


@kernel
def _look_through(st: State, room: Room, first: int, end: int) -> tuple[int, int, float]:
    """The same for [first, end) of one block; one without hope is known by its bounds then."""
    least = st.clock[0].units + 1
    least_s = float("inf")
    for index in range(first, end):
        units = st.queue[index].units
        requested_s = st.queue[index].requested_s
        if _is_hopeful(room, units, requested_s):
            return index, least, least_s
        least = min(least, units)
        least_s = min(least_s, requested_s)
    to_its_end = end % QUEUE_BLOCK == 0 or end == st.clock[0].queue_last
    if first % QUEUE_BLOCK == 0 and to_its_end:
        block = st.queue_blocks[first // QUEUE_BLOCK]
        block.units = least
        block.requested_s = least_s
    return end, least, least_s


@kernel
def _is_hopeful(room: Room, units: int, requested_s: float) -> bool:
    """Whether a job could start now, or some of jobs of which none is smaller or shorter."""
    return bool(units <= room.few or (
        requested_s <= room.longest_fast_s and units <= room.most
        and (units <= room.fast_units or requested_s <= room.longest_s)))


@kernel_part
def may_pass(st: State, policy: Composition, job: int) -> bool:
    """Whether a queued job may start beside the head job's reservation, power apart."""
    live = st.live[job]
    in_time = in_time_for(st, policy, job, live.requested_s)
    return bool(in_time or _uses_extra_only(st, policy, job, live.units))


@kernel_part
def in_time_for(st: State, policy: Composition, job: int, requested_s: float) -> bool:
    """Say whether a job ends by the head's start, at its level and on the nodes that it would get.
    """
    clock = st.clock[0]
    time_s = planned_s(st, policy.admission, job, requested_s)
    time_s *= expected_stretch(st, policy.placement, job)
    return bool(clock.now_s + time_s <= clock.shadow_s)


@kernel_part
def _uses_extra_only(st: State, policy: Composition, job: int, size: int) -> bool:
    clock = st.clock[0]
    return bool(size <= clock.extra and planned_w(st, policy.admission, job) <= clock.extra_w)


@kernel_part
def reserve(st: State, policy: Composition, job: int) -> None:
    """Find the shadow time of the head job and what is extra beside it."""
    if waits_for_cap(st, policy.configuration, job):
        st.clock[0].shadow_s = float("inf")  # no end of a job lets it start: all may pass
        return
    if st.kinds.size > 1:
        expect_classes_alone(st, policy, job)  # others may be free by then than are now
    list_deferred(st)
    watts = watts_available(st, policy.admission)
    now_s = st.clock[0].now_s
    if watts == float("inf") and not_before_s(st, policy.admission, job, now_s) <= now_s:
        _reserve_units(st, st.live[job].units, st.live[job].unplaced_s == now_s)
    else:
        _reserve_units_and_watts(st, policy, job)


@kernel
def _reserve_units(st: State, need: int, unplaced: bool) -> None:
    clock = st.clock[0]
    available = clock.free - clock.down_owed  # what ends first gives up what is out of order
    shadow_s = float("inf")
    clock.extra_w = float("inf")
    if clock.free >= need and not unplaced:
        shadow_s = clock.now_s  # a head job that its configuration holds back
    for place in range(clock.blocks):
        block = st.blocks[place].order
        if shadow_s == float("inf") and available + st.blocks[block].total < need:
            available += st.blocks[block].total
            continue
        first = block * BLOCK
        for index in range(first, first + st.blocks[block].count):
            expected_s = max(st.releases[index].expected_s, clock.now_s)
            if expected_s > shadow_s:
                clock.shadow_s = shadow_s
                clock.extra = available - need
                return
            available += st.releases[index].units
            if available >= need and shadow_s == float("inf"):
                shadow_s = expected_s
    clock.shadow_s = shadow_s
    clock.extra = available - need


@kernel_part
def _reserve_units_and_watts(st: State, policy: Composition, job: int) -> None:
    """The same when the head job needs units and watts: both must be free at the shadow time.

    Watts come back when jobs end, and where they were reserved.
    """
    clock = st.clock[0]
    need = st.live[job].units
    need_w = watts_of(st, policy.admission, job)
    available = clock.free - clock.down_owed
    unplaced = st.live[job].unplaced_s == clock.now_s
    first_s = not_before_s(st, policy.admission, job, clock.now_s)
    cap_rises = rises_s(st, policy.admission, clock.now_s) < float("inf")
    time_s = clock.now_s if cap_rises else first_s
    left_w = watts_at(st, policy.admission, time_s)
    # As admission has it: sums are rounded. A budget limits power without a cap.
    least_w = need_w - (left_w + committed_w(st)) * CAP_SLACK
    watts = left_w
    back_w = 0.0
    place = 0
    index = -1
    while True:
        expected_s, place, index = _next_release(st, place, index)
        while expected_s <= time_s and place < clock.blocks:
            available += st.releases[index].units
            job_w = watts_of(st, policy.admission, st.releases[index].job)
            watts += job_w
            back_w += job_w
            unplaced = False
            expected_s, place, index = _next_release(st, place, index + 1)
        if time_s == float("inf") or (
                available >= need and watts >= least_w and not unplaced
                and (not cap_rises or not_before_s(st, policy.admission, job, time_s) <= time_s)):
            break
        if cap_rises:
            if time_s < first_s:
                expected_s = min(expected_s, first_s)
            time_s = min(expected_s, rises_s(st, policy.admission, time_s))
            if watts_at(st, policy.admission, time_s) != left_w:
                left_w = watts_at(st, policy.admission, time_s)
                watts = left_w + back_w
        else:
            time_s = expected_s
    clock.shadow_s = time_s
    clock.extra = available - need
    clock.extra_w = watts - need_w
    if time_s < float("inf"):
        clock.extra_w = max(clock.extra_w, 0.0)


@kernel
def _next_release(st: State, place: int, index: int) -> tuple[float, int, int]:
    """Find the release at `index`, or the next one: its time, its block's place, its index."""
    clock = st.clock[0]
    while place < clock.blocks:
        block = st.blocks[place].order
        index = max(index, block * BLOCK)
        if index < block * BLOCK + st.blocks[block].count:
            return st.releases[index].expected_s, place, index
        place += 1
        index = -1
    return float("inf"), place, index


@queue_keeps.register
def _keeps(backfill: Easy) -> str:
    return HEAD
