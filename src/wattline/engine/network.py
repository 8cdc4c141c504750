"""From a topology to the congestion of a simulated world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wattline.engine.congestion import JOB_PAIRS, Congestion, Flows, Paths
from wattline.model.jobs import IntArray, JobTable
from wattline.model.signal import FloatArray
from wattline.network.bundles import bundled
from wattline.network.fabric import Behaviour, Uses
from wattline.network.flows import flow_book
from wattline.network.sensitivity import MpiProfile
from wattline.network.topology.base import Topology
from wattline.policies.placement.network.layout import layout


def congestion(topology: Topology, behaviour: Behaviour,
               profiles: Mapping[str, MpiProfile] | None = None) -> Congestion:
    """How jobs on this network hold each other up; a very large one is taken in bundles."""
    taken = bundled(topology)
    uses = Uses(topology, behaviour, profiles)
    topology = taken.topology
    where = layout(topology.node_router, topology.router_group)
    every = np.arange(topology.routers**2, dtype=np.int64)
    book = flow_book(topology, "ugal")  # detours by third groups alone, all of one weight
    routes, _ = book.routes(every // topology.routers, every % topology.routers)
    # A job on k routers has at most JOB_PAIRS pairs, and at most k - 1 for each router.
    pairs = 11 * topology.nodes + JOB_PAIRS
    paths = Paths(
        bundle=taken.bundle,
        router=where.router,
        first_node=where.first_node,
        path_start=routes.path_start,
        link_start=routes.link_start,
        link=routes.link.astype(np.int64),
        minimal=routes.minimal.astype(np.int64),
        link_from=topology.link_from,
        link_gbit_s=topology.link_gbit_s,
    )
    flows = Flows.start(
        {"share": uses.share, "gbit_s": uses.gbit_s, "sensitive": uses.sensitive,
         "turn": _rows, "pairs": _rows, "slowed": _ones, "longer": _ones},
        load=np.zeros(topology.links),
        fresh=np.zeros(topology.links),
        price=np.ones(topology.links),
        cost=np.zeros(int(np.diff(routes.path_start).max(initial=1)) + 1),
        pair_row=np.zeros(pairs, dtype=np.int64),
        pair_gbit_s=np.zeros(pairs),
        job_router=np.zeros(topology.nodes, dtype=np.int64),
        order=np.zeros(topology.nodes + 1, dtype=np.int64),
        stalls=np.zeros(topology.routers),
        changed=np.zeros(1, dtype=np.int64),
    )
    return Congestion(paths, flows)


def _ones(jobs: JobTable, logged: Any) -> FloatArray:
    return np.ones(len(jobs))


def _rows(jobs: JobTable, logged: Any) -> IntArray:
    return np.arange(len(jobs))
