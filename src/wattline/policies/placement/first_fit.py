"""First fit: the free nodes with the lowest numbers.

On nodes of several classes, those of the classes to which the job goes first (node_classes.py).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import expect_nodes, give_back, place, starts_only
from wattline.policies.node_classes import (
    expect_free,
    expected_stretch,
    first_of_kind,
    next_class,
    stretch_on_free,
)
from wattline.policies.placement.nodes import adopt_kinds, give_back_nodes, take_run
from wattline.policies.state import NODE_BLOCK, State
from wattline.policies.traits import takes_any_units


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
    if st.kinds.size < 2:
        _take_free(st, job, 0, st.nodes.size, missing)
        return True
    kind = next_class(st, job, 0, st.kinds.size - 1, -1)
    while missing > 0:
        first = first_of_kind(st, kind)
        missing = _take_free(st, job, first, first + st.kinds[kind].count, missing)
        kind = next_class(st, job, 0, st.kinds.size - 1, kind)
    adopt_kinds(st, job)
    return True


@kernel
def _take_free(st: State, job: int, node: int, end: int, missing: int) -> int:
    """Give a job the free nodes of [node, end) with the lowest numbers; how many it still lacks."""
    while missing > 0 and node < end:
        block = node // NODE_BLOCK
        if node % NODE_BLOCK == 0 and st.free_in_block[block] == 0:
            node += NODE_BLOCK
            continue
        if not st.node_free[node]:
            node += 1
            continue
        first = node
        while missing > 0 and node < end and st.node_free[node]:
            whole = node % NODE_BLOCK == 0 and st.free_in_block[node // NODE_BLOCK] == NODE_BLOCK
            step = NODE_BLOCK if whole and min(missing, end - node) >= NODE_BLOCK else 1
            node += step
            missing -= step
        take_run(st, job, first, node - first)
    return int(missing)


@implement(expect_nodes, FirstFit)
@kernel
def _expect_nodes(st: State, placement: FirstFit, job: int, alone: bool) -> bool:
    return expect_free(st, job, 0, st.kinds.size - 1, alone)


@implement(expected_stretch, FirstFit)
@kernel
def _expected_stretch(st: State, placement: FirstFit, job: int) -> float:
    return stretch_on_free(st, job, 0, st.kinds.size - 1)


@implement(give_back, FirstFit)
@kernel
def _give_back(st: State, placement: FirstFit, job: int) -> None:
    give_back_nodes(st, job)


@takes_any_units.register
def _takes_any_units(placement: FirstFit) -> bool:
    return True
