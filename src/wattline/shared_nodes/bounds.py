"""Limits on the watts of parts of the machine: racks, distribution units, feeds.

Not a rule of Slurm's. As with the cap, a job may start now only if every part that it has nodes of
stays within its limit with what runs there, and be planned, or start beside plans, if there is room
in what plans leave, where jobs end at their limits. Nodes that sleep count as idle, and jobs whose
nodes boot as if they ran.
"""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.cap import ROUNDING_W
from wattline.shared_nodes.planned_times import JUST_AFTER_S, counted_until, step_after
from wattline.shared_nodes.power import node_watts
from wattline.shared_nodes.state import Books


@kernel_part
def draw_on_row(st: Books, row: int, watts: float) -> None:
    """A job draws so much on the node of a row of allocations, until `leave_row`."""
    node = st.row_node[row]
    for index in range(st.node_parts[node], st.node_parts[node + 1]):
        st.bound_room_w[st.part_bound[index]] -= watts * st.part_share[index]


@kernel_part
def leave_row(st: Books, row: int) -> None:
    node = st.row_node[row]
    for index in range(st.node_parts[node], st.node_parts[node + 1]):
        st.bound_room_w[st.part_bound[index]] += st.row_w[row] * st.part_share[index]


@kernel_part
def place_over_bounds(st: Books, job: int, start_s: float, held: int, bank: int) -> int:
    """The first of `pick` with which a part would pass its limit, which is `full`; -1: none.

    `held` and `bank` are as for the cap.
    """
    clock = st.clock[0]
    added_w, left_w = st.bound_added_w, st.bound_left_w
    found = -1
    for place in range(clock.picked):
        watts = node_watts(st, job, place, bank)
        node = st.pick[place]
        for index in range(st.node_parts[node], st.node_parts[node + 1]):
            bound = st.part_bound[index]
            if np.isnan(left_w[bound]):
                left_w[bound] = _least_room(st, job, bound, start_s, held, bank)
            added_w[bound] += watts * st.part_share[index]
            if found < 0 and added_w[bound] > left_w[bound] + ROUNDING_W:
                found = place
                clock.full = bound
    for place in range(clock.picked):
        node = st.pick[place]
        for index in range(st.node_parts[node], st.node_parts[node + 1]):
            added_w[st.part_bound[index]] = 0.0
            left_w[st.part_bound[index]] = np.nan
    return found


@kernel_part
def _least_room(
    st: Books, job: int, bound: int, start_s: float, held: int, bank: int
) -> float:
    """Watts that a part has left at every time of a job that starts then.

    One that starts now adds to what the part draws now, until whatever time.
    """
    now_s = st.clock[0].now_s
    if start_s > now_s:
        return _least_beside_plans(st, job, bound, start_s, start_s, held)
    room_w = float(st.bound_room_w[bound] + (_given_up(st, bound) if bank != 0 else 0.0))
    if held > 0:
        room_w = min(room_w, _least_beside_plans(
            st, job, bound, start_s, now_s + JUST_AFTER_S, held))
    return room_w


@kernel_part
def _least_beside_plans(
    st: Books, job: int, bound: int, start_s: float, begin_s: float, held: int
) -> float:
    """They are fewest when it begins to count, or when a job begins that is planned there."""
    bounds = st.rules[0].bounded
    room_w = st.bound_room_w[bound]
    end_s = counted_until(st, start_s, st.ask[job].limit_s)
    least_w = room_w + _past_limits(st, bound, begin_s)
    for row in range(held):
        if st.held_begin[row] <= begin_s < st.held_end[row]:
            least_w -= st.plan_w[row * bounds + bound]
    for row in range(held):
        if begin_s < st.held_begin[row] < end_s and st.plan_w[row * bounds + bound] > 0.0:
            least_w = min(least_w, room_w + _past_limits(st, bound, st.held_begin[row])
                          - st.plan_sum_w[row * bounds + bound])
    return float(least_w)


@kernel_part
def _past_limits(st: Books, bound: int, time_s: float) -> float:
    """Watts in a part of the running jobs that plans count as over by then, which is after now."""
    total = 0.0
    step_s = step_after(st, time_s)
    for index in range(st.bound_parts[bound], st.bound_parts[bound + 1]):
        row = st.node_first[st.bound_node[index]]
        while row >= 0 and st.row_end[row] < step_s:
            total += st.row_w[row] * st.bound_share[index]
            row = st.row_next[row]
    return total


@kernel_part
def _given_up(st: Books, bound: int) -> float:
    """Watts in a part of the running jobs that would give way."""
    total = 0.0
    for index in range(st.bound_parts[bound], st.bound_parts[bound + 1]):
        row = st.node_first[st.bound_node[index]]
        while row >= 0:
            if st.live[st.row_job[row]].leaves != 0:
                total += st.row_w[row] * st.bound_share[index]
            row = st.row_next[row]
    return total


@kernel_part
def hold_in_parts(st: Books, row: int, job: int) -> None:
    """Keep the watts of a planned job in the parts of its nodes, for the times of its row.

    Beside each is kept what all plans of the part draw when it begins, as with the cap.
    """
    bounds = st.rules[0].bounded
    plan_w, sum_w = st.plan_w, st.plan_sum_w
    first = row * bounds
    for bound in range(bounds):
        plan_w[first + bound] = 0.0
        sum_w[first + bound] = 0.0
    for place in range(st.clock[0].picked):
        node = st.pick[place]
        watts = node_watts(st, job, place, 0)
        for index in range(st.node_parts[node], st.node_parts[node + 1]):
            plan_w[first + st.part_bound[index]] += watts * st.part_share[index]
    begin_s, end_s = st.held_begin[row], st.held_end[row]
    for bound in range(bounds):
        sum_w[first + bound] = plan_w[first + bound]
    for other in range(row):
        of_other = other * bounds
        goes_on = st.held_begin[other] <= begin_s < st.held_end[other]
        comes = begin_s <= st.held_begin[other] < end_s
        for bound in range(bounds):
            if goes_on:
                sum_w[first + bound] += plan_w[of_other + bound]
            if comes:
                sum_w[of_other + bound] += plan_w[first + bound]
