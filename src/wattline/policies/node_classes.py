"""Classes of node that a waiting job would get, so that power is judged by those.

A job is given free nodes class by class: first by the numbers of the nodes or, where the cap has no
room for it there, in the order of what a node of each class raises the power by, least first. What
it would draw is noted before admission is asked, and placement takes the nodes in the same order.
"""

from __future__ import annotations

from wattline.model.kernel import constants, kernel, kernel_part, slot
from wattline.policies.contract import (
    Composition,
    PlacementPolicy,
    carries,
    expect_nodes,
    refuses,
)
from wattline.policies.state import NODE_BLOCK, State

BY_NUMBER, LEAST_RISE = constants(2)
"""Orders in which a job goes through the classes (`live.class_order`)."""


@kernel_part
def expect_classes(st: State, policy: Composition, job: int) -> None:
    """Note what a waiting job would draw on the nodes that it would get now.

    The order by numbers is kept where the cap lets the job start so; where neither order does, it
    waits for that which raises the power least.
    """
    if st.kinds.size < 2:
        return
    live = st.live[job]
    live.class_order = BY_NUMBER
    if expect_nodes(st, policy.placement, job, False) and carries(st, policy.admission, job):
        return
    live.class_order = LEAST_RISE
    expect_nodes(st, policy.placement, job, False)


@kernel_part
def expect_classes_alone(st: State, policy: Composition, job: int) -> bool:
    """The same on an idle machine under the highest cap to come; whether it could never start."""
    live = st.live[job]
    for order in (BY_NUMBER, LEAST_RISE):
        live.class_order = order
        expect_nodes(st, policy.placement, job, True)
        if not refuses(st, policy.admission, job):
            return False
    return True


@kernel
def expect_free(st: State, job: int, least: int, most: int, alone: bool) -> bool:
    """Note idle power and rise of the nodes of these classes that a job would get; False: too few.

    `alone`: all nodes count as free.
    """
    live = st.live[job]
    missing = live.units
    idle_w = 0.0
    active_w = 0.0
    kind = next_class(st, job, least, most, -1)
    while kind >= 0 and missing > 0:
        free = st.kinds[kind].count if alone else free_of_kind(st, kind)
        taken = min(free, missing)
        idle_w += taken * st.kinds[kind].idle_w
        active_w += taken * st.kinds[kind].active_w
        missing -= taken
        kind = next_class(st, job, least, most, kind)
    if missing > 0:
        return False
    if live.own_watts:
        active_w = own_watts(st, job)
    live.idle_w = idle_w
    live.rise_w = active_w - idle_w
    return True


@slot(1, default=True)
def expected_stretch(st: State, placement: PlacementPolicy, job: int) -> float:
    """By how much a waiting job takes longer on the nodes that it would get now, of several
    classes, than at full speed; 1 where that is not known beforehand."""
    return 1.0


@kernel
def stretch_on_free(st: State, job: int, least: int, most: int) -> float:
    """Return by how much a job takes longer on the free nodes of these classes that it would get:
    it goes at the speed of the slowest. 1 where too few are free."""
    if st.kinds.size < 2:
        return 1.0
    missing = st.live[job].units
    speed = float("inf")
    kind = next_class(st, job, least, most, -1)
    while kind >= 0 and missing > 0:
        taken = min(free_of_kind(st, kind), missing)
        if taken > 0:
            speed = min(speed, st.kinds[kind].speed)
        missing -= taken
        kind = next_class(st, job, least, most, kind)
    if missing > 0:
        return 1.0
    return 1.0 / speed


@kernel
def fastest_class(st: State) -> float:
    """Speed of the fastest of several classes, at least full speed."""
    speed = 1.0
    if st.kinds.size > 1:
        for kind in range(st.kinds.size):
            speed = max(speed, st.kinds[kind].speed)
    return float(speed)


@kernel
def own_watts(st: State, job: int) -> float:
    """Return the power of a job that brings its watts along, at full speed in its configuration."""
    return float(st.jobs[job].watts if st.live[job].level >= 0 else st.live[job].watts)


@kernel
def next_class(st: State, job: int, least: int, most: int, after: int) -> int:
    """The class from `least` to `most` that a job goes to after `after`, -1 at first and last."""
    best = -1
    best_w = 0.0
    after_w = _rank_w(st, job, after) if after >= 0 else 0.0
    for kind in range(least, most + 1):
        rank_w = _rank_w(st, job, kind)
        if after >= 0 and (rank_w < after_w or (rank_w == after_w and kind <= after)):
            continue
        if best < 0 or rank_w < best_w:
            best, best_w = kind, rank_w
    return best


@kernel
def _rank_w(st: State, job: int, kind: int) -> float:
    """Classes of a smaller rank come first, of equal ones that of smaller numbers.

    By numbers, those whose nodes cannot draw what the log says that the job's drew come last.
    """
    live = st.live[job]
    of_kind = st.kinds[kind]
    if live.class_order == LEAST_RISE:
        drawn_w = 0.0 if live.own_watts else of_kind.active_w * st.clock[0].least_factor
        return float(drawn_w - of_kind.idle_w)
    too_much = live.own_watts and own_watts(st, job) > of_kind.active_w * live.units * (1.0 + 1e-9)
    return 1.0 if too_much else 0.0


@kernel
def first_of_kind(st: State, kind: int) -> int:
    """The first node of a class; its nodes are neighbours."""
    first = 0
    for other in range(kind):
        first += st.kinds[other].count
    return int(first)


@kernel
def free_of_kind(st: State, kind: int) -> int:
    """Free nodes of a class."""
    node = first_of_kind(st, kind)
    end = node + st.kinds[kind].count
    free = 0
    while node < end:
        if node % NODE_BLOCK == 0 and node + NODE_BLOCK <= end:
            free += st.free_in_block[node // NODE_BLOCK]
            node += NODE_BLOCK
        else:
            free += st.node_free[node]
            node += 1
    return int(free)
