"""Where every node stands: behind which router, in which group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError

IntArray = npt.NDArray[np.int64]


class Layout(NamedTuple):
    """Nodes behind one router have neighbouring numbers, and so have routers of one group."""

    router: IntArray
    """Router of each node."""
    first_node: IntArray
    """First node of each router, and the number of nodes at the end."""
    first_router: IntArray
    """First router of each group, and the number of routers at the end."""


def layout(node_router: IntArray, router_group: IntArray) -> Layout:
    """Make the map; routers without nodes (the upper levels of a fat-tree) are allowed."""
    if np.any(np.diff(node_router) < 0) or np.any(np.diff(router_group) < 0):
        raise InputError("nodes must be numbered router by router, and routers group by group")
    routers = np.arange(len(router_group) + 1)
    groups = np.arange(int(router_group.max()) + 2)
    return Layout(
        np.ascontiguousarray(node_router, dtype=np.int64),
        np.searchsorted(node_router, routers).astype(np.int64),
        np.searchsorted(router_group, groups).astype(np.int64),
    )


class Room(NamedTuple):
    """Where the kernels write, since they make no arrays themselves."""

    chosen: IntArray
    """The nodes that were chosen, in the order in which tasks fill them."""
    idle: IntArray
    """Free nodes of each router."""
    nodes: IntArray
    routers: IntArray
    counts: IntArray
    values: npt.NDArray[np.float64]
    seed: IntArray
    """State of the random sequence."""


def sequence_start(seed: int) -> int:
    """Where a Lehmer sequence starts, for any seed: from 1 to one below its modulus."""
    return int(np.random.SeedSequence(seed).generate_state(1)[0]) % 2147483646 + 1


def make_room(where: Layout, seed: int) -> Room:
    """Room for one caller; the seed may be any whole number."""
    nodes, routers = len(where.router), len(where.first_node) - 1
    return Room(
        chosen=np.zeros(nodes, dtype=np.int64),
        idle=np.zeros(routers, dtype=np.int64),
        nodes=np.zeros(nodes, dtype=np.int64),
        routers=np.zeros(routers, dtype=np.int64),
        counts=np.zeros(int(np.diff(where.first_node).max()) + 2, dtype=np.int64),
        values=np.zeros(routers, dtype=np.float64),
        seed=np.array([sequence_start(seed)], dtype=np.int64),
    )
