"""In whose shares an association has which part: what fairshare.py goes by."""

from __future__ import annotations

import numpy as np

from wattline.shared_nodes.machine import Associations, FloatArray, IntArray


def share_parents(tree: Associations) -> IntArray:
    """In whose shares each has a part: what lies in an account with Fairshare=parent is treated as
    if it lay in the account above (fair_tree.html)."""
    found = tree.parent.astype(np.int64).copy()
    for row in range(len(found)):
        while found[row] > 0 and tree.shares[found[row]] < 0:
            found[row] = tree.parent[found[row]]
    return found


def share_parts(tree: Associations, parent: IntArray) -> FloatArray:
    """Of the shares of its siblings; -1 where it stands as its parent does."""
    shares = np.maximum(tree.shares, 0).astype(np.float64)
    siblings = np.bincount(np.maximum(parent, 0), np.where(parent >= 0, shares, 0.0), len(shares))
    part = shares / np.maximum(siblings[np.maximum(parent, 0)], 1e-300)
    return np.where(parent < 0, 1.0, np.where(tree.shares < 0, -1.0, part))


def depth_of(parent: IntArray, row: int) -> int:
    depth = 0
    while parent[row] >= 0 and depth <= len(parent):
        row = int(parent[row])
        depth += 1
    return depth
