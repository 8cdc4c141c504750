"""When and where a job could start, if running jobs end at their limits.

select_plugins.html, "will run": the job is tried now; then running jobs are let end in the order of
their limits, those that end close together at once (within 30 seconds, doubled after every try),
and the job is tried after each group.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.alike import (
    forget_plan,
    is_plan_kept,
    keep_plan,
    may_be_kept,
    place_from_list,
    plan_as_before,
    steps_as_before,
)
from wattline.shared_nodes.offers import (
    NOW_S,
    first_ready_s,
    forget_ready,
    offers_now,
    ready_by,
)
from wattline.shared_nodes.room import first_room_s, first_start_s, watts_fit
from wattline.shared_nodes.running import touches
from wattline.shared_nodes.state import NEVER_S, Books
from wattline.shared_nodes.within_bounds import NOW, place_within

FIRST_WINDOW_S = 30.0


@kernel_part
def will_run(st: Books, entry: int, held: int, until_s: float) -> float:
    """The earliest start on nodes of `mask`, NEVER_S where none is before `until_s`.

    It is not before `open_from_s`, for which they were masked.
    """
    offers_now(st, entry)
    forget_ready(st, entry)
    if not is_plan_kept(st, entry):
        forget_plan(st)
        return _look_on(st, entry, held, until_s, False, 0)
    kept = st.clock[0].kept_steps
    known = steps_as_before(st)
    if known == kept:
        start_s = plan_as_before(st, entry, held, until_s)
        if start_s < NEVER_S:
            return start_s
    st.clock[0].kept_steps = 0
    # The last of them only says where the last group ended.
    known = kept if 0 < kept - 1 <= known else 0
    return _look_on(st, entry, held, until_s, True, known)


@kernel_part
def _look_on(
    st: Books, entry: int, held: int, until_s: float, is_kept: bool, known: int
) -> float:
    """As `will_run`; who follows its like cannot start now, and so many of its steps are known."""
    from_s = st.clock[0].open_from_s
    job = st.entry[entry].job
    ready_s = first_ready_s(st, entry)
    room_s = first_start_s(st, entry, from_s) if st.rules[0].capped != 0 else from_s
    if room_s > until_s:
        return NEVER_S
    several = st.ask[job].min_nodes > 1  # for one node the first that is ready says it all
    if not is_kept and room_s <= from_s and ready_s <= NOW_S and (
            not several or ready_by(st, entry, NOW_S)) and (
            place_within(st, entry, NOW, from_s, held, 0) and _power_allows(st, job, from_s, held)):
        return float(from_s)
    if ready_s > until_s or (several and not ready_by(st, entry, until_s)):
        return NEVER_S
    return _after_ends(st, entry, held, until_s, known, ready_s, room_s)


@kernel_part
def _after_ends(
    st: Books, entry: int, held: int, until_s: float, known: int, ready_s: float, room_s: float
) -> float:
    """Let running jobs end, one group after the other, and try the job after each.

    From the last of so many steps on by which the job before was planned (0: from the first end).
    """
    clock = st.clock[0]
    job = st.entry[entry].job
    several = st.ask[job].min_nodes > 1
    listed = may_be_kept(st, entry)
    end = clock.first_running + clock.running
    past = first_after(st, until_s)
    place = st.step[0] if known > 0 else _next_that_touches(st, clock.first_running)
    if place >= past:
        return NEVER_S
    edge_s = st.running_end[place] + FIRST_WINDOW_S
    edge_s -= (st.running_end[place] + st.rules[0].unix_s) % FIRST_WINDOW_S
    steps, window_s = _step_to(st, 0, place), FIRST_WINDOW_S
    if known > 0:
        steps, place, window_s = known - 1, clock.kept_place, clock.kept_window_s
    while place < end:
        first, first_window_s = place, window_s
        # Together end those up to the first, of the job's nodes, that another outside follows.
        last = _next_that_touches(st, max(first_after(st, edge_s + window_s) - 1, place))
        ended = last + 1
        if last == end:
            last = _last_that_touches(st, place)
            ended = end
        if last < place or last >= past:
            return NEVER_S
        steps = _step_to(st, steps, last)
        place = ended
        window_s *= 2.0
        while place < end and st.running_end[place] > edge_s + window_s:
            window_s *= 2.0
        start_s = max(st.running_end[last], clock.now_s + 1.0, clock.open_from_s)
        if st.running_end[last] < ready_s or (
                several and not ready_by(st, entry, st.running_end[last])):
            continue
        if st.rules[0].capped != 0:
            # Of who draws the same on all nodes, from a list, the watts are looked at behind that.
            if room_s < start_s and not listed:
                room_s = first_room_s(st, entry, start_s)
            if room_s > until_s:
                return NEVER_S
            if room_s > start_s:
                continue
        found = place_from_list(st, entry, place, start_s, held) if listed else (
            place_within(st, entry, place, start_s, held, 0))
        if found and _power_allows(st, job, start_s, held):
            if listed:
                keep_plan(st, steps, first, first_window_s)
            return float(start_s)
        if found and listed and st.rules[0].capped != 0:
            room_s = first_room_s(st, entry, start_s)
    return NEVER_S


@kernel_part
def _step_to(st: Books, steps: int, place: int) -> int:
    """Write down by the end of which running job the search went on; how many there are."""
    if steps < len(st.step):
        st.step[steps] = place
    return steps + 1


@kernel_part
def _power_allows(st: Books, job: int, start_s: float, held: int) -> bool:
    """Whether the cap, beside what is planned, lets the job start then."""
    return bool(st.rules[0].capped == 0 or watts_fit(st, job, start_s, held))


@kernel_part
def first_after(st: Books, time_s: float) -> int:
    """The first place of a running job that may end after this time."""
    low = st.clock[0].first_running
    high = low + st.clock[0].running
    while low < high:
        middle = (low + high) // 2
        if st.running_end[middle] > time_s:
            high = middle
        else:
            low = middle + 1
    return low


@kernel_part
def _next_that_touches(st: Books, place: int) -> int:
    """The first running job from this place on that is on a node of `mask`; past all if none."""
    end = st.clock[0].first_running + st.clock[0].running
    running_node, mask = st.running_node, st.mask
    while place < end:
        node = running_node[place]
        if (node >= 0 and mask[node]) or (node < 0 and touches(st, place)):
            return place
        place += 1
    return place


@kernel_part
def _last_that_touches(st: Books, first: int) -> int:
    """The last running job on a node of `mask`; before `first` where none is from there on."""
    place = st.clock[0].first_running + st.clock[0].running - 1
    while place >= first and not touches(st, place):
        place -= 1
    return place
