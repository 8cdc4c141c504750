"""The fewest watts that a job adds on a node, whichever of its nodes: for limits of parts."""

from __future__ import annotations

import numpy as np

from wattline.shared_nodes.filled import Filled
from wattline.shared_nodes.machine import BoolArray, FloatArray, IntArray, Nodes


def least_on_node(
    nodes: Nodes, filled: Filled, job: IntArray, entry: np.recarray,
    classes: tuple[IntArray, IntArray], unknown: BoolArray,
) -> FloatArray:
    """Of each job in each of its partitions, from the nodes of its class: see power.py.

    Of one node these are `least_w`. On each of several a job has the CPUs of a task at least, or
    all of them; its devices are left out, and where nodes are chosen by these or by class
    (`unknown`) nothing is known.
    """
    first, class_nodes = classes
    load, node_w = (np.asarray(filled.columns[name])[job] for name in ("load", "node_w"))
    found = np.where(entry["max_nodes"] == 1, entry["least_w"], 0.0)
    several = (entry["max_nodes"] > 1) & ~unknown[job]
    for number in range(len(first) - 1):
        at = class_nodes[first[number] : first[number + 1]]
        rows = np.flatnonzero(several & (entry["nodes"] == number))
        if not len(at) or not len(rows):
            continue
        row = entry[rows]
        task_w = row["cpus_per_task"] * nodes.cpu_w[at].min()
        whole_w = (nodes.cpus[at] * nodes.cpu_w[at]).min()
        watts = load[rows] * np.where(row["exclusive"] != 0, whole_w, task_w)
        measured_w = np.maximum(node_w[rows] - nodes.idle_w[at].max(), 0.0)
        found[rows] = np.where(np.isnan(node_w[rows]), watts, measured_w)
    return found
