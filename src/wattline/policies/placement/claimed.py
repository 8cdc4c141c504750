"""Nodes of the class that the claims chose; and what a run taught, when they come back."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.configuration.claimed import Claimed, chosen, free_of_kind, learn
from wattline.policies.contract import give_back, place
from wattline.policies.placement.nodes import give_back_nodes, take_run
from wattline.policies.state import State


class ClaimedNodes(NamedTuple):
    """The free nodes with the lowest numbers of the class that the configuration chose."""

    claims: Claimed

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


@implement(place, ClaimedNodes)
@kernel
def _place(st: State, placement: ClaimedNodes, job: int) -> bool:
    live = st.live[job]
    kind = placement.claims.memory.options[chosen(st, placement.claims, job)].kind
    if free_of_kind(st, kind) < live.units:
        return False
    node = 0
    for other in range(kind):
        node += st.kinds[other].count
    missing = live.units
    while missing > 0:
        if st.node_free[node]:
            take_run(st, job, node, 1)
            missing -= 1
        node += 1
    live.idle_w = live.units * st.kinds[kind].idle_w
    return True


@implement(give_back, ClaimedNodes)
@kernel
def _give_back(st: State, placement: ClaimedNodes, job: int) -> None:
    live = st.live[job]
    at_full_speed = st.clock[0].least_factor == 1.0  # a slower run would teach another claim
    if placement.claims.learn and live.completed and at_full_speed:
        row = chosen(st, placement.claims, job)
        learn(placement.claims, row, st.clock[0].now_s - live.start_s, live.energy_j)
    give_back_nodes(st, job)
