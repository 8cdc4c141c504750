"""Jokanovic's policy as the authors' code has it, which is not quite as their text has it.

For a job that fits a group the code finds the first group with room, as the text says; but then it
falls through to what was meant for the case that there is none, and takes the first free nodes
outside of those that it has found. So small jobs stand in label order, one job further than they
would, and may straddle two groups. Larger jobs take the last nodes, as in the text. This is what
the published figures were made with, so the study has it beside the policy of the text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wattline.model.jobs import IntArray
from wattline.network.topology.base import Topology

JOKANOVIC_CODE = "jokanovic-code"


def place_by_code(topology: Topology, sizes: Sequence[int]) -> list[IntArray]:
    """Place jobs in this order on an empty machine, by the code of the authors."""
    free = np.ones(topology.nodes, dtype=np.bool_)
    widest = int(np.bincount(topology.node_group).max())
    placed = []
    for wanted in sizes:
        idle = np.flatnonzero(free)
        if wanted > widest:
            chosen = idle[::-1][:wanted]
        else:
            found = _first_group(topology, idle, wanted)
            # Where too few are left outside, the code has no answer; here it keeps what it found.
            outside = np.setdiff1d(idle, found)
            chosen = np.concatenate((outside, found))[:wanted]
        free[chosen] = False
        placed.append(chosen.astype(np.int64))
    return placed


def _first_group(topology: Topology, idle: IntArray, wanted: int) -> IntArray:
    """The nodes for a job in the first group that has room for it; none where no group has."""
    group = topology.node_group[idle]
    roomy = np.flatnonzero(np.bincount(group, minlength=topology.groups) >= wanted)
    if roomy.size == 0:
        return idle[:0]
    found: IntArray = idle[group == roomy[0]][:wanted]
    return found
