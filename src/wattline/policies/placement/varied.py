"""Nodes that differ by manufacture: a job's time and power depend on which ones it gets.

A node's factor is its power for the same work, relative to the middle node. Under a cap that is
felt, a node with a larger factor is slower, and the job with it; where no cap is felt, the job
draws the mean of its nodes' factors more. Two remedies can be switched on: take the thriftiest of
the free nodes, and give each node of a job a cap in proportion to its factor.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import give_back, place
from wattline.policies.control import nodes_of, settings
from wattline.policies.placement.nodes import give_back_nodes, take_run
from wattline.policies.state import State

THROTTLE = 0.9
"""Time grows as (demand / cap) to this power; see the capping model."""


class Varied(NamedTuple):
    """Nodes are tried in `order`; `factor` is by node."""

    offers: Any
    factor: Any
    order: Any
    fitted_caps: int = 0

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


@implement(place, Varied)
@kernel
def _place(st: State, placement: Varied, job: int) -> bool:
    live = st.live[job]
    missing = live.units
    if missing > st.clock[0].free:
        return False
    total = 0.0
    largest = 0.0
    for node in placement.order:
        if missing == 0:
            break
        if st.node_free[node]:
            take_run(st, job, node, 1)
            total += placement.factor[node]
            largest = max(largest, placement.factor[node])
            missing -= 1
    mean = total / live.units
    row = live.config - 1
    if row < 0:
        return True
    if placement.offers.row_binds[row]:
        pace = mean if placement.fitted_caps else largest
        live.stretch = pace**THROTTLE
        live.watts = placement.offers.row_power_w[row]
    else:
        live.stretch = 1.0
        live.watts = placement.offers.row_power_w[row] * mean
    return True


@implement(give_back, Varied)
@kernel
def _give_back(st: State, placement: Varied, job: int) -> None:
    give_back_nodes(st, job)


@settings.register
def _settings(axis: Varied, st: State, job: int) -> dict[str, Any]:
    """Caps in proportion to the nodes' factors; together as many watts as equal ones."""
    row = int(st.live[job].config) - 1
    if not axis.fitted_caps or row < 0 or not axis.offers.row_binds[row]:
        return {}
    factor = axis.factor[list(nodes_of(st, job))]
    cap_w = float(axis.offers.row_cap_w[row])
    if math.isnan(cap_w):  # what is capped is no socket
        return {}
    caps_w = cap_w * factor / factor.mean()
    return {"node_caps_w": tuple(float(cap_w) for cap_w in caps_w)}
