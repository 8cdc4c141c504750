"""A topology as the arrays that finding and counting ways goes by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.network.kernels.paths import measure_distance
from wattline.network.topology.base import Topology

MOST_DISTANCES = 500_000_000
"""Pairs of routers of one domain whose hops and ways are kept: six bytes each."""


class Wiring(NamedTuple):
    """What finding a path needs, as arrays. A domain is a group, or all of a network without."""

    domain: IntArray
    """Domain of each router."""
    first: IntArray
    """First router of each domain, and the number of routers at the end."""
    distance: npt.NDArray[np.int16]
    """Hops from a router (row) to each router of its domain (column)."""
    ways: npt.NDArray[np.float32]
    """How many shortest ways there are, in the same order."""
    next_start: IntArray
    next_link: IntArray
    """Links within the domain that leave each router."""
    link_to: IntArray
    between_start: IntArray
    between_link: IntArray
    """Links from each domain to each other one."""
    link_from: IntArray
    detour_inside: int
    """Whether detours within a group are allowed."""
    grouped: int
    """Whether domains are groups: detours go by a third one, otherwise by any third router."""


def wire(topology: Topology, *, inside: bool = False) -> Wiring:
    """Prepare a topology for finding paths; with detours inside groups, or only by third ones."""
    domain = topology.router_group if topology.is_dragonfly else np.zeros(
        topology.routers, dtype=np.int64)
    domains = int(domain.max()) + 1
    first = np.searchsorted(domain, np.arange(domains + 1)).astype(np.int64)
    distances = topology.routers * int(np.diff(first).max())
    if distances > MOST_DISTANCES:
        raise InputError(f"network '{topology.name}' has {topology.routers:,} routers, and ways "
                         f"between {distances:,} pairs of them do not fit in memory; without "
                         f"groups up to {int(MOST_DISTANCES**0.5):,} routers do")
    from_domain, to_domain = domain[topology.link_from], domain[topology.link_to]
    within = np.flatnonzero(from_domain == to_domain)
    across = np.flatnonzero(from_domain != to_domain)
    within = within[np.argsort(topology.link_from[within], kind="stable")]
    pair = from_domain[across] * domains + to_domain[across]
    order = np.argsort(pair, kind="stable")
    next_start = np.searchsorted(topology.link_from[within], np.arange(topology.routers + 1))
    between_start = np.searchsorted(pair[order], np.arange(domains * domains + 1))
    distance, ways = measure_distance(domain, first, next_start.astype(np.int64), within,
                                      topology.link_to)
    return Wiring(domain, first, distance, ways, next_start.astype(np.int64), within,
                  topology.link_to, between_start.astype(np.int64), across[order],
                  topology.link_from, int(inside), int(topology.is_dragonfly))
