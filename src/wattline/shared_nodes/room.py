"""The watts that the cap leaves from now on, as steps in time, and who finds none in them.

In a backfill cycle running jobs give back what they draw at their limits, the cap steps, and what
is planned or started takes watts for as long as its limit says; the first step is what the machine
draws now. A job that finds too little at a time for the fewest watts that it can draw is not tried
then: cap.py would refuse it on any nodes. Less and less is left in the course of a cycle, so that
what asked for the same before is remembered.

The steps are sums in another order than those of cap.py. Where both are closer than SLACK_W to each
other, cap.py decides.
"""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.cap import cap_allows, cap_at, next_step, stays_under_cap
from wattline.shared_nodes.freed import list_limits
from wattline.shared_nodes.in_partition import ask_as_in_partition
from wattline.shared_nodes.planned_times import JUST_AFTER_S, counted_until, rounded_down
from wattline.shared_nodes.power import picked_watts, woken_watts
from wattline.shared_nodes.state import NEVER_S, Books

SLACK_W = 1e-3


@kernel_part
def begin_room(st: Books) -> None:
    """List the steps, with nothing planned yet.

    Steps of the cap behind twice the window are left out: there the room is unknown.
    """
    list_limits(st)
    clock = st.clock[0]
    now_s = clock.now_s
    drawn_w = clock.power_w + clock.booting_w
    cap_s, running_end = st.cap_s, st.running_end
    just_after_s = now_s + JUST_AFTER_S
    step = next_step(st, now_s)
    horizon_s = now_s + 2.0 * st.rules[0].bf_window_s
    cap_w = cap_at(st, now_s)
    st.room_s[0] = now_s
    st.room_w[0] = cap_w - drawn_w
    st.room_s[1] = just_after_s
    st.room_w[1] = cap_w - drawn_w
    clock.rooms = 2
    clock.room_changes += 1
    ended = 0
    clock.room_until_s = NEVER_S
    while ended < clock.running or step < len(cap_s):
        end_s = NEVER_S
        if ended < clock.running:
            end_s = max(rounded_down(st, running_end[clock.first_running + ended]), just_after_s)
        change_s = cap_s[step] if step < len(cap_s) else NEVER_S
        time_s = min(end_s, change_s)
        if change_s <= end_s:
            if change_s > horizon_s:
                clock.room_until_s = change_s
                return
            cap_w = st.cap_w[step]
            step += 1
        else:
            drawn_w = clock.power_w + clock.booting_w - st.ended_w[ended]
            ended += 1
        if st.room_s[clock.rooms - 1] < time_s:
            clock.rooms += 1
        st.room_s[clock.rooms - 1] = time_s
        st.room_w[clock.rooms - 1] = cap_w - drawn_w


@kernel_part
def take_room(st: Books, begin_s: float, end_s: float, watts: float) -> None:
    """A job takes so many watts between these times."""
    begin_s = max(begin_s, st.clock[0].now_s)
    end_s = min(end_s, st.clock[0].room_until_s)
    if begin_s >= end_s:
        return
    st.clock[0].room_changes += 1
    st.clock[0].taken_from_s = begin_s
    st.clock[0].taken_until_s = end_s
    first = _step_at(st, begin_s)
    last = _step_at(st, end_s) if end_s < NEVER_S else st.clock[0].rooms
    room_w = st.room_w[first:last]
    for place in range(len(room_w)):
        room_w[place] -= watts


@kernel_part
def _step_at(st: Books, time_s: float) -> int:
    """The step that begins at a time; made if there is none."""
    place = _last_until(st, time_s)
    if st.room_s[place] == time_s:
        return place
    clock = st.clock[0]
    place += 1
    _open_place(st.room_s[place : clock.rooms + 1])
    _open_place(st.room_w[place : clock.rooms + 1])
    st.room_s[place] = time_s
    st.room_w[place] = st.room_w[place - 1]
    clock.rooms += 1
    return place


@kernel_part
def _open_place(column: Any) -> None:
    for place in range(len(column) - 1, 0, -1):
        column[place] = column[place - 1]


@kernel_part
def _last_until(st: Books, time_s: float) -> int:
    """The last step that has begun at a time, which is not before now."""
    room_s = st.room_s
    low, size = 0, st.clock[0].rooms
    while size > 1:  # chosen, not branched upon: which half it is nobody can foretell
        half = size // 2
        low += half if room_s[low + half] <= time_s else 0
        size -= half
    return low


@kernel_part
def first_room_s(st: Books, entry: int, from_s: float) -> float:
    """The first start from a time on at which there may be room for as long as the job may last.

    NEVER_S where there is none.
    """
    row = st.entry[entry]
    clock = st.clock[0]
    is_known = st.room_cycle[row.ask] == clock.backfills
    known_s = st.room_from_s[row.ask] if is_known else clock.now_s
    if from_s > known_s:
        return _first_room_s(st, entry, from_s)
    found_s = known_s
    if not (is_known and _is_untouched(st, row.ask)) and known_s < NEVER_S:
        found_s = _first_room_s(st, entry, known_s)
        st.room_over_s[row.ask] = _until_s(st, row.job, found_s)
    st.room_cycle[row.ask] = clock.backfills
    st.room_seen[row.ask] = clock.room_changes
    st.room_from_s[row.ask] = found_s
    return float(found_s)


@kernel_part
def _is_untouched(st: Books, ask: int) -> bool:
    """Whether no watts were taken, since room was found for this request, at times of its own."""
    clock = st.clock[0]
    since = clock.room_changes - st.room_seen[ask]
    return bool(since == 0 or (since == 1 and (
        clock.taken_until_s <= st.room_from_s[ask] or st.room_over_s[ask] <= clock.taken_from_s)))


@kernel_part
def has_room_now(st: Books, entry: int) -> bool:
    """Whether the job may start now by its watts."""
    return bool(first_room_s(st, entry, st.clock[0].now_s) <= st.clock[0].now_s)


@kernel_part
def _first_room_s(st: Books, entry: int, from_s: float) -> float:
    ask_as_in_partition(st, entry)
    job = st.entry[entry].job
    least_w = st.entry[entry].least_w - SLACK_W
    room_s, room_w = st.room_s, st.room_w
    rooms = st.clock[0].rooms
    start_s = from_s
    if start_s <= st.clock[0].now_s:  # counts longer than who starts a moment later
        if not _any_below(room_w[: _first_from(
                room_s[:rooms], _until_s(st, job, start_s))], least_w):
            return float(start_s)
        start_s = st.clock[0].now_s + JUST_AFTER_S
    place = _last_until(st, start_s)
    stop = _first_from(room_s[:rooms], _until_s(st, job, start_s))
    while True:
        # Who starts later is over no earlier: no start before the last that is short will do.
        behind = _behind_last_short(room_w[place:stop], least_w)
        if behind == 0:
            return float(start_s)
        place += behind
        while place < rooms and room_w[place] < least_w:
            place += 1
        if place == rooms:
            return float(st.clock[0].room_until_s)
        start_s = room_s[place]
        place = max(place, stop)
        stop = _first_from(room_s[:rooms], _until_s(st, job, start_s))


@kernel_part
def _behind_last_short(watts: Any, least_w: float) -> int:
    """The place behind the last step with too few watts; 0: none has too few, which is usual."""
    behind = len(watts) if _any_below(watts, least_w) else 0
    while behind > 0 and watts[behind - 1] >= least_w:
        behind -= 1
    return behind


@kernel_part
def _any_below(watts: Any, least_w: float) -> bool:
    """Without a way out of the loop, so that several are compared at once."""
    found = False
    for place in range(len(watts)):
        found |= watts[place] < least_w
    return bool(found)


@kernel_part
def first_start_s(st: Books, entry: int, from_s: float) -> float:
    """The first time from one on for which will_run.py may find room for the job; NEVER_S for none.

    That is this time, or when running jobs come to their limits.
    """
    clock = st.clock[0]
    time_s = first_room_s(st, entry, from_s)
    if time_s <= max(from_s, clock.now_s + 1.0):
        return time_s
    first = clock.first_running
    return _time_from(st.running_end[first : first + clock.running], time_s)


@kernel_part
def _time_from(times_s: Any, time_s: float) -> float:
    """The first of these times that is not before a time; NEVER_S where none is."""
    place = _first_from(times_s, time_s)
    return float(times_s[place]) if place < len(times_s) else NEVER_S


@kernel_part
def _first_from(times_s: Any, time_s: float) -> int:
    """The place of that time; past all where there is none."""
    low, size = 0, len(times_s)
    while size > 1:  # as in `_last_until`
        half = size // 2
        low += half if times_s[low + half - 1] < time_s else 0
        size -= half
    return low + 1 if size == 1 and times_s[low] < time_s else low


@kernel_part
def _until_s(st: Books, job: int, start_s: float) -> float:
    """Until when it needs room, as far as that is known."""
    return min(counted_until(st, start_s, st.ask[job].limit_s), st.clock[0].room_until_s)


@kernel_part
def watts_fit(st: Books, job: int, start_s: float, held: int) -> bool:
    """What cap_allows says of the job on the nodes that were picked, beside what is planned."""
    watts = picked_watts(st, job, 0) + woken_watts(st)
    end_s = _until_s(st, job, start_s)
    room_s, room_w = st.room_s, st.room_w
    stop = _first_from(room_s[: st.clock[0].rooms], end_s)
    left_w = room_w[_last_until(st, start_s) : stop]
    if _any_below(left_w, watts - SLACK_W):
        return False
    if end_s < st.clock[0].room_until_s and not _any_below(left_w, watts + SLACK_W):
        return start_s > st.clock[0].now_s or stays_under_cap(st, job, watts, 0)
    return cap_allows(st, job, start_s, held, 0.0, 0)
