"""Power bounds at every level: a node is taken only where its rack, unit and site have watts left.

The tree is a view's (`wattline.model.views`): each node has a chain of enclosing entities, each
with a limit. A job's power above idle is spread over its nodes equally, and it counts as at full
speed: a machine that runs at a low level now may be faster before the job ends. Nodes are taken by
number; those whose way to the root has no room are passed over. A job that finds too few waits; one
that would find too few on an idle machine is refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import give_back, never_placed, place
from wattline.policies.placement.nodes import adopt_kinds, give_back_nodes, take_run
from wattline.policies.state import State
from wattline.policies.together import keeps_slack, one_class

SLACK = 1e-9


@keeps_slack()
@one_class
class Bounded(NamedTuple):
    """`leaf` is the entity that encloses each node, `parent` the next of each entity, or -1."""

    leaf: Any
    parent: Any
    room_w: Any
    """Watts above idle that each entity has left; changed as jobs come and go."""
    whole_w: Any
    """The same on an idle machine."""
    trial_w: Any
    """Room to count in."""


@implement(place, Bounded)
@kernel
def _place(st: State, placement: Bounded, job: int) -> bool:
    live = st.live[job]
    share_w = max(live.watts - live.idle_w, 0.0) / live.units
    missing = live.units
    for node in range(st.nodes.size):
        if missing == 0:
            break
        if st.node_free[node] and _has_room(placement, placement.room_w, node, share_w):
            _take(placement, placement.room_w, node, share_w)
            take_run(st, job, node, 1)
            missing -= 1
    if missing > 0:
        _return_all(st, placement, job, share_w)
        return False
    live.slack = share_w
    adopt_kinds(st, job)
    return True


@implement(never_placed, Bounded)
@kernel
def _never_placed(st: State, placement: Bounded, job: int) -> bool:
    """Taking nodes one by one finds the most there are: the bounds enclose one another."""
    live = st.live[job]
    share_w = max(live.watts - live.units * st.clock[0].idle_w, 0.0) / live.units
    for entity in range(placement.trial_w.size):
        placement.trial_w[entity] = placement.whole_w[entity]
    missing = live.units
    for node in range(st.nodes.size):
        if missing == 0:
            return False
        if _has_room(placement, placement.trial_w, node, share_w):
            _take(placement, placement.trial_w, node, share_w)
            missing -= 1
    return bool(missing > 0)


@implement(give_back, Bounded)
@kernel
def _give_back(st: State, placement: Bounded, job: int) -> None:
    _return_all(st, placement, job, st.live[job].slack)


@kernel
def _has_room(placement: Bounded, room_w: Any, node: int, share_w: float) -> bool:
    entity = placement.leaf[node]
    while entity >= 0:
        if share_w > room_w[entity] * (1.0 + SLACK) + SLACK:
            return False
        entity = placement.parent[entity]
    return True


@kernel
def _take(placement: Bounded, room_w: Any, node: int, share_w: float) -> None:
    entity = placement.leaf[node]
    while entity >= 0:
        room_w[entity] -= share_w
        entity = placement.parent[entity]


@kernel
def _return_all(st: State, placement: Bounded, job: int, share_w: float) -> None:
    run = st.live[job].first_node
    while run >= 0:
        for node in range(run, run + st.nodes[run].length):
            _take(placement, placement.room_w, node, -share_w)
        run = st.nodes[run].next
    give_back_nodes(st, job)
