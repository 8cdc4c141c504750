"""The fewest watts that a job can add to the machine, whichever of its nodes it gets."""

from __future__ import annotations

import numpy as np

from wattline.shared_nodes.filled import Filled, Pairs
from wattline.shared_nodes.machine import BoolArray, FloatArray, IntArray, SharedMachine
from wattline.shared_nodes.rules import Rules


def least_watts(
    machine: SharedMachine, filled: Filled, pairs: Pairs, entry: np.recarray,
    classes: tuple[IntArray, IntArray], needs: dict[str, IntArray], choice_kind: np.ndarray,
) -> FloatArray:
    """Of each job in each of its partitions, from the nodes of its class: see power.py.

    Devices per task are left out, as an exclusive job may use its CPUs in other tasks.
    """
    nodes, (first, class_nodes) = machine.nodes, classes
    load, node_w = (np.asarray(filled.columns[name])[pairs.job] for name in ("load", "node_w"))
    found = np.zeros(len(entry))
    device_w = _cheapest_devices(machine, choice_kind)
    for number in range(len(first) - 1):
        at = class_nodes[first[number] : first[number + 1]]
        rows = np.flatnonzero(entry["nodes"] == number)
        if not len(at) or not len(rows):
            continue
        row, job = entry[rows], pairs.job[rows]
        cpu_w = row["cpus"] * nodes.cpu_w[at].min()
        whole_w = row["min_nodes"] * (nodes.cpus[at] * nodes.cpu_w[at]).min()
        watts = load[rows] * np.where(row["exclusive"] != 0, np.maximum(cpu_w, whole_w), cpu_w)
        devices = needs["own_node"][job] * row["min_nodes"][:, None] + needs["own_job"][job]
        cheapest_w = device_w[:, at].min(axis=1)
        watts += devices @ np.where(np.isfinite(cheapest_w), cheapest_w, 0.0)
        measured_w = row["min_nodes"] * np.maximum(node_w[rows] - nodes.idle_w[at].max(), 0.0)
        found[rows] = np.where(np.isnan(node_w[rows]), watts, measured_w)
    return found


def same_watts(
    machine: SharedMachine, filled: Filled, pairs: Pairs, entry: np.recarray,
    classes: tuple[IntArray, IntArray], any_gres: BoolArray, rules: Rules,
) -> BoolArray:
    """Whether each job, in each of its partitions, adds the same on whichever node of its class it
    has alone: see power.py.

    Not of those with devices or whole nodes, and not where nodes may have to be woken.
    """
    nodes, (first, class_nodes) = machine.nodes, classes
    found = np.zeros(len(entry), bool)
    if rules.suspend_time_s >= 0.0:
        return found
    measured = ~np.isnan(np.asarray(filled.columns["node_w"])[pairs.job])
    plain = ~any_gres[pairs.job] & (entry["exclusive"] == 0)
    for number in range(len(first) - 1):
        at = class_nodes[first[number] : first[number + 1]]
        threads = nodes.threads_per_core[at]
        by_cpu = all(len(np.unique(each)) == 1 for each in (nodes.cpu_w[at], threads))
        by_cpu = by_cpu and not np.any(nodes.cpus[at] % threads)
        by_node = len(np.unique(nodes.idle_w[at])) == 1
        rows = (entry["nodes"] == number) & (entry["max_nodes"] == 1)
        found |= rows & np.where(measured, by_node, plain & by_cpu)
    return found


def _cheapest_devices(machine: SharedMachine, choice_kind: np.ndarray) -> FloatArray:
    """Choices x nodes: watts of a node's cheapest device that serves who asks so, or infinity."""
    gres = machine.nodes.gres
    serves = choice_kind.reshape(len(choice_kind) // max(gres.shape[1], 1), 1, gres.shape[1])
    each = np.where(serves & (gres > 0), np.broadcast_to(machine.nodes.gres_w, gres.shape), np.inf)
    return np.asarray(each.min(axis=2, initial=np.inf))
