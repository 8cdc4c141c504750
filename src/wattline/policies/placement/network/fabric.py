"""What placements know of the network: where nodes stand, and what its counters show.

Made by `wattline.network.fabric` from a topology, since this layer knows no topologies. How jobs
suffer from each other's traffic is not known here: that is for the world to show.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from wattline.model.kernel import kernel
from wattline.policies.memory import Memory
from wattline.policies.placement.nodes import adopt_kinds, give_back_nodes, take_run
from wattline.policies.state import State


class Fabric(Memory):
    """The network as the allocator sees it, in the form that kernels take as one pointer.

    It serves the placement kernels both as their map (`Layout`) and as their room (`Room`).
    """

    FIELDS = (
        # The map: router of each node, first node of each router, first router of each group.
        "router", "first_node", "first_router",
        # Room for choosing nodes, and the random sequence; `marks` are zero between calls.
        "chosen", "idle", "nodes", "routers", "counts", "values", "seed", "marks",
        # Counters of the routers: Gbit/s of their nodes, overload of their links.
        "traffic", "stalls",
        # Of each job: traffic of one of its nodes, and whether congestion slows it down.
        "job_gbit_s", "job_sensitive",
    )
    PER_JOB: ClassVar[Mapping[str, str]] = {"job_gbit_s": "f8", "job_sensitive": "i8"}
    router: Any
    first_node: Any
    first_router: Any
    chosen: Any
    idle: Any
    nodes: Any
    routers: Any
    counts: Any
    values: Any
    seed: Any
    marks: Any
    traffic: Any
    stalls: Any
    job_gbit_s: Any
    job_sensitive: Any


@kernel
def take_chosen(st: State, fabric: Fabric, job: int) -> bool:
    """Give the nodes in `room.chosen` to the job, as runs of neighbours."""
    wanted = st.live[job].units
    chosen = fabric.chosen
    low, high = chosen[0], chosen[0]
    for i in range(wanted):
        node = chosen[i]
        low, high = min(low, node), max(high, node)
        fabric.marks[node] = 1
        fabric.traffic[fabric.router[node]] += fabric.job_gbit_s[job]
    node = low
    while node <= high:
        if fabric.marks[node]:
            first = node
            while node <= high and fabric.marks[node]:
                fabric.marks[node] = 0
                node += 1
            take_run(st, job, first, node - first)
        node += 1
    adopt_kinds(st, job)
    return True


@kernel
def occupy(st: State, fabric: Fabric, job: int) -> None:
    """Count the traffic of a job on nodes that were not chosen here."""
    run = st.live[job].first_node
    while run >= 0:
        for node in range(run, run + st.nodes[run].length):
            fabric.traffic[fabric.router[node]] += fabric.job_gbit_s[job]
        run = st.nodes[run].next


@kernel
def return_nodes(st: State, fabric: Fabric, job: int) -> None:
    """The job's nodes are free again, and its traffic is gone."""
    run = st.live[job].first_node
    while run >= 0:
        for node in range(run, run + st.nodes[run].length):
            router = fabric.router[node]
            left = fabric.traffic[router] - fabric.job_gbit_s[job]
            fabric.traffic[router] = left if left > 1e-9 else 0.0
        run = st.nodes[run].next
    give_back_nodes(st, job)
