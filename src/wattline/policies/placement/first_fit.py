"""First fit: the free nodes with the lowest numbers."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import give_back, place, starts_only
from wattline.policies.placement.nodes import adopt_kinds, give_back_nodes, take_run
from wattline.policies.state import NODE_BLOCK, State


@starts_only
class FirstFit(NamedTuple):
    """The free nodes with the lowest numbers."""

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


@implement(place, FirstFit)
@kernel
def _place(st: State, placement: FirstFit, job: int) -> bool:
    missing = st.live[job].units
    if missing > st.clock[0].free:
        return False
    node = 0
    while missing > 0:
        block = node // NODE_BLOCK
        if node % NODE_BLOCK == 0 and st.free_in_block[block] == 0:
            node += NODE_BLOCK
            continue
        if not st.node_free[node]:
            node += 1
            continue
        first = node
        while missing > 0 and node < st.nodes.size and st.node_free[node]:
            whole = node % NODE_BLOCK == 0 and st.free_in_block[node // NODE_BLOCK] == NODE_BLOCK
            step = NODE_BLOCK if whole and missing >= NODE_BLOCK else 1
            node += step
            missing -= step
        take_run(st, job, first, node - first)
    adopt_kinds(st, job)
    return True


@implement(give_back, FirstFit)
@kernel
def _give_back(st: State, placement: FirstFit, job: int) -> None:
    give_back_nodes(st, job)
