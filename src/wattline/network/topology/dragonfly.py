"""Dragonflies: canonical ones with three arrangements of global links, and Aries-like ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wattline.model.errors import InputError
from wattline.network.topology.base import (
    Cable,
    LinkKind,
    Topology,
    build,
    need,
    positive,
    refuse_large,
)

ARRANGEMENTS = ("absolute", "relative", "circulant")


def dragonfly(nodes_per_router: int = 4, routers_per_group: int = 4, groups: int = 17, *,
              global_ports: int = 0, arrangement: str = "absolute", local_gbit_s: float = 8.0,
              global_gbit_s: float = 8.0, node_gbit_s: float = 8.0, name: str = "") -> Topology:
    """The dragonfly of Kim et al.: p nodes per router, a routers per group, g groups.

    Routers of a group are joined all to all. `global_ports` (h) is the number of global ports of
    a router; 0 takes the smallest number that joins every two groups.
    """
    p, a, g = nodes_per_router, routers_per_group, groups
    name = name or f"dragonfly-{p * a * g}"
    positive(name, nodes_per_router=p, routers_per_group=a, groups=g, local_gbit_s=local_gbit_s,
             global_gbit_s=global_gbit_s, node_gbit_s=node_gbit_s)
    ports = a * (global_ports or -(-(g - 1) // a))
    between = ports // max(g - 1, 1) * (g * (g - 1) // 2)
    refuse_large(name, p * a * g, g * (a * (a - 1) // 2) + between)
    cables: list[Cable] = []
    for group in range(g):
        cables += [(group * a + one, group * a + other, LinkKind.LOCAL, local_gbit_s)
                   for one in range(a) for other in range(one + 1, a)]
    cables += [(i * a + one // (ports // a), j * a + other // (ports // a), LinkKind.GLOBAL,
                global_gbit_s)
               for i, one, j, other in global_ports_joined(name, g, ports, arrangement)]
    routers = np.arange(a * g)
    return build(name, "dragonfly", node_router=np.repeat(routers, p), router_group=routers // a,
                 cables=cables, node_gbit_s=node_gbit_s)


def global_ports_joined(name: str, groups: int, ports: int,
                        arrangement: str) -> Iterator[tuple[int, int, int, int]]:
    """Which port of which group meets which: (group, port, other group, its port), i < j.

    Ports are numbered 0 to a*h-1 in each group. With k*(g-1) ports, k links join two groups.
    """
    if arrangement not in ARRANGEMENTS:
        raise InputError(f"network '{name}': arrangement '{arrangement}' is unknown; "
                         f"write one of {', '.join(ARRANGEMENTS)}")
    if groups == 1:
        return
    others = groups - 1
    need(ports >= others, f"network '{name}' is not connected all to all: a group has {ports} "
                          f"global ports for {others} other groups; raise global_ports")
    need(arrangement != "circulant" or others % 2 == 0,
         f"network '{name}': the circulant arrangement pairs ports, so the number of other "
         f"groups must be even, and it is odd ({others}); use an odd number of groups")
    # Ports that are left over after each pair of groups has its equal share stay unused.
    for layer in range(ports // others):
        for i in range(groups):
            for j in range(i + 1, groups):
                yield (i, layer * others + _port(i, j, groups, arrangement),
                       j, layer * others + _port(j, i, groups, arrangement))


def _port(group: int, other: int, groups: int, arrangement: str) -> int:
    """The port by which `group` meets `other` under an arrangement."""
    if arrangement == "absolute":
        return other if other < group else other - 1
    ahead = (other - group) % groups
    if arrangement == "relative":
        return ahead - 1
    # Circulant: ports go +1, -1, +2, -2, ... groups away.
    return 2 * (ahead - 1) if ahead <= groups // 2 else 2 * (groups - ahead - 1) + 1


def dragonfly_plus(nodes_per_leaf: int = 8, leaves_per_group: int = 8, spines_per_group: int = 8,
                   groups: int = 9, *, global_ports: int = 0, arrangement: str = "absolute",
                   local_gbit_s: float = 100.0, global_gbit_s: float = 100.0,
                   node_gbit_s: float = 100.0, name: str = "") -> Topology:
    """The dragonfly+ of Shpiner et al.: a group is a fat-tree of two levels.

    Nodes hang on leaves, every leaf is joined to every spine of its group, and the spines have the
    links to other groups: `global_ports` each; 0 takes the smallest number that joins every two
    groups. The leaves of a group come before its spines.
    """
    p, leaves, spines, g = nodes_per_leaf, leaves_per_group, spines_per_group, groups
    name = name or f"dragonfly+-{p * leaves * g}"
    positive(name, nodes_per_leaf=p, leaves_per_group=leaves, spines_per_group=spines, groups=g,
             local_gbit_s=local_gbit_s, global_gbit_s=global_gbit_s, node_gbit_s=node_gbit_s)
    each = global_ports or -(-(g - 1) // spines)
    ports = spines * each
    between = ports // max(g - 1, 1) * (g * (g - 1) // 2)
    refuse_large(name, p * leaves * g, g * leaves * spines + between)
    routers = leaves + spines
    cables: list[Cable] = [
        (group * routers + leaf, group * routers + leaves + spine, LinkKind.LOCAL, local_gbit_s)
        for group in range(g) for leaf in range(leaves) for spine in range(spines)]
    cables += [(i * routers + leaves + one // each, j * routers + leaves + other // each,
                LinkKind.GLOBAL, global_gbit_s)
               for i, one, j, other in global_ports_joined(name, g, ports, arrangement)]
    holding = np.concatenate([group * routers + np.arange(leaves) for group in range(g)])
    return build(name, "dragonfly+", node_router=np.repeat(holding, p),
                 router_group=np.arange(g * routers) // routers, cables=cables,
                 node_gbit_s=node_gbit_s)


def aries(groups: int = 9, rows: int = 6, columns: int = 16, nodes_per_router: int = 4, *,
          links_per_group_pair: int = 24, row_gbit_s: float = 42.0, column_gbit_s: float = 42.0,
          column_lanes: int = 3, global_gbit_s: float = 12.0, global_lanes: int = 1,
          node_gbit_s: float = 128.0, name: str = "") -> Topology:
    """An Aries-like dragonfly: routers of a group in rows and columns, each joined all to all.

    Bandwidths are those of one cable; a pair of routers of one column has `column_lanes` cables,
    and a link between two groups has `global_lanes`. The links between two groups take the
    routers in turn, so that the load is even.
    """
    routers = rows * columns
    name = name or f"aries-{groups * routers * nodes_per_router}"
    positive(name, groups=groups, rows=rows, columns=columns, nodes_per_router=nodes_per_router,
             row_gbit_s=row_gbit_s, column_gbit_s=column_gbit_s, column_lanes=column_lanes,
             global_gbit_s=global_gbit_s, global_lanes=global_lanes, node_gbit_s=node_gbit_s)
    need(groups == 1 or links_per_group_pair >= 1,
         f"network '{name}' is not connected: links_per_group_pair is {links_per_group_pair}")
    inside = (rows * (columns * (columns - 1) // 2)
              + columns * (rows * (rows - 1) // 2) * column_lanes)
    between = groups * (groups - 1) // 2 * links_per_group_pair * global_lanes
    refuse_large(name, groups * routers * nodes_per_router, groups * inside + between)
    cables: list[Cable] = []
    for group in range(groups):
        base = group * routers
        for row in range(rows):
            for column in range(columns):
                here = base + row * columns + column
                cables += [(here, base + row * columns + other, LinkKind.ROW, row_gbit_s)
                           for other in range(column + 1, columns)]
                cables += [(here, base + other * columns + column, LinkKind.COLUMN, column_gbit_s)
                           for other in range(row + 1, rows)] * column_lanes
    used = [0] * groups
    for one in range(groups):
        for other in range(one + 1, groups):
            for _ in range(links_per_group_pair):
                cables += [(one * routers + used[one] % routers,
                            other * routers + used[other] % routers,
                            LinkKind.GLOBAL, global_gbit_s)] * global_lanes
                used[one] += 1
                used[other] += 1
    numbers = np.arange(groups * routers)
    return build(name, "aries", node_router=np.repeat(numbers, nodes_per_router),
                 router_group=numbers // routers, cables=cables, node_gbit_s=node_gbit_s)
