"""The plan of free units over time: a step function with rectangles put in and taken out."""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.in_order import units_in_order
from wattline.policies.releases import list_deferred
from wattline.policies.state import BEGUN, BLOCK, State

INFINITY = float("inf")
MOST_NEW = 4
"""Steps that a rectangle that is moved may add."""
ROUNDING_S = 1e-3
"""More than sums of times are rounded by."""


@kernel
def plan_running(st: State) -> None:
    """The plan as running jobs and reservation windows make it, before any queued job.

    Units of overdue jobs are expected back at any moment: the plan counts them as free. Units that
    are out of order are not there, and those that are held do not come back: what ends first, or
    the reservations of now, gives them up.
    """
    list_deferred(st)
    clock = st.clock[0]
    now_s = clock.now_s
    clock.step_first = 0
    clock.step_last = 1
    st.profile[0].time_s = -INFINITY
    st.profile[0].free = units_in_order(st) - clock.off - clock.changing
    held = 0
    for place in range(clock.blocks):
        first = st.blocks[place].order * BLOCK
        for index in range(first, first + st.blocks[st.blocks[place].order].count):
            if st.releases[index].expected_s > now_s:
                held += st.releases[index].units
    add_to_profile(st, now_s, INFINITY, -held)
    owed = clock.down_owed
    for place in range(clock.blocks):
        first = st.blocks[place].order * BLOCK
        for index in range(first, first + st.blocks[st.blocks[place].order].count):
            release = st.releases[index]
            lost = min(owed, release.units)
            owed -= lost
            if release.expected_s > now_s:
                _give_back(st, release.expected_s, release.units - lost)
            else:
                _lose(st, now_s, lost)
    for window in range(st.windows.size):
        if st.windows[window].end_s > now_s:
            start_s = max(st.windows[window].start_s, now_s)
            add_to_profile(st, start_s, st.windows[window].end_s, -st.windows[window].units)
            if owed > 0 and st.windows[window].stage == BEGUN:
                end_s = st.windows[window].end_s
                owed -= _lose(st, end_s, min(owed, st.windows[window].units))


@kernel
def _give_back(st: State, from_s: float, units: int) -> None:
    """Add units from a time on for good: mostly one behind all steps."""
    clock = st.clock[0]
    last = clock.step_last - 1
    if from_s > st.profile[last].time_s and units > 0 and from_s < INFINITY:
        _make_room(st)
        last = clock.step_last
        st.profile[last].time_s = from_s
        st.profile[last].free = st.profile[last - 1].free + units
        clock.step_last += 1
    else:
        add_to_profile(st, from_s, INFINITY, units)


@kernel
def _lose(st: State, from_s: float, units: int) -> int:
    """Take units out of the plan for good; how many."""
    add_to_profile(st, from_s, INFINITY, -units)
    return units


@kernel
def add_to_profile(st: State, start_s: float, end_s: float, units: int) -> None:
    """Add `units` (negative to take) from `start_s` to `end_s`."""
    if start_s < end_s and units != 0:
        _make_room(st)
        _add_from(st, find_step(st, start_s), start_s, end_s, units)


@kernel
def take_earliest(
    st: State, from_s: float, units: int, duration_s: float
) -> tuple[float, float]:
    """Take units for so long at the first time not before `from_s` at which they are free.

    Returns that time, and for how long at most they are free from a time between the two on.
    Where they never are, nothing is taken.
    """
    _make_room(st)
    start_s, index, longest_s = _first_room(st, from_s, units, duration_s)
    if start_s < start_s + duration_s:
        _add_from(st, index, start_s, start_s + duration_s, -units)
    return start_s, longest_s


@kernel
def take_earlier(
    st: State, from_s: float, before_s: float, planned_s: float, units: int, duration_s: float
) -> tuple[float, float]:
    """Move units that are taken from `planned_s` on to the first time from `from_s` on and before
    `before_s` at which they could be.

    Returns when they are taken then, and for how long at most they are free from a time between
    `from_s` and that, or `before_s`, on. From its planned start on a job has its own units: only
    what is free before that matters.
    """
    _make_room(st)
    start_s, index, longest_s = _room_before(
        st, from_s, before_s, planned_s, units, duration_s)
    end_s = start_s + duration_s
    if start_s < planned_s:
        index = _add_from(st, index, start_s, min(end_s, planned_s), -units)
        back_s = max(end_s, planned_s)
        if back_s < planned_s + duration_s:
            _add_from(st, _step_from(st, index, back_s), back_s, planned_s + duration_s, units)
    return start_s, longest_s


@kernel
def _add_from(st: State, index: int, start_s: float, end_s: float, units: int) -> int:
    """Add units from `start_s`, which lies in the step `index`, to `end_s`.

    Returns a step that begins before `end_s`. There must be room for two steps more.
    """
    clock = st.clock[0]
    if st.profile[index].time_s < start_s:
        _insert(st, index + 1, start_s, st.profile[index].free)
        index += 1
    behind = index
    while behind < clock.step_last and st.profile[behind].time_s < end_s:
        st.profile[behind].free += units
        behind += 1
    if index < behind and end_s < INFINITY and (
            behind == clock.step_last or st.profile[behind].time_s > end_s):
        _insert(st, behind, end_s, st.profile[behind - 1].free - units)
    # Edges that no longer are edges would pile up.
    if behind < clock.step_last:
        _join_at(st, behind)
    _join_at(st, index)
    return behind - 2


@kernel
def earliest(st: State, from_s: float, size: int, duration_s: float) -> float:
    """The first time not before `from_s` at which `size` units are free for `duration_s`."""
    start_s, _, _ = _first_room(st, from_s, size, duration_s)
    return start_s


@kernel
def _first_room(
    st: State, from_s: float, size: int, duration_s: float
) -> tuple[float, int, float]:
    """The same, the step in which that time lies, and the longest time free before it."""
    last = st.clock[0].step_last
    start_s = from_s
    index = find_step(st, from_s)
    start = index
    longest_s = 0.0
    while index < last:
        if st.profile[index].free < size:
            if index > start:
                free_s = st.profile[index].time_s - start_s
                longest_s = max(longest_s, free_s + ROUNDING_S)
            index += 1
            if index == last:
                break
            start_s = st.profile[index].time_s
            start = index
        else:
            index += 1
            if index == last or st.profile[index].time_s >= start_s + duration_s:
                return start_s, start, longest_s
    return INFINITY, start, longest_s


@kernel
def _room_before(
    st: State, from_s: float, before_s: float, planned_s: float, size: int, duration_s: float
) -> tuple[float, int, float]:
    """When units that are taken from `planned_s` on could be taken, in which step that is, and the
    longest time free before it.

    Where they cannot before `before_s`, they stay where they are.
    """
    last = st.clock[0].step_last
    start_s = from_s
    index = find_step(st, from_s)
    start = index
    longest_s = 0.0
    while start_s < before_s:
        enough = st.profile[index].free >= size
        if not enough and index > start:
            free_s = st.profile[index].time_s - start_s
            longest_s = max(longest_s, free_s + ROUNDING_S)
        index += 1
        if enough and (
            index == last or st.profile[index].time_s >= min(start_s + duration_s, planned_s)
        ):
            return start_s, start, longest_s
        if index == last:
            break
        if not enough:
            start_s = st.profile[index].time_s
            start = index
    return planned_s, start, longest_s


@kernel
def first_chance(
    st: State, known: int, size: int, duration_s: float, until_s: float
) -> tuple[float, float]:
    """The time before which there is no room for so much, by the first `known` of `no_room`.

    And the longest time for which there may be; 0 where nothing is known. Nothing after `until_s`
    is asked for. A row that says there is none before it is put first: it will mostly do for the
    next as well.
    """
    chance_s = st.clock[0].now_s
    longest_s = 0.0
    for index in range(known):
        row = st.no_room[index]
        if row.before_s > chance_s and row.units <= size and row.longest_s < duration_s:
            chance_s = row.before_s
            longest_s = row.longest_s
            if chance_s >= until_s:
                _put_first(st, index)
                break
    return chance_s, longest_s


@kernel
def _put_first(st: State, index: int) -> None:
    first, row = st.no_room[0], st.no_room[index]
    units, longest_s, before_s = first.units, first.longest_s, first.before_s
    first.units, first.longest_s, first.before_s = row.units, row.longest_s, row.before_s
    row.units, row.longest_s, row.before_s = units, longest_s, before_s


@kernel
def note_no_room(st: State, known: int, size: int, longest_s: float, before_s: float) -> int:
    """Add what a search found to the first `known` of `no_room`; how many there are then.

    Those that say no more than it are dropped. Where no room is left for it, it is not kept.
    """
    kept = 0
    for index in range(known):
        row = st.no_room[index]
        if row.units < size or row.longest_s < longest_s or row.before_s > before_s:
            if kept != index:
                st.no_room[kept] = row
            kept += 1
    if kept < len(st.no_room):
        st.no_room[kept].units = size
        st.no_room[kept].longest_s = longest_s
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
    return _step_from(st, st.clock[0].step_first, time_s)


@kernel
def _step_from(st: State, low: int, time_s: float) -> int:
    """The step that holds at this time, which is not before the step `low` nor long after it."""
    low = max(low, st.clock[0].step_first)
    high = st.clock[0].step_last - 1
    reach = 1
    while low + reach <= high and st.profile[low + reach].time_s <= time_s:
        low += reach
        reach *= 2
    high = min(high, low + reach - 1)
    while low < high:
        middle = (low + high + 1) // 2
        if st.profile[middle].time_s <= time_s:
            low = middle
        else:
            high = middle - 1
    return int(low)


@kernel
def _insert(st: State, index: int, time_s: float, free: int) -> None:
    """Put a step before the one at `index`."""
    clock = st.clock[0]
    # Counted from 0 in a part of the profile, it is compiled to a loop without checks.
    behind = st.profile[index : clock.step_last + 1]
    for other in range(len(behind) - 1, 0, -1):
        behind[other] = behind[other - 1]
    clock.step_last += 1
    st.profile[index].time_s = time_s
    st.profile[index].free = free


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
    """Make sure that there is room for the steps of one change: two at most, or of a move: four."""
    clock = st.clock[0]
    first = clock.step_first
    if clock.step_last + MOST_NEW <= st.profile.size or first == 0:
        return
    for index in range(first, clock.step_last):
        st.profile[index - first] = st.profile[index]
    clock.step_last -= first
    clock.step_first = 0
