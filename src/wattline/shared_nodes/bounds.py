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
from wattline.shared_nodes.part_room import least_in_part, take_in_part
from wattline.shared_nodes.planned_times import JUST_AFTER_S, counted_until, rounded_down
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
def forget_left(st: Books) -> None:
    """Other times are asked about: what parts have left for a job is to be found anew."""
    for bound in range(st.rules[0].bounded):
        st.bound_left_w[bound] = np.nan


@kernel_part
def place_over_bounds(st: Books, job: int, start_s: float, held: int, bank: int) -> int:
    """The first of `pick` with which a part would pass its limit, which is `full`; -1: none.

    `held` and `bank` are as for the cap. What was found to be left is kept until `forget_left`.
    """
    clock = st.clock[0]
    added_w = st.bound_added_w
    found = -1
    for place in range(clock.picked):
        watts = node_watts(st, job, place, bank)
        node = st.pick[place]
        for index in range(st.node_parts[node], st.node_parts[node + 1]):
            bound = st.part_bound[index]
            added_w[bound] += watts * st.part_share[index]
            if found < 0 and _is_over(st, job, bound, start_s, held, bank):
                found = place
                clock.full = bound
        if found >= 0:
            break
    for place in range(clock.picked):
        node = st.pick[place]
        for index in range(st.node_parts[node], st.node_parts[node + 1]):
            added_w[st.part_bound[index]] = 0.0
    return found


@kernel_part
def _is_over(st: Books, job: int, bound: int, start_s: float, held: int, bank: int) -> bool:
    """Whether a part would pass its limit with the watts of `bound_added_w`."""
    over_w = st.bound_added_w[bound] - left_for(st, job, bound, start_s, held, bank) - ROUNDING_W
    if uses_steps(st, start_s, held) and abs(over_w) <= st.bound_slack_w[bound]:
        left_w = _least_beside_plans(st, job, bound, start_s, held)
        over_w = st.bound_added_w[bound] - left_w - ROUNDING_W
    return bool(over_w > 0.0)


@kernel_part
def left_for(st: Books, job: int, bound: int, start_s: float, held: int, bank: int) -> float:
    """Watts that a part has left at every time of a job that starts then.

    One that starts now, with nothing planned, adds to what the part draws now, until whatever time.
    """
    if np.isnan(st.bound_left_w[bound]):
        if uses_steps(st, start_s, held):
            st.bound_left_w[bound] = least_in_part(st, job, bound, start_s)
        else:
            st.bound_left_w[bound] = st.bound_room_w[bound] + (
                _given_up(st, bound) if bank != 0 else 0.0)
    return float(st.bound_left_w[bound])


@kernel_part
def uses_steps(st: Books, start_s: float, held: int) -> bool:
    """Whether what is left changes with time, as part_room.py has it."""
    return bool(held > 0 or start_s > st.clock[0].now_s)


@kernel_part
def _least_beside_plans(st: Books, job: int, bound: int, start_s: float, held: int) -> float:
    """What part_room.py says of a part, added up anew.

    They are fewest when it begins to count, or when a job begins that is planned there; and of one
    that starts now, also now.
    """
    bounds = st.rules[0].bounded
    now_s = st.clock[0].now_s
    room_w = st.bound_room_w[bound]
    begin_s = max(start_s, now_s + JUST_AFTER_S)
    end_s = counted_until(st, start_s, st.ask[job].limit_s)
    least_w = room_w + _past_limits(st, bound, begin_s) - _planned_w(st, bound, begin_s, held)
    for row in range(held):
        time_s = st.held_begin[row]
        if begin_s < time_s < end_s and st.plan_w[row * bounds + bound] > 0.0:
            least_w = min(least_w, room_w + _past_limits(st, bound, time_s)
                          - _planned_w(st, bound, time_s, held))
    return float(min(least_w, room_w) if start_s <= now_s else least_w)


@kernel_part
def _planned_w(st: Books, bound: int, time_s: float, held: int) -> float:
    """Watts of all plans in a part at a time."""
    bounds = st.rules[0].bounded
    total = 0.0
    for row in range(held):
        if st.held_begin[row] <= time_s < st.held_end[row]:
            total += st.plan_w[row * bounds + bound]
    return total


@kernel_part
def _past_limits(st: Books, bound: int, time_s: float) -> float:
    """Watts in a part of the running jobs that plans count as over by then, which is after now."""
    total = 0.0
    for index in range(st.bound_parts[bound], st.bound_parts[bound + 1]):
        row = st.node_first[st.bound_node[index]]
        while row >= 0 and rounded_down(st, st.row_end[row]) <= time_s:
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
    """Keep the watts of a planned job in the parts of its nodes, for the times of its row."""
    bounds = st.rules[0].bounded
    plan_w = st.plan_w
    first = row * bounds
    for bound in range(bounds):
        plan_w[first + bound] = 0.0
    for place in range(st.clock[0].picked):
        node = st.pick[place]
        watts = node_watts(st, job, place, 0)
        for index in range(st.node_parts[node], st.node_parts[node + 1]):
            plan_w[first + st.part_bound[index]] += watts * st.part_share[index]
    for bound in range(bounds):
        if plan_w[first + bound] > 0.0:
            take_in_part(st, bound, st.held_begin[row], st.held_end[row], plan_w[first + bound])
