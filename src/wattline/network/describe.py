"""A topology in figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.units import fold_hosts
from wattline.network.topology.base import LinkKind, Topology


def describe(topology: Topology) -> dict[str, Any]:
    """Counts and bandwidths, as plain values."""
    kinds = []
    for kind in LinkKind:
        of_kind = topology.link_gbit_s[topology.link_kind == kind]
        if of_kind.size:
            kinds.append({"kind": kind.name.lower(), "count": int(of_kind.size),
                          "gbit_s": float(np.median(of_kind)),
                          "gbit_s_least": float(of_kind.min()),
                          "gbit_s_most": float(of_kind.max()),
                          "gbit_s_total": float(of_kind.sum())})
    per_router = np.bincount(topology.node_router, minlength=topology.routers)
    per_group = np.bincount(topology.router_group)[topology.groups_with_nodes]
    return {
        "name": topology.name,
        "topology": topology.kind,
        "nodes": topology.nodes,
        "routers": topology.routers,
        "groups": len(topology.groups_with_nodes) if "groups" in topology.levels else 0,
        "cables": topology.cables,
        "links": topology.links,
        "nodes_per_router": _span(per_router[per_router > 0]),
        "routers_per_group": _span(per_group) if "groups" in topology.levels else 0,
        "ports_per_router": _span(np.bincount(topology.link_from, minlength=topology.routers)),
        "node_gbit_s": topology.node_gbit_s,
        **({"hosts": fold_hosts(topology.hosts)} if topology.hosts else {}),
        "links_by_kind": kinds,
        "remarks": list(topology.remarks),
    }


def _span(counts: Any) -> int | str:
    low, high = int(counts.min()), int(counts.max())
    return low if low == high else f"{low} to {high}"
