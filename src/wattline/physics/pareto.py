"""The index that answers "what is fastest within these nodes and watts" in O(log n).

Of all configurations within a node count only those matter that no other beats in both power and
time. Sorted by power they get faster and faster, so the answer to a bound is found by halving.
There is one such front for each node count of the table, because a scheduler asks with the nodes
that are free as well as with the watts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import IntArray
from wattline.model.kernel import kernel
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable

Flags = npt.NDArray[np.bool_]

NONE = -1
"""Stands for "no configuration fits"."""


class ParetoIndex(NamedTuple):
    """Fronts of several applications, laid one after another; kernels read it as it is."""

    first_level: IntArray
    """For each application its first row in `level_nodes`; one more entry ends the last."""
    level_nodes: IntArray
    """Node counts, increasing within an application."""
    first_point: IntArray
    """For each level its first point of a front; one more entry ends the last."""
    power_w: FloatArray
    """Of the points of a front, increasing."""
    time_s: FloatArray
    """Of the points of a front, decreasing."""
    row: IntArray
    """Which row of the joined table a point is."""


class JoinedTables(NamedTuple):
    """The rows of several tables, one after another."""

    first_row: IntArray
    nodes: IntArray
    time_s: FloatArray
    power_w: FloatArray


def join(tables: Sequence[ConfigurationTable]) -> JoinedTables:
    sizes = np.array([0, *(len(table) for table in tables)], dtype=np.int64)
    return JoinedTables(
        np.cumsum(sizes),
        *(np.concatenate([getattr(table, name) for table in tables])
          for name in ("nodes", "time_s", "power_w")),
    )


def build_index(
    tables: Sequence[ConfigurationTable], kept: Sequence[Flags] | None = None
) -> ParetoIndex:
    """The index of these tables, or of the rows that are `kept`; application `i` is `tables[i]`."""
    first_level, level_nodes, first_point = [0], [], [0]
    rows: list[IntArray] = []
    offset = 0
    for place, table in enumerate(tables):
        order = np.lexsort((table.time_s, table.power_w))
        if kept is not None:
            order = order[kept[place][order]]
        for count in np.unique(table.nodes[order]):
            front = _front(table, order[table.nodes[order] <= count])
            level_nodes.append(int(count))
            first_point.append(first_point[-1] + len(front))
            rows.append(front + offset)
        first_level.append(len(level_nodes))
        offset += len(table)
    joined = join(tables)
    row = np.concatenate([*rows, np.zeros(0, dtype=np.int64)])
    return ParetoIndex(
        np.array(first_level, dtype=np.int64), np.array(level_nodes, dtype=np.int64),
        np.array(first_point, dtype=np.int64), joined.power_w[row], joined.time_s[row], row,
    )


@kernel
def fastest_within(index: ParetoIndex, application: int, nodes: int, power_w: float) -> int:
    """Row of the fastest configuration of at most these nodes and watts, or -1."""
    low, high = index.first_level[application], index.first_level[application + 1]
    end = high
    while low < end:
        middle = (low + end) // 2
        if index.level_nodes[middle] <= nodes:
            low = middle + 1
        else:
            end = middle
    if low == index.first_level[application]:
        return -1
    start, end = index.first_point[low - 1], index.first_point[low]
    first = start
    while start < end:
        middle = (start + end) // 2
        if index.power_w[middle] <= power_w:
            start = middle + 1
        else:
            end = middle
    return -1 if start == first else index.row[start - 1]


def _front(table: ConfigurationTable, order: IntArray) -> IntArray:
    """Of rows sorted by power, those that are faster than every row before them."""
    times = table.time_s[order]
    best_before = np.concatenate([[np.inf], np.minimum.accumulate(times)[:-1]])
    front: IntArray = order[times < best_before]
    return front
