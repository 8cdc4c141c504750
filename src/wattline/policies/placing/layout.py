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
