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


def fat_tree(ports: int = 8, *, levels: int = 3, nodes_per_leaf: int = 0, taper: float = 1.0,
             link_gbit_s: float = 8.0, node_gbit_s: float = 8.0, name: str = "") -> Topology:
    """A fat-tree of switches with k ports, of two or three levels.

    With three there are k pods, each a group: its k/2 edge switches come first and hold the nodes,
    then its k/2 aggregation switches; the core switches are the last group. With two there are k
    leaves, each a group, under k/2 spines, the last group. A leaf holds k/2 nodes unless
    `nodes_per_leaf` says otherwise; where it holds more, the ports that are left go up, and there
    are as many fewer spines (aggregation switches) above. Links between switches carry their
    bandwidth over `taper`.
    """
    positive(name or "fat-tree", ports=ports, link_gbit_s=link_gbit_s, node_gbit_s=node_gbit_s,
             taper=taper)
    need(levels in (2, 3), f"network '{name or 'fat-tree'}': levels is {levels}; a fat-tree has 2 "
                           "or 3 of them here")
    need(nodes_per_leaf >= 0, f"network '{name or 'fat-tree'}': nodes_per_leaf is "
                              f"{nodes_per_leaf}, must be above 0, or 0 for half of the ports")
    half = ports // 2
    each = nodes_per_leaf or half
    nodes = ports * each * (half if levels == 3 else 1)
    name = name or f"fat-tree-{nodes}"
    need(each < ports, f"network '{name}': nodes_per_leaf is {each}, and a switch has {ports} "
                       "ports, of which one at least has to go up")
    ups = min(half, ports - each)
    need(ports % 2 == 0, f"network '{name}': ports is {ports}, an odd number; half of the ports "
                         "of a switch go up and half go down, so use an even number")
    refuse_large(name, nodes, ports**(levels - 1) * half)
    if levels == 2:
        return _two_levels(name, ports, each, ups, link_gbit_s / taper, node_gbit_s)
    pod_size = half + ups
    core = ports * pod_size
    cables: list[Cable] = []
    for pod in range(ports):
        base = pod * pod_size
        for up in range(ups):
            cables += [(base + edge, base + half + up, LinkKind.LOCAL, link_gbit_s / taper)
                       for edge in range(half)]
            cables += [(base + half + up, core + up * half + port, LinkKind.GLOBAL,
                        link_gbit_s / taper) for port in range(half)]
    edges = np.concatenate([np.arange(half) + pod * pod_size for pod in range(ports)])
    group = np.concatenate((np.repeat(np.arange(ports), pod_size), np.full(ups * half, ports)))
    return build(name, "fat-tree", node_router=np.repeat(edges, each), router_group=group,
                 cables=cables, node_gbit_s=node_gbit_s)


def _two_levels(name: str, ports: int, each: int, spines: int, up_gbit_s: float,
                node_gbit_s: float) -> Topology:
    """Leaves that are joined to every spine."""
    cables: list[Cable] = [(leaf, ports + spine, LinkKind.GLOBAL, up_gbit_s)
                           for leaf in range(ports) for spine in range(spines)]
    return build(name, "fat-tree", node_router=np.repeat(np.arange(ports), each),
                 router_group=np.concatenate((np.arange(ports), np.full(spines, ports))),
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
