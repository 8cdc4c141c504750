"""From a view with bounds to the placement that keeps them."""

from __future__ import annotations

import numpy as np

from wattline.model.errors import InputError
from wattline.model.views import View
from wattline.policies.placement.bounded import Bounded


def bounded(view: View, nodes: int, least_factor: float = 1.0) -> Bounded:
    """Keep the power bound of a view whose nodes are called n0, n1, ... and idle now.

    `least_factor` is the lowest power, relative to full speed, to which all jobs may be slowed.
    """
    if not view.bounds:
        raise InputError(f"view '{view.name}' has no bounds to keep")
    bound = view.bounds[0]
    used, limit = view.column(bound.used), view.column(bound.limit)
    room = np.where(np.isnan(limit), np.inf, limit - np.nan_to_num(used))
    leaf = np.array([view.tree.of(f"n{node}") for node in range(nodes)], dtype=np.int64)
    return Bounded(leaf, view.tree.parent, room, room.copy(), room.copy(), least_factor)
