"""Nodes of the class that the claims chose; and what a run taught, when they come back."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.configuration.claimed import (
    Claimed,
    chosen,
    learn,
)
from wattline.policies.contract import expect_nodes, give_back, place
from wattline.policies.node_classes import (
    expect_free,
    first_of_kind,
    free_of_kind,
    next_class,
)
from wattline.policies.placement.nodes import adopt_kinds, give_back_nodes, take_run
from wattline.policies.state import State


class ClaimedNodes(NamedTuple):
    """The free nodes with the lowest numbers of the class that the configuration chose.

    A job of which nothing is claimed gets those of all classes that it may have.
    """

    claims: Claimed

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


@kernel
def _classes(st: State, placement: ClaimedNodes, job: int) -> tuple[int, int]:
    """The first and the last class of node that a job may have."""
    memory = placement.claims.memory
    row = chosen(st, placement.claims, job)
    if row >= 0:
        return memory.options[row].kind, memory.options[row].kind
    return memory.least_kind[job], memory.most_kind[job]


@implement(expect_nodes, ClaimedNodes)
@kernel
def _expect_nodes(st: State, placement: ClaimedNodes, job: int, alone: bool) -> bool:
    least, most = _classes(st, placement, job)
    return expect_free(st, job, least, most, alone)


@implement(place, ClaimedNodes)
@kernel
def _place(st: State, placement: ClaimedNodes, job: int) -> bool:
    live = st.live[job]
    least, most = _classes(st, placement, job)
    free = 0
    for kind in range(least, most + 1):
        free += free_of_kind(st, kind)
    if free < live.units:
        return False
    missing = live.units
    kind = next_class(st, job, least, most, -1)
    while missing > 0:
        node = first_of_kind(st, kind)
        end = node + st.kinds[kind].count
        while missing > 0 and node < end:
            if st.node_free[node]:
                take_run(st, job, node, 1)
                missing -= 1
            node += 1
        kind = next_class(st, job, least, most, kind)
    if chosen(st, placement.claims, job) >= 0:
        live.idle_w = live.units * st.kinds[least].idle_w
    else:
        adopt_kinds(st, job)
    return True


@implement(give_back, ClaimedNodes)
@kernel
def _give_back(st: State, placement: ClaimedNodes, job: int) -> None:
    live = st.live[job]
    at_full_speed = st.clock[0].least_factor == 1.0  # a slower run would teach another claim
    row = chosen(st, placement.claims, job)
    if row >= 0 and placement.claims.learn and live.completed and at_full_speed:
        learn(placement.claims, row, st.clock[0].now_s - live.start_s, live.energy_j)
    give_back_nodes(st, job)
