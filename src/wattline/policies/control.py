"""What a machine can be asked for: the part of a decision that somebody has to carry out.

A policy books rates and watts, which are what it expects. What can be set is nodes, a frequency,
a cap, threads, a class of node. Each axis says what its choice for a job means in those terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from wattline.policies.contract import Composition
from wattline.policies.state import State


@dataclass(frozen=True, slots=True)
class Control:
    """What is set for a job; `None` leaves a thing as it is."""

    units: int = 0
    nodes: tuple[int, ...] = ()
    """Which ones, where nodes are chosen: of a job, or of those that are switched off or on."""
    frequency_hz: float | None = None
    frequency_share: float | None = None
    """The same relative to the highest frequency, where a policy knows no hertz; 1: full speed,
    whatever was set before."""
    cap_w: float | None = None
    """Of a node, or of what the axis caps in it; infinite: the cap is taken away."""
    node_caps_w: tuple[float, ...] = ()
    """The cap of each of `nodes`, where they differ; `cap_w` is then their mean."""
    cores: int | None = None
    """Of each node."""
    threads: int | None = None
    inner_threads: int | None = None
    gpus: int | None = None
    """Of each node."""
    gpu_cap_w: float | None = None
    """Of each GPU."""
    node_class: int | None = None
    """Its number among the machine's groups of nodes."""


@singledispatch
def settings(axis: Any, st: State, job: int) -> dict[str, Any]:
    """What this axis chose for a job, as fields of `Control`; register it for your own type."""
    return {}


@singledispatch
def level_settings(axis: Any, level: int) -> dict[str, Any]:
    """What a level of the whole machine means, as fields of `Control`."""
    return {}


def control_of(policy: Composition, st: State, job: int, cap_w: float = float("inf")) -> Control:
    """All that is to be set for a job that the policy has just decided on."""
    chosen: dict[str, Any] = {}
    for axis in (policy.configuration, policy.admission, policy.placement):
        chosen |= settings(axis, st, job)
    if cap_w < float("inf"):
        chosen["cap_w"] = cap_w
    return Control(int(st.live[job].units), nodes_of(st, job), **chosen)


def nodes_of(st: State, job: int) -> tuple[int, ...]:
    """The nodes of a job, in the order in which they were taken."""
    if st.nodes.size == 0:
        return ()
    found: list[int] = []
    run = int(st.live[job].first_node)
    while run >= 0:
        found += range(run, run + int(st.nodes[run].length))
        run = int(st.nodes[run].next)
    return tuple(found)


def switched(st: State, batch: int, units: int) -> Control:
    """Units that begin to boot or to shut down: the nodes of a batch, or so many."""
    if batch <= 0 or st.nodes.size == 0:
        return Control(units)
    nodes = tuple(int(node) for node in np.flatnonzero(st.nodes.power == batch))
    return Control(len(nodes), nodes)
