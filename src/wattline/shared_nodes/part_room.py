"""The watts that limits of parts leave from now on, for each part as steps in time.

As room.py has them for the cap: in a backfill cycle running jobs give back what they draw at their
limits, and what is planned or started takes watts for as long as its limit says. The first step of
a part is what it has left now. Less and less is left in the course of a cycle, so that of a request
it is remembered from when on each part may have room for it.

The steps are sums in another order than those of bounds.py. Where that may matter, bounds.py adds
up anew what is left.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.planned_times import JUST_AFTER_S, counted_until, rounded_down
from wattline.shared_nodes.state import NEVER_S, Books
from wattline.shared_nodes.steps import (
    any_below,
    behind_last_below,
    first_from,
    last_until,
    open_place,
)

SLACK_W = 1e-3
"""Of the fewest watts of a job, which are a sum in yet another order."""


@kernel_part
def list_part_room(st: Books) -> None:
    """List the steps of this cycle, with nothing planned yet, where that has not been done."""
    clock = st.clock[0]
    if clock.listed_cycle == clock.backfills:
        return
    clock.listed_cycle = clock.backfills
    steps, count, step_s, step_w = st.bound_steps, st.bound_count, st.bound_s, st.bound_w
    just_after_s = clock.now_s + JUST_AFTER_S
    for bound in range(st.rules[0].bounded):
        first = steps[bound]
        step_s[first] = clock.now_s
        step_s[first + 1] = just_after_s
        step_w[first] = st.bound_room_w[bound]
        step_w[first + 1] = st.bound_room_w[bound]
        count[bound] = 2
        st.bound_changes[bound] += 1
    for place in range(clock.first_running, clock.first_running + clock.running):
        job = st.running[place]
        end_s = max(rounded_down(st, st.running_end[place]), just_after_s)
        first_row = st.ask[job].first_row
        for row in range(first_row, first_row + st.live[job].nodes):
            node = st.row_node[row]
            for index in range(st.node_parts[node], st.node_parts[node + 1]):
                bound = st.part_bound[index]
                last = steps[bound] + count[bound] - 1
                if step_s[last] < end_s:
                    last += 1
                    count[bound] += 1
                    step_s[last] = end_s
                    step_w[last] = step_w[last - 1]
                step_w[last] += st.row_w[row] * st.part_share[index]


@kernel_part
def take_for_start(st: Books, job: int) -> None:
    """A job that started takes its watts in the parts of its nodes, up to its limit."""
    now_s = st.clock[0].now_s
    end_s = max(rounded_down(st, st.live[job].limit_end_s), now_s + JUST_AFTER_S)
    first = st.ask[job].first_row
    for row in range(first, first + st.live[job].nodes):
        node = st.row_node[row]
        for index in range(st.node_parts[node], st.node_parts[node + 1]):
            take_in_part(st, st.part_bound[index], now_s, end_s,
                         st.row_w[row] * st.part_share[index])


@kernel_part
def take_in_part(st: Books, bound: int, begin_s: float, end_s: float, watts: float) -> None:
    """A job takes so many watts of a part between these times."""
    if begin_s >= end_s:
        return
    first = _step_at(st, bound, begin_s)
    last = _step_at(st, bound, end_s)
    step_w = st.bound_w[first:last]
    for place in range(len(step_w)):
        step_w[place] -= watts
    st.bound_changes[bound] += 1


@kernel_part
def _step_at(st: Books, bound: int, time_s: float) -> int:
    """The step of a part that begins at a time; made if there is none."""
    first, count = st.bound_steps[bound], st.bound_count[bound]
    place = first + last_until(st.bound_s[first : first + count], time_s)
    if st.bound_s[place] == time_s:
        return int(place)
    place += 1
    open_place(st.bound_s[place : first + count + 1])
    open_place(st.bound_w[place : first + count + 1])
    st.bound_s[place] = time_s
    st.bound_w[place] = st.bound_w[place - 1]
    st.bound_count[bound] = count + 1
    return int(place)


@kernel_part
def least_in_part(st: Books, job: int, bound: int, start_s: float) -> float:
    """Watts that a part has left at every time of a job that starts then, beside all plans."""
    first = st.bound_steps[bound]
    step_s = st.bound_s[first : first + st.bound_count[bound]]
    stop = first_from(step_s, counted_until(st, start_s, st.ask[job].limit_s))
    begin = last_until(step_s, start_s)
    step_w = st.bound_w[first + begin : first + max(stop, begin + 1)]
    least_w = step_w[0]
    for place in range(1, len(step_w)):
        least_w = min(least_w, step_w[place])
    return float(least_w)


@kernel_part
def find_part_starts(st: Books, entry: int) -> int:
    """Find for each part from when on it may have room for a job; where these times stand.

    They are kept for all that ask for the same, as long as no watts of the part were taken.
    """
    row = st.entry[entry]
    cycle = st.clock[0].backfills
    bounds = st.rules[0].bounded
    slot = row.ask % len(st.start_ask)
    first = slot * bounds
    if st.start_ask[slot] != row.ask or st.start_cycle[slot] != cycle:
        st.start_ask[slot] = row.ask
        st.start_cycle[slot] = cycle
        for bound in range(bounds):
            st.start_from_s[first + bound] = st.clock[0].now_s
            st.start_seen[first + bound] = -1
    for bound in range(bounds):
        if st.start_seen[first + bound] != st.bound_changes[bound]:
            st.start_seen[first + bound] = st.bound_changes[bound]
            st.start_from_s[first + bound] = _first_start_s(
                st, row.job, bound, row.node_least_w * st.bound_least_share[bound] - SLACK_W,
                st.start_from_s[first + bound])
    return first


@kernel_part
def first_in_parts_s(st: Books, node: int, starts: int) -> float:
    """From when on all parts of a node may have room, by the times that stand there."""
    found_s = st.clock[0].now_s
    for index in range(st.node_parts[node], st.node_parts[node + 1]):
        found_s = max(found_s, st.start_from_s[starts + st.part_bound[index]])
    return float(found_s)


@kernel_part
def _first_start_s(st: Books, job: int, bound: int, least_w: float, from_s: float) -> float:
    """The first start from a time on at which a part has so many watts for as long as the job may
    last; NEVER_S where there is none."""
    if from_s >= NEVER_S:
        return NEVER_S
    first = st.bound_steps[bound]
    step_s = st.bound_s[first : first + st.bound_count[bound]]
    step_w = st.bound_w[first : first + st.bound_count[bound]]
    limit_s = st.ask[job].limit_s
    start_s = from_s
    if start_s <= st.clock[0].now_s:  # counts longer than who starts a moment later
        if not any_below(step_w[: first_from(step_s, counted_until(st, start_s, limit_s))],
                         least_w):
            return float(start_s)
        start_s = st.clock[0].now_s + JUST_AFTER_S
    place = last_until(step_s, start_s)
    while True:
        stop = first_from(step_s, counted_until(st, start_s, limit_s))
        behind = behind_last_below(step_w[place : max(stop, place + 1)], least_w)
        if behind == 0:
            return float(start_s)
        place += behind
        while place < len(step_w) and step_w[place] < least_w:
            place += 1
        if place == len(step_w):
            return NEVER_S
        start_s = step_s[place]
