"""Limits of parts without what saves time: sums of all that runs and is planned, for every try.

Plain functions for `shared_slowly.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wattline.shared_nodes.cap import ROUNDING_W
from wattline.shared_nodes.choosing import choose
from wattline.shared_nodes.power import node_watts


def place_within_parts(
    st: Any, entry: int, gather: Callable[[Any, int], bool], start_s: float, held: int
) -> bool:
    """Choose nodes, and again without the like of the first in a part that would be full."""
    job = st.entry[entry].job
    closed: list[int] = []
    found = False
    while not found and gather(st, entry) and choose(st, job):
        over = _first_over(st, job, start_s, held)
        found = over is None
        if over is not None:
            place, bound = over
            kept = [int(node) for node in st.pick[:place]]
            kind = st.node_kind[st.pick[place]]
            inside = st.bound_node[st.bound_parts[bound] : st.bound_parts[bound + 1]]
            closing = [int(node) for node in inside if st.mask[node]
                       and st.node_kind[node] == kind and node not in kept]
            st.mask[closing] = False
            closed += closing
    st.mask[closed] = True
    return found


def _first_over(st: Any, job: int, start_s: float, held: int) -> tuple[int, int] | None:
    """The first of `pick` with which a part would pass its limit, and that part."""
    added_w = [0.0] * st.rules[0].bounded
    for place in range(st.clock[0].picked):
        node = st.pick[place]
        watts = node_watts(st, job, place, 0)
        for index in range(st.node_parts[node], st.node_parts[node + 1]):
            bound = st.part_bound[index]
            added_w[bound] += watts * st.part_share[index]
            if added_w[bound] > _least_w(st, job, bound, start_s, held) + ROUNDING_W:
                return place, int(bound)
    return None


def _least_w(st: Any, job: int, bound: int, start_s: float, held: int) -> float:
    """Watts that are left at every time of the job at which there may be fewer than before."""
    now_s = st.clock[0].now_s
    begin_s = max(start_s, now_s + 1e-6)
    end_s = start_s + st.ask[job].limit_s
    if start_s > now_s:
        end_s = max(rounded(st, end_s), rounded(st, start_s) + st.rules[0].bf_resolution_s)
    times_s = [begin_s, *(time_s for time_s in st.held_begin[:held] if begin_s <= time_s < end_s)]
    left_w = [_left_at(st, bound, time_s, held) for time_s in times_s]
    return min([*left_w, float(st.bound_room_w[bound])] if start_s <= now_s else left_w)


def _left_at(st: Any, bound: int, time_s: float, held: int) -> float:
    """Beside what runs beyond its limit then, which is after now, and all plans."""
    total_w = float(st.bound_room_w[bound])
    for index in range(st.bound_parts[bound], st.bound_parts[bound + 1]):
        row = st.node_first[st.bound_node[index]]
        while row >= 0:
            if rounded(st, st.row_end[row]) <= time_s:
                total_w += st.row_w[row] * st.bound_share[index]
            row = st.row_next[row]
    for plan in range(held):
        if st.held_begin[plan] <= time_s < st.held_end[plan]:
            total_w -= st.plan_w[plan * st.rules[0].bounded + bound]
    return total_w


def rounded(st: Any, time_s: float) -> float:
    """Down to the resolution of backfill, in Unix time."""
    step_s, unix_s = st.rules[0].bf_resolution_s, st.rules[0].unix_s
    return float((time_s + unix_s) // step_s * step_s - unix_s)
