"""Fat-trees and tori behind the same interface as the dragonflies."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from wattline.network.topology.base import (
    Cable,
    LinkKind,
    Topology,
    build,
    need,
    positive,
    refuse_large,
)


def fat_tree(ports: int = 8, *, link_gbit_s: float = 8.0, node_gbit_s: float = 8.0,
             name: str = "") -> Topology:
    """The three-level fat-tree of switches with k ports: k pods, k*k*k/4 nodes.

    Each pod is a group: its k/2 edge switches come first and hold the nodes, then its k/2
    aggregation switches; the core switches are the last group.
    """
    positive(name or "fat-tree", ports=ports, link_gbit_s=link_gbit_s, node_gbit_s=node_gbit_s)
    name = name or f"fat-tree-{ports ** 3 // 4}"
    need(ports % 2 == 0, f"network '{name}': ports is {ports}, an odd number; half of the ports "
                         "of a switch go up and half go down, so use an even number")
    refuse_large(name, ports**3 // 4, ports**3 // 2)
    half = ports // 2
    core = ports * ports
    cables: list[Cable] = []
    for pod in range(ports):
        base = pod * ports
        for up in range(half):
            cables += [(base + edge, base + half + up, LinkKind.LOCAL, link_gbit_s)
                       for edge in range(half)]
            cables += [(base + half + up, core + up * half + port, LinkKind.GLOBAL, link_gbit_s)
                       for port in range(half)]
    edges = np.concatenate([np.arange(half) + pod * ports for pod in range(ports)])
    group = np.concatenate((np.repeat(np.arange(ports), ports), np.full(half * half, ports)))
    return build(name, "fat-tree", node_router=np.repeat(edges, half), router_group=group,
                 cables=cables, node_gbit_s=node_gbit_s)


def torus(sizes: Sequence[int] = (8, 8, 8), nodes_per_router: int = 2, *,
          link_gbit_s: float = 8.0, node_gbit_s: float = 8.0, name: str = "") -> Topology:
    """A torus of any number of dimensions; a plane of its first dimension counts as a group."""
    name = name or "torus-" + "x".join(str(size) for size in sizes)
    need(0 < len(sizes) <= 16, f"network '{name}': sizes has {len(sizes)} numbers; write 1 to 16 "
                               "of them, like [8, 8, 8]")
    for size in sizes:
        positive(name, sizes=size)
    positive(name, nodes_per_router=nodes_per_router, link_gbit_s=link_gbit_s,
             node_gbit_s=node_gbit_s)
    count = prod(sizes)
    refuse_large(name, count * nodes_per_router, count * len(sizes))
    numbers = np.arange(count).reshape(tuple(sizes))
    cables: list[Cable] = []
    for axis, size in enumerate(sizes):
        if size == 1:
            continue
        ahead = np.roll(numbers, -1, axis=axis).ravel()
        cables += [(int(one), int(other), LinkKind.LOCAL, link_gbit_s)
                   for one, other in zip(numbers.ravel(), ahead, strict=True)
                   if size > 2 or one < other]
    return build(name, "torus", node_router=np.repeat(np.arange(count), nodes_per_router),
                 router_group=np.arange(count) // (count // sizes[0]), cables=cables,
                 node_gbit_s=node_gbit_s)
