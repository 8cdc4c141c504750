"""The parts of a job's priority that never change.

priority_multifactor.html: job size (PriorityFavorSmall, SMALL_RELATIVE_TO_TIME), partition
(PriorityJobFactor over the highest), QOS (Priority over the highest), association, TRES
(PriorityWeightTRES; NO_NORMAL_TRES leaves amounts as they are) and nice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.shared_nodes.machine import FloatArray, IntArray, SharedMachine, device_totals
from wattline.shared_nodes.rules import Priority

TOP_PRIORITY = 0xFFFF0000
"""One more than the first job of priority/basic has."""


def job_factors(
    machine: SharedMachine, priority: Priority, columns: dict[str, Any], job_tres: IntArray
) -> FloatArray:
    """Per job, weights included; the partition's part is `entry_factors`."""
    total = priority.job_size * _size(machine, priority, columns)
    total = total - np.asarray(columns["nice"], dtype=np.float64)
    total += priority.qos * _by_row(machine.qos.priority, columns["qos"])
    total += priority.association * _by_row(machine.associations.priority, columns["association"])
    if priority.tres:
        weights = np.zeros(machine.resources)
        weights[: len(priority.tres)] = priority.tres[: machine.resources]
        whole = np.ones(machine.resources)
        if not priority.no_normal_tres:
            nodes = machine.nodes
            devices = nodes.gres.sum(axis=0)
            whole = np.concatenate((
                [nodes.cpus.sum(), nodes.memory_mb.sum(), len(nodes.names)], devices,
                [sum(devices[at] for at, kind in enumerate(nodes.gres_kinds) if kind[0] == name)
                 for name in device_totals(nodes.gres_kinds)])).astype(np.float64)
        total += (job_tres / np.maximum(whole, 1.0)) @ weights
    return total


def basic_priorities(nice: IntArray, array: IntArray) -> FloatArray:
    """Of priority/basic: submissions in their order, an array as one (priority_basic.c)."""
    rows = np.arange(len(nice))
    _, first, of = np.unique(np.where(array >= 0, array, -1 - rows), return_index=True,
                             return_inverse=True)
    is_first = np.zeros(len(nice), dtype=np.int64)
    is_first[first] = 1
    number = np.cumsum(is_first)[first[of]]
    return np.asarray(TOP_PRIORITY - number - nice, dtype=np.float64)


def entry_factors(machine: SharedMachine, priority: Priority, partition: IntArray) -> FloatArray:
    factor = machine.partitions.job_factor.astype(np.float64)
    highest = factor.max(initial=0.0)
    if highest <= 0.0:
        return np.zeros(len(partition))
    return np.asarray(priority.partition * factor[partition] / highest)


def _by_row(values: IntArray, row: IntArray) -> FloatArray:
    """The value of each row over the highest; 0 for none."""
    highest = values.max(initial=0)
    if highest <= 0:
        return np.zeros(len(row))
    return np.asarray(np.where(row >= 0, values[np.maximum(row, 0)], 0) / highest)


def _size(machine: SharedMachine, priority: Priority, columns: dict[str, Any]) -> FloatArray:
    cpus = columns["cpus"] / max(int(machine.nodes.cpus.sum()), 1)
    # The nodes that were asked for (-N): one where the tasks alone say how many it will take.
    nodes = columns["asked_nodes"] / max(len(machine.nodes.names), 1)
    if priority.small_relative_to_time:
        size = cpus / np.maximum(columns["limit_s"] / 60.0, 1.0)
        return np.asarray(1.0 - size if priority.favor_small else size)
    size = (cpus + nodes) / 2.0
    return np.asarray(1.0 - size if priority.favor_small else size)
