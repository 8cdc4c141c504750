"""Candidate paths between routers: minimal ones, and detours in the manner of Valiant.

In a dragonfly a minimal path crosses at most one global link, and a detour goes by a third group;
between routers of one group, where that is asked for, by a third router of it. In other networks a
minimal path is a shortest one, and a detour goes by a third router. Routing (see `equilibrium` and
`packets`) chooses among the candidates of a pair of routers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.network.kernels.paths import find_paths
from wattline.network.topology.base import LinkKind, Topology
from wattline.network.ways import most_inside, most_ways
from wattline.network.wiring import wire

ShortArray = npt.NDArray[np.int32]

FEWEST_WAYS = 4
"""Shortest ways that are tried for each pair of routers at least."""
MOST_WAYS = 64
"""Shortest ways that a pair of routers is given at most, where its network has more of them."""
MOST_PATHS = 8_000_000
"""Shortest ways of all pairs together that are kept in memory."""
MOST_CANDIDATES = 200_000_000
"""Ways and detours of all pairs together: these take some 10 GB, and more are refused."""
FIXED_WAYS = ("aries",)
"""Kinds of networks whose pairs get the fewest: they have two or three ways in the mean."""
DETOURS = 15
TORUS_DETOURS = 64
"""Detours of a pair where any router can be the third: some by each, or by so many of them."""
WITHOUT_DETOURS = ("fat-tree", "tree")
"""Kinds of networks in which a way that is not a shortest one only goes up and down once more."""
ALL_PAIRS_ROUTERS = 300
"""Up to this many routers the paths of all pairs are made at once and kept."""


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

    def __init__(self, topology: Topology, *, detours: int = DETOURS,
                 inside: bool = False) -> None:
        self.topology = topology
        self.wiring = wire(topology, inside=inside)
        self.detours = 0 if topology.kind in WITHOUT_DETOURS else detours
        self._all: Routes | None = None
        self._fewest_given = MOST_WAYS

    @cached_property
    def most_ways(self) -> int:
        """Shortest ways that a pair of routers of this network has at most."""
        return most_ways(self.topology, self.wiring)

    @property
    def ways_given(self) -> int:
        """Shortest ways that the routes made so far give a pair at most."""
        return min(self.most_ways, self._fewest_given)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Where pairs had more shortest ways than the routes made so far give them."""
        given = self._fewest_given
        if self.most_ways <= given:
            return ()
        return (f"pairs of routers of '{self.topology.name}' have up to {self.most_ways:,} "
                f"shortest ways; each uses {given} of them at most, others from pair to pair",)

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

    def candidates(self, pairs: int) -> tuple[int, int]:
        """Shortest ways and detours that each of so many pairs is given at most."""
        made = pairs if self.topology.routers > ALL_PAIRS_ROUTERS else self.topology.routers**2
        return self._ways(made), self._detours(made)

    def mean_hops(self) -> float:
        """Hops of a shortest way, in the mean over pairs of one domain; with groups, of a long one:
        a way across two of them goes on in each, and over the link between."""
        distance = self.wiring.distance
        mean = float(distance[distance > 0].mean()) if np.any(distance > 0) else 1.0
        return 2 * mean + 1 if self.wiring.grouped else mean

    def _make(self, source: IntArray, target: IntArray) -> Routes:
        ways = self._ways(len(source))
        self._fewest_given = min(self._fewest_given, ways)
        detours = self._detours(len(source))
        candidates = len(source) * (ways + detours)
        if candidates > MOST_CANDIDATES:
            raise InputError(
                f"{len(source):,} pairs of routers of '{self.topology.name}' with up to "
                f"{ways + detours} ways each are {candidates:,}, which do not fit in memory "
                f"(up to {MOST_CANDIDATES:,} do); send fewer messages, or take the flow model, "
                "which knows fewer detours")
        return Routes(*find_paths(self.wiring, source, target, ways, detours))

    def _detours(self, pairs: int) -> int:
        """Detours to look for: without groups the same number by each third router, if few."""
        if not self.detours or self.wiring.grouped:
            return self.detours
        wanted = max(self.detours, min(TORUS_DETOURS, MOST_PATHS // max(1, pairs)))
        thirds = max(1, self.topology.routers - 2)
        return -(-wanted // thirds) * thirds if thirds < wanted else wanted

    def _ways(self, pairs: int) -> int:
        """Shortest ways to look for: all that there are, as far as memory allows."""
        if self.topology.kind in FIXED_WAYS:
            return FEWEST_WAYS
        # As many as two groups have links: where detours go depends on this number too, so it
        # stays what it is where few of the links are on shortest ways.
        links = int(np.diff(self.wiring.between_start).max(initial=1))
        most = max(most_inside(self.topology, self.wiring), links)
        return max(FEWEST_WAYS, min(most, MOST_WAYS, MOST_PATHS // max(1, pairs)))


def routing_remarks(topology: Topology, routing: str) -> tuple[str, ...]:
    """What is to be known where a routing has nothing to choose from."""
    if routing == "minimal":
        return ()
    if topology.is_dragonfly and topology.groups < 3:
        count = "two groups" if topology.groups == 2 else "one group"
        inside = "nowhere" if routing == "ugal" else "only inside a group, by a third router"
        return (f"'{topology.name}' has {count}, and no third one to detour by: under '{routing}' "
                f"packets detour {inside}",)
    if topology.kind not in WITHOUT_DETOURS:
        return ()
    return (f"'{topology.name}' is a {topology.kind}, which has no detours: packets take its "
            f"shortest ways, so '{routing}' is like minimal",)


def global_hops(topology: Topology, routes: Routes) -> IntArray:
    """Global links on each path: at most one on a minimal path of a dragonfly, two on a detour."""
    crossed = (topology.link_kind[routes.link] == LinkKind.GLOBAL).astype(np.int64)
    total = np.concatenate(([0], np.cumsum(crossed)))
    counted: IntArray = total[routes.link_start[1:]] - total[routes.link_start[:-1]]
    return counted
