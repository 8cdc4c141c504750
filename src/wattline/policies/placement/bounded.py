"""Power bounds at every level: a node is taken only where its rack, unit and site have watts left.

The bounds come from views (`wattline.model.views`), any number of them: each node counts in some
bounds, in each with a part of its watts. A job's power above idle is spread over its nodes equally.
Nodes are taken by number; those with a bound that has no room are passed over. A job that finds
too few waits; one that would find too few on an idle machine is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.kernel import implement, kernel
from wattline.policies.contract import (
    give_back,
    keeps_bounds,
    marks_nodes,
    may_rise_w,
    never_placed,
    occupied,
    place,
    power_told,
)
from wattline.policies.memory import Memory
from wattline.policies.placement.nodes import adopt_kinds, give_back_nodes, take_run
from wattline.policies.state import NODE_OFF, RUNNING, State


class BoundedMemory(Memory):
    """Watts above idle that each bound has left; room to count in; what a node of a job draws above
    idle, of which the bounds hold nothing where it is less: the node idles again after the job."""

    FIELDS = ("room_w", "trial_w", "share_w")
    PER_JOB: ClassVar[Mapping[str, str]] = {"share_w": "f8"}
    room_w: Any
    trial_w: Any
    share_w: Any


class Bounded(NamedTuple):
    """Node n counts in the bounds `bound[first[n]:first[n + 1]]`, with `part` of each watt."""

    first: Any
    bound: Any
    part: Any
    whole_w: Any
    """Watts above idle that each bound has on an idle machine."""
    memory: BoundedMemory

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


@implement(place, Bounded)
@kernel
def _place(st: State, placement: Bounded, job: int) -> bool:
    live = st.live[job]
    # By the lowest level that all may be slowed to: `keeps_bounds` then says how fast they may go.
    above_w = (live.watts * st.clock[0].least_factor - live.idle_w) / live.units
    share_w = max(above_w, 0.0)
    missing = live.units
    for node in range(st.nodes.size):
        if missing == 0:
            break
        if st.node_free[node] and _has_room(placement, placement.memory.room_w, node, share_w):
            _take(placement, placement.memory.room_w, node, share_w)
            take_run(st, job, node, 1)
            missing -= 1
    if missing > 0:
        _return_all(st, placement, job, share_w)
        return False
    placement.memory.share_w[job] = above_w
    adopt_kinds(st, job)
    return True


@implement(never_placed, Bounded)
@kernel
def _never_placed(st: State, placement: Bounded, job: int) -> bool:
    """Bounds of one view enclose one another: taking nodes one by one finds the most there are.

    Those of several views cross, and other nodes might do; but nobody looks for them later either,
    so that such a job would block those behind it on an idle machine.
    """
    live = st.live[job]
    rise_w = live.watts * st.clock[0].least_factor - live.units * st.clock[0].idle_w
    return not finds_nodes(placement, live.units, max(rise_w, 0.0) / live.units)


@kernel
def finds_nodes(placement: Bounded, units: int, share_w: float) -> bool:
    """Whether an idle machine has so many nodes for a job that raises each by so much."""
    for bound in range(placement.memory.trial_w.size):
        placement.memory.trial_w[bound] = placement.whole_w[bound]
    missing = units
    for node in range(placement.first.size - 1):
        if missing == 0:
            break
        if _has_room(placement, placement.memory.trial_w, node, share_w):
            _take(placement, placement.memory.trial_w, node, share_w)
            missing -= 1
    return bool(missing == 0)


@implement(marks_nodes, Bounded)
@kernel
def _marks_nodes(st: State, placement: Bounded, job: int) -> bool:
    """Those that `place` would find if all of them were on."""
    live = st.live[job]
    share_w = max(live.watts * st.clock[0].least_factor / live.units - st.clock[0].idle_w, 0.0)
    for bound in range(placement.memory.trial_w.size):
        placement.memory.trial_w[bound] = placement.memory.room_w[bound]
    missing = live.units
    for node in range(st.nodes.size):
        st.scratch_nodes[node] = 0
        there = st.node_free[node] or (st.nodes[node].power == NODE_OFF and not st.node_down[node])
        if missing > 0 and there and _has_room(placement, placement.memory.trial_w, node, share_w):
            _take(placement, placement.memory.trial_w, node, share_w)
            st.scratch_nodes[node] = 1
            missing -= 1
    return bool(missing == 0)


@implement(give_back, Bounded)
@kernel
def _give_back(st: State, placement: Bounded, job: int) -> None:
    _return_all(st, placement, job, _held_w(placement, job))


@implement(power_told, Bounded)
@kernel
def _power_told(st: State, placement: Bounded, job: int, change_w: float) -> None:
    share_w = placement.memory.share_w
    before_w = _held_w(placement, job)
    share_w[job] += change_w / st.live[job].units
    more_w = _held_w(placement, job) - before_w
    run = st.live[job].first_node
    while run >= 0:
        for node in range(run, run + st.nodes[run].length):
            _take(placement, placement.memory.room_w, node, more_w)
        run = st.nodes[run].next


@implement(occupied, Bounded)
@kernel
def _occupied(st: State, placement: Bounded, job: int) -> None:
    live = st.live[job]
    # At full level one that runs already may draw otherwise than it said.
    at_full = live.state == RUNNING and st.clock[0].power_factor == 1.0
    watts = live.power_w if at_full else live.watts
    placement.memory.share_w[job] = 0.0
    _power_told(st, placement, job, watts * st.clock[0].least_factor - live.idle_w)


@implement(may_rise_w, Bounded)
@kernel
def _may_rise_w(st: State, placement: Bounded, job: int) -> float:
    """A bound has room for all the job's nodes that count in it: those are summed up."""
    trial_w = placement.memory.trial_w
    for bound in range(trial_w.size):
        trial_w[bound] = 0.0
    run = st.live[job].first_node
    while run >= 0:
        for node in range(run, run + st.nodes[run].length):
            _take(placement, trial_w, node, -1.0)
        run = st.nodes[run].next
    most_w = float("inf")
    for bound in range(trial_w.size):
        if trial_w[bound] > 0.0:
            room_w = max(placement.memory.room_w[bound], 0.0)
            most_w = min(most_w, room_w / trial_w[bound] * st.live[job].units)
    return most_w


@implement(keeps_bounds, Bounded)
@kernel
def _keeps_bounds(st: State, placement: Bounded, power_factor: float) -> bool:
    trial_w = placement.memory.trial_w
    for bound in range(trial_w.size):
        trial_w[bound] = placement.whole_w[bound]
    for index in range(st.clock[0].running):
        job = st.running[index]
        live = st.live[job]
        share_w = max(live.watts * power_factor - live.idle_w, 0.0) / live.units
        run = live.first_node
        while run >= 0:
            for node in range(run, run + st.nodes[run].length):
                _take(placement, trial_w, node, share_w)
            run = st.nodes[run].next
    for bound in range(trial_w.size):
        if trial_w[bound] < -CAP_SLACK * (1.0 + abs(placement.whole_w[bound])):
            return False
    return True


@kernel
def _held_w(placement: Bounded, job: int) -> float:
    """Watts that the bounds hold for each node of a job."""
    return float(max(placement.memory.share_w[job], 0.0))


@kernel
def _has_room(placement: Bounded, room_w: Any, node: int, share_w: float) -> bool:
    for at in range(placement.first[node], placement.first[node + 1]):
        left_w = room_w[placement.bound[at]]
        if share_w * placement.part[at] > left_w * (1.0 + CAP_SLACK) + CAP_SLACK:
            return False
    return True


@kernel
def _take(placement: Bounded, room_w: Any, node: int, share_w: float) -> None:
    for at in range(placement.first[node], placement.first[node + 1]):
        room_w[placement.bound[at]] -= share_w * placement.part[at]


@kernel
def _return_all(st: State, placement: Bounded, job: int, share_w: float) -> None:
    run = st.live[job].first_node
    while run >= 0:
        for node in range(run, run + st.nodes[run].length):
            _take(placement, placement.memory.room_w, node, -share_w)
        run = st.nodes[run].next
    give_back_nodes(st, job)
