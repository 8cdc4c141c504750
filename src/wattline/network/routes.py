"""Candidate paths between routers: minimal ones, and detours in the manner of Valiant.

In a dragonfly a minimal path crosses at most one global link, and a detour goes by a third group;
between routers of one group, where that is asked for, by a third router of it. In other networks a
minimal path is a shortest one, and a detour goes by a third router. Routing (see `equilibrium` and
`packets`) chooses among the candidates of a pair of routers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import IntArray
from wattline.network.kernels.paths import find_paths, measure_distance
from wattline.network.topology.base import LinkKind, Topology

ShortArray = npt.NDArray[np.int32]

MINIMAL_PATHS = 4
DETOURS = 15
WITHOUT_DETOURS = ("fat-tree", "tree")
"""Kinds of networks in which a way that is not a shortest one only goes up and down once more."""
ALL_PAIRS_ROUTERS = 300
"""Up to this many routers the paths of all pairs are made at once and kept."""


class Wiring(NamedTuple):
    """What finding a path needs, as arrays. A domain is a group, or all of a network without."""

    domain: IntArray
    """Domain of each router."""
    first: IntArray
    """First router of each domain, and the number of routers at the end."""
    distance: npt.NDArray[np.int16]
    """Hops from a router (row) to each router of its domain (column)."""
    next_start: IntArray
    next_link: IntArray
    """Links within the domain that leave each router."""
    link_to: IntArray
    between_start: IntArray
    between_link: IntArray
    """Links from each domain to each other one."""
    link_from: IntArray
    detour_inside: int
    """Whether detours within a domain are allowed (they always are where there are no groups)."""


@dataclass(frozen=True, eq=False)
class Routes:
    """Candidate paths of many pairs of routers, one after the other.

    Pair i has the paths `path_start[i]` to `path_start[i + 1]`; path q crosses the links
    `link[link_start[q] : link_start[q + 1]]`; `minimal[q]` says whether it is a minimal one.
    """

    path_start: IntArray
    link_start: IntArray
    link: ShortArray
    minimal: npt.NDArray[np.bool_]


class RouteBook:
    """Paths of a topology, made when they are first asked for."""

    def __init__(self, topology: Topology, *, minimal_paths: int = MINIMAL_PATHS,
                 detours: int = DETOURS, inside: bool = False) -> None:
        self.topology = topology
        self.wiring = wire(topology, inside=inside)
        self.minimal_paths = minimal_paths
        self.detours = 0 if topology.kind in WITHOUT_DETOURS else detours
        self._all: Routes | None = None

    def routes(self, source: IntArray, target: IntArray) -> tuple[Routes, IntArray]:
        """The paths of these pairs, and for each pair its row in them."""
        routers = self.topology.routers
        code = source * routers + target
        if routers <= ALL_PAIRS_ROUTERS:
            if self._all is None:
                every = np.arange(routers * routers, dtype=np.int64)
                self._all = self._make(every // routers, every % routers)
            return self._all, code
        unique, row = np.unique(code, return_inverse=True)
        return self._make(unique // routers, unique % routers), row.astype(np.int64)

    def _make(self, source: IntArray, target: IntArray) -> Routes:
        made = find_paths(self.wiring, source, target, self.minimal_paths, self.detours)
        return Routes(*made)


def routing_remarks(topology: Topology, routing: str) -> tuple[str, ...]:
    """What is to be known where a routing has nothing to choose from."""
    if routing == "minimal" or topology.kind not in WITHOUT_DETOURS:
        return ()
    return (f"'{topology.name}' is a {topology.kind}, which has no detours: packets take its "
            f"shortest ways, so '{routing}' is like minimal",)


def wire(topology: Topology, *, inside: bool = False) -> Wiring:
    """Prepare a topology for finding paths; with detours inside groups, or only by third ones."""
    domain = topology.router_group if topology.is_dragonfly else np.zeros(
        topology.routers, dtype=np.int64)
    domains = int(domain.max()) + 1
    first = np.searchsorted(domain, np.arange(domains + 1)).astype(np.int64)
    from_domain, to_domain = domain[topology.link_from], domain[topology.link_to]
    within = np.flatnonzero(from_domain == to_domain)
    across = np.flatnonzero(from_domain != to_domain)
    within = within[np.argsort(topology.link_from[within], kind="stable")]
    pair = from_domain[across] * domains + to_domain[across]
    order = np.argsort(pair, kind="stable")
    next_start = np.searchsorted(topology.link_from[within], np.arange(topology.routers + 1))
    between_start = np.searchsorted(pair[order], np.arange(domains * domains + 1))
    distance = measure_distance(domain, first, next_start.astype(np.int64), within,
                                topology.link_to)
    return Wiring(domain, first, distance, next_start.astype(np.int64), within, topology.link_to,
                  between_start.astype(np.int64), across[order], topology.link_from,
                  int(inside or topology.kind == "torus"))


def global_hops(topology: Topology, routes: Routes) -> IntArray:
    """Global links on each path: at most one on a minimal path of a dragonfly, two on a detour."""
    crossed = (topology.link_kind[routes.link] == LinkKind.GLOBAL).astype(np.int64)
    total = np.concatenate(([0], np.cumsum(crossed)))
    counted: IntArray = total[routes.link_start[1:]] - total[routes.link_start[:-1]]
    return counted
