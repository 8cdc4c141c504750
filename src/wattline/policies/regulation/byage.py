"""Choosing starts by age, over all queues."""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.regulation.cycle import extra_w, free_servers, room_w, under_limit
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.quality import held_back
from wattline.policies.state import State


@kernel
def choose_by_age(st: State, desk: Desk) -> None:
    """Choose the oldest jobs that fit in servers and come nearer to the target.

    A start that overshoots by less than it would leave open is the nearer one; caps do the rest.
    """
    free = free_servers(st, desk)
    left_w = room_w(st, desk)
    for kind in range(desk.types.size):
        desk.types[kind].settled = 0
    while True:
        oldest = _oldest(st, desk)
        if oldest < 0:
            return
        entry = desk.types[oldest]
        each_w = extra_w(st, desk, oldest)
        near = 0.5 * each_w <= left_w
        if entry.servers <= free and near and under_limit(st, desk, oldest):
            entry.starts += 1
            free -= entry.servers
            left_w -= each_w
        else:
            entry.settled = 1  # its next job is no smaller: try the other types


@kernel
def _oldest(st: State, desk: Desk) -> int:
    """The type whose next waiting job was submitted first, or -1."""
    found = -1
    first_s = float("inf")
    for kind in range(desk.types.size):
        entry = desk.types[kind]
        if entry.settled or entry.starts >= entry.waiting or kind == desk.control[0].standby:
            continue
        if held_back(st, desk, kind):
            continue
        submit_s = st.jobs[st.queue[entry.first + entry.starts].job].submit_s
        if submit_s < first_s:
            first_s = submit_s
            found = kind
    return found
