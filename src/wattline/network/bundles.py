"""Neighbouring routers of a group taken as one, where a network has too many for all paths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.network.topology.base import Cable, Topology, build

MOST_ROUTERS = 2000
"""Above this the paths of all pairs of routers do not fit in memory."""
MOST_BUNDLES = 1000
"""So many are left of a larger network at most."""


@dataclass(frozen=True, eq=False)
class Bundled:
    """A network of bundles of routers."""

    topology: Topology
    bundle: IntArray
    """The bundle of each router."""
    each: int
    """Routers in a bundle, at most; 1 where the network is left as it is."""

    @property
    def remarks(self) -> tuple[str, ...]:
        if self.each == 1:
            return ()
        return (f"network '{self.topology.name}' has {len(self.bundle):,} routers: congestion is "
                f"worked out between {self.topology.routers:,} bundles of up to {self.each} "
                "neighbours of a group; full links inside a bundle slow nobody down",)


def bundled(topology: Topology) -> Bundled:
    """The network itself, or one of few enough bundles whose links carry what theirs did."""
    if topology.routers <= MOST_ROUTERS:
        return Bundled(topology, np.arange(topology.routers), 1)
    each = -(-topology.routers // MOST_BUNDLES)
    bundle = _neighbours(topology, each)
    while bundle[-1] >= MOST_BUNDLES and each < topology.routers:
        each += 1
        bundle = _neighbours(topology, each)
    if bundle[-1] >= MOST_BUNDLES:
        raise InputError(f"network '{topology.name}' has {topology.routers:,} routers in "
                         f"{topology.groups:,} groups; congestion works for up to "
                         f"{MOST_BUNDLES:,} groups; set congestion = false in [network]")
    group = np.zeros(int(bundle[-1]) + 1, dtype=np.int64)
    group[bundle] = topology.router_group
    made = build(topology.name, topology.kind, node_router=bundle[topology.node_router],
                 router_group=group, cables=_cables(topology, bundle),
                 node_gbit_s=topology.node_gbit_s)
    return Bundled(made, bundle, each)


def _neighbours(topology: Topology, each: int) -> IntArray:
    """Bundles of so many neighbours: of one group, and all with nodes or all without."""
    with_nodes = np.bincount(topology.node_router, minlength=topology.routers) > 0
    kind = 2 * topology.router_group + with_nodes
    first = np.flatnonzero(np.diff(kind, prepend=-1))
    place = np.arange(topology.routers) - np.repeat(first, np.diff(first, append=len(kind)))
    found: IntArray = np.cumsum(place % each == 0) - 1
    return found


def _cables(topology: Topology, bundle: IntArray) -> list[Cable]:
    """What joins two bundles; a link has a twin in the other direction."""
    one, other = bundle[topology.link_from], bundle[topology.link_to]
    between = one < other
    return list(zip(one[between].tolist(), other[between].tolist(),
                    topology.link_kind[between].tolist(), topology.link_gbit_s[between].tolist(),
                    strict=True))
