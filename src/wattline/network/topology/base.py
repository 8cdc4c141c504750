"""One form for every interconnect: arrays of nodes, routers and directed links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.machine import MOST_NODES
from wattline.model.signal import FloatArray

MOST_CABLES = 2_000_000
MOST_GBIT_S = 1e9


class LinkKind(IntEnum):
    """What a link joins. Aries groups have two kinds of local links: rows and columns."""

    LOCAL = 0
    ROW = 1
    COLUMN = 2
    GLOBAL = 3


PLACEMENTS: Mapping[str, str] = {
    "dragonfly": "level-spread",
    "dragonfly+": "level-spread",
    "aries": "level-spread",
    "fat-tree": "best-fit",
    "tree": "best-fit",
    "torus": "simple",
}
"""The placement of each kind of network where none is named: one under which packets are fast."""

Cable = tuple[int, int, int, float]
"""Router, router, kind, bandwidth in Gbit/s: one cable, which carries both directions."""


@dataclass(frozen=True, eq=False)
class Topology:
    """Routers in groups, nodes behind routers, directed links between routers.

    Cables that join the same two routers are one link here, with the sum of their bandwidths.
    After the links between routers come those of the nodes: link `links + n` carries what node n
    sends, link `links + nodes + n` what it receives.
    """

    name: str
    kind: str
    """dragonfly, dragonfly+, aries, fat-tree, tree or torus: how packets find their way."""
    node_router: IntArray
    router_group: IntArray
    link_from: IntArray
    link_to: IntArray
    link_kind: IntArray
    link_gbit_s: FloatArray
    node_gbit_s: float
    cables: int
    """Physical cables, before parallel ones are counted together."""
    hosts: tuple[str, ...] = ()
    """The names of the nodes, where they have names."""
    remarks: tuple[str, ...] = ()
    """What was assumed where the description says nothing: a sentence each."""

    @property
    def nodes(self) -> int:
        return len(self.node_router)

    @property
    def routers(self) -> int:
        return len(self.router_group)

    @property
    def groups(self) -> int:
        return int(self.router_group.max()) + 1

    @property
    def groups_with_nodes(self) -> IntArray:
        """The groups that jobs can be in: not that of the switches at the top of a tree."""
        return np.unique(self.node_group)

    @property
    def links(self) -> int:
        return len(self.link_from)

    @property
    def is_dragonfly(self) -> bool:
        """Whether packets go group by group."""
        return self.kind in ("dragonfly", "dragonfly+", "aries")

    @property
    def placement(self) -> str:
        """The placement that is taken where none is named."""
        return PLACEMENTS[self.kind]

    @property
    def levels(self) -> frozenset[str]:
        """What placements may rely on here: routers everywhere, groups not in a torus."""
        return frozenset(("routers",) if self.kind == "torus" else ("routers", "groups"))

    @property
    def node_group(self) -> IntArray:
        return self.router_group[self.node_router]

    @property
    def capacity_bytes_s(self) -> FloatArray:
        """Bytes a second of every link: of the routers, then up and down of each node."""
        node = np.full(2 * self.nodes, self.node_gbit_s)
        return np.concatenate((self.link_gbit_s, node)) * (1e9 / 8)

    def host(self, node: int) -> str:
        """The name of a node: its number where it has no other."""
        return self.hosts[node] if self.hosts else str(node)

    def link_name(self, link: int) -> str:
        """`g0r1 -> g3r2 (global)`, or the side of a node that it serves."""
        if link >= self.links:
            node = (link - self.links) % self.nodes
            sends = link - self.links < self.nodes
            return f"node {node} {'sends' if sends else 'receives'}"
        ends = (self.router_name(int(self.link_from[link])),
                self.router_name(int(self.link_to[link])))
        return f"{ends[0]} -> {ends[1]} ({LinkKind(int(self.link_kind[link])).name.lower()})"

    def router_name(self, router: int) -> str:
        group = int(self.router_group[router])
        first = int(np.searchsorted(self.router_group, group))
        return f"g{group}r{router - first}"


def build(name: str, kind: str, *, node_router: IntArray, router_group: IntArray,
          cables: Iterable[Cable], node_gbit_s: float) -> Topology:
    """Make a topology from its cables; refuses one that is not connected."""
    merged: dict[tuple[int, int], tuple[int, float]] = {}
    count = 0
    for one, other, link_kind, gbit_s in cables:
        if one == other:
            raise InputError(f"network '{name}': a cable joins router {one} to itself")
        count += 1
        for ends in ((one, other), (other, one)):
            known = merged.get(ends, (link_kind, 0.0))
            merged[ends] = (min(known[0], link_kind), known[1] + gbit_s)
    order = sorted(merged)
    topology = Topology(
        name=name,
        kind=kind,
        node_router=np.asarray(node_router, dtype=np.int64),
        router_group=np.asarray(router_group, dtype=np.int64),
        link_from=np.array([ends[0] for ends in order], dtype=np.int64),
        link_to=np.array([ends[1] for ends in order], dtype=np.int64),
        link_kind=np.array([merged[ends][0] for ends in order], dtype=np.int64),
        link_gbit_s=np.array([merged[ends][1] for ends in order], dtype=np.float64),
        node_gbit_s=node_gbit_s,
        cables=count,
    )
    _check(topology)
    return topology


def need(condition: bool, message: str) -> None:
    """Refuse a description of a network with one line."""
    if not condition:
        raise InputError(message)


def positive(name: str, **values: float) -> None:
    """Refuse counts and bandwidths that are not above zero."""
    for field, value in values.items():
        need(0 < value <= MOST_GBIT_S, f"network '{name}': {field} is {value}, must be above 0 "
                                       f"and at most {MOST_GBIT_S:g}")


def refuse_large(name: str, nodes: int, cables: int) -> None:
    """Refuse a network that would not fit in memory, before any of it is made."""
    need(nodes <= MOST_NODES, f"network '{name}' would have {nodes:,} nodes; at most "
                              f"{MOST_NODES:,} are possible")
    need(cables <= MOST_CABLES, f"network '{name}' would have {cables:,} cables; at most "
                                f"{MOST_CABLES:,} are possible")


def _check(topology: Topology) -> None:
    name = topology.name
    need(topology.nodes > 0, f"network '{name}' has no nodes")
    need(bool(np.all(topology.link_gbit_s > 0)), f"network '{name}': a bandwidth is not above 0")
    need(bool(np.all(np.diff(topology.router_group) >= 0)),
         f"network '{name}': routers must be numbered group by group")
    reached = _reached(topology)
    missing = topology.routers - int(reached.sum())
    if missing:
        lonely = topology.router_name(int(np.flatnonzero(~reached)[0]))
        raise InputError(
            f"network '{name}' is not connected: {missing} of {topology.routers} routers "
            f"(the first is {lonely}) cannot be reached from router g0r0; add links to them"
        )


def _reached(topology: Topology) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Routers that can be reached from router 0."""
    reached = np.zeros(topology.routers, dtype=np.bool_)
    reached[0] = True
    while True:
        found = np.unique(topology.link_to[reached[topology.link_from]])
        fresh = found[~reached[found]]
        if fresh.size == 0:
            return reached
        reached[fresh] = True
