"""The six patterns as libraries send them: in steps, each task waiting for the step before.

An all-to-all goes in as many steps as there are other tasks, the k-th one sending to the task k
places further; a broadcast goes down a binary tree; a 3-D FFT is one all-to-all in each row and
then one in each column; halos in two and three dimensions exchange one dimension after the other;
the halo of 26 neighbours is one step. This is how the message-passing layer of the simulator
behind the published evaluation works, and it is what the packet simulator can follow.
"""

from __future__ import annotations

import numpy as np

from wattline.model.jobs import IntArray
from wattline.network.traffic import Traffic, grid, pattern


def in_steps(name: str, tasks: int) -> tuple[Traffic, IntArray]:
    """The messages of a pattern, and the step in which each is sent."""
    if name == "broadcast":
        return _tree(tasks)
    traffic = pattern(name, tasks)
    source, target = traffic.source, traffic.target
    if name == "all-to-all":
        step = (target - source) % max(1, tasks) - 1
    elif name == "fft3d":
        step = _rows_then_columns(tasks, source, target)
    elif name == "halo3d26":
        step = np.zeros(len(source), dtype=np.int64)
    else:
        sides = grid(tasks, 2 if name == "halo2d" else 3)
        here, there = (np.stack(np.unravel_index(ends, sides)) for ends in (source, target))
        step = np.argmax(here != there, axis=0)
    return traffic, step.astype(np.int64)


def _tree(tasks: int) -> tuple[Traffic, IntArray]:
    """Task c hears from task (c - 1) // 2, one step for each level of the tree."""
    target = np.arange(1, tasks, dtype=np.int64)
    depth = np.floor(np.log2(target + 1)).astype(np.int64)
    return Traffic(tasks, (target - 1) // 2, target, np.ones(len(target))), depth - 1


def _rows_then_columns(tasks: int, source: IntArray, target: IntArray) -> IntArray:
    rows, columns = grid(tasks, 2)
    same_row = source // columns == target // columns
    along_row = (target - source) % columns - 1
    along_column = (target // columns - source // columns) % rows - 1
    return np.where(same_row, along_row, columns - 1 + along_column).astype(np.int64)
