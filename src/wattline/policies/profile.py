"""The plan of free units over time: a step function with rectangles put in and taken out."""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.in_order import units_in_order
from wattline.policies.state import BEGUN, BLOCK, State

INFINITY = float("inf")


@kernel
def plan_running(st: State) -> None:
    """The plan as running jobs and reservation windows make it, before any queued job.

    Units of overdue jobs are expected back at any moment: the plan counts them as free. Units that
    are out of order are not there, and those that are held do not come back: what ends first, or
    the reservations of now, gives them up.
    """
    clock = st.clock[0]
    now_s = clock.now_s
    clock.step_first = 0
    clock.step_last = 1
    st.profile[0].time_s = -INFINITY
    st.profile[0].free = units_in_order(st) - clock.off - clock.changing
    owed = clock.down_owed
    for place in range(clock.blocks):
        first = st.blocks[place].order * BLOCK
        for index in range(first, first + st.blocks[st.blocks[place].order].count):
            expected_s = st.releases[index].expected_s
            add_to_profile(st, now_s, expected_s, -st.releases[index].units)
            if owed > 0:
                owed -= _lose(st, max(expected_s, now_s), min(owed, st.releases[index].units))
    for window in range(st.windows.size):
        if st.windows[window].end_s > now_s:
            start_s = max(st.windows[window].start_s, now_s)
            add_to_profile(st, start_s, st.windows[window].end_s, -st.windows[window].units)
            if owed > 0 and st.windows[window].stage == BEGUN:
                end_s = st.windows[window].end_s
                owed -= _lose(st, end_s, min(owed, st.windows[window].units))


@kernel
def _lose(st: State, from_s: float, units: int) -> int:
    """Take units out of the plan for good; how many."""
    add_to_profile(st, from_s, INFINITY, -units)
    return units


@kernel
def add_to_profile(st: State, start_s: float, end_s: float, units: int) -> None:
    """Add `units` (negative to take) from `start_s` to `end_s`."""
    if not start_s < end_s:
        return
    first = _split(st, start_s)
    last = st.clock[0].step_last if end_s == INFINITY else _split(st, end_s)
    steps = st.profile[first:last]
    for index in range(len(steps)):
        steps[index].free += units
    # Edges that no longer are edges would pile up.
    if end_s < INFINITY:
        _join_at(st, last)
    _join_at(st, first)


@kernel
def earliest(st: State, from_s: float, size: int, duration_s: float) -> float:
    """The first time not before `from_s` at which `size` units are free for `duration_s`."""
    last = st.clock[0].step_last
    start_s = from_s
    index = find_step(st, from_s)
    while index < last:
        if st.profile[index].free < size:
            index += 1
            if index == last:
                return INFINITY
            start_s = st.profile[index].time_s
        else:
            index += 1
            if index == last or st.profile[index].time_s >= start_s + duration_s:
                return start_s
    return INFINITY


@kernel
def earlier(
    st: State, from_s: float, before_s: float, planned_s: float, size: int, duration_s: float
) -> float:
    """The first time from `from_s` on and before `before_s` to which a reservation can move, or
    `planned_s`, where it is.

    From its planned start on it has its own units: only what is free before that matters.
    """
    last = st.clock[0].step_last
    start_s = from_s
    index = find_step(st, start_s)
    while start_s < before_s:
        enough = st.profile[index].free >= size
        index += 1
        if enough and (
            index == last or st.profile[index].time_s >= min(start_s + duration_s, planned_s)
        ):
            return start_s
        if index == last:
            return planned_s
        if not enough:
            start_s = st.profile[index].time_s
    return planned_s


@kernel
def first_chance_s(st: State, known: int, size: int, duration_s: float) -> float:
    """The time before which there is no room for so much, by the first `known` of `no_room`."""
    chance_s = st.clock[0].now_s
    for index in range(known):
        row = st.no_room[index]
        if row.units <= size and row.duration_s <= duration_s:
            chance_s = max(chance_s, row.before_s)
    return float(chance_s)


@kernel
def note_no_room(
    st: State, known: int, size: int, duration_s: float, before_s: float
) -> int:
    """Add what a search found to the first `known` of `no_room`; how many there are then.

    Those that say no more than it are dropped. Where no room is left for it, it is not kept.
    """
    kept = 0
    for index in range(known):
        row = st.no_room[index]
        if row.units < size or row.duration_s < duration_s or row.before_s > before_s:
            if kept != index:
                st.no_room[kept] = row
            kept += 1
    if kept < len(st.no_room):
        st.no_room[kept].units = size
        st.no_room[kept].duration_s = duration_s
        st.no_room[kept].before_s = before_s
        kept += 1
    return kept


@kernel
def most_free(st: State, from_s: float, until_s: float) -> int:
    """The largest number of units free at any time in [from_s, until_s)."""
    index = find_step(st, from_s)
    most = st.profile[index].free
    index += 1
    while index < st.clock[0].step_last and st.profile[index].time_s < until_s:
        most = max(most, st.profile[index].free)
        index += 1
    return int(most)


@kernel
def forget_past(st: State) -> None:
    """Drop steps that ended before now."""
    clock = st.clock[0]
    while (
        clock.step_first + 1 < clock.step_last
        and st.profile[clock.step_first + 1].time_s <= clock.now_s
    ):
        clock.step_first += 1


@kernel
def find_step(st: State, time_s: float) -> int:
    """The step that holds at this time (the first one for times before it)."""
    low = st.clock[0].step_first
    high = st.clock[0].step_last - 1
    while low < high:
        middle = (low + high + 1) // 2
        if st.profile[middle].time_s <= time_s:
            low = middle
        else:
            high = middle - 1
    return int(low)


@kernel
def _split(st: State, time_s: float) -> int:
    """Make sure that a step begins at this time; its index."""
    clock = st.clock[0]
    if clock.step_last == st.profile.size:
        _make_room(st)
    index = find_step(st, time_s)
    if st.profile[index].time_s >= time_s:
        return index
    # Counted from 0 in a part of the profile, it is compiled to one move of memory.
    behind = st.profile[index + 1 : clock.step_last + 1]
    for other in range(len(behind) - 1, 0, -1):
        behind[other] = behind[other - 1]
    clock.step_last += 1
    st.profile[index + 1].time_s = time_s
    st.profile[index + 1].free = st.profile[index].free
    return index + 1


@kernel
def _join_at(st: State, index: int) -> None:
    """Drop the step at `index` where it continues the one before it."""
    clock = st.clock[0]
    if index <= clock.step_first or st.profile[index].free != st.profile[index - 1].free:
        return
    behind = st.profile[index : clock.step_last]
    for other in range(len(behind) - 1):
        behind[other] = behind[other + 1]
    clock.step_last -= 1


@kernel
def _make_room(st: State) -> None:
    clock = st.clock[0]
    first = clock.step_first
    for index in range(first, clock.step_last):
        st.profile[index - first] = st.profile[index]
    clock.step_last -= first
    clock.step_first = 0
