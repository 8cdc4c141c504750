"""Does each job by itself keep to its limits? By what it held, from the results alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wattline.shared_nodes.machine import (
    EXCLUSIVE,
    NO_LIMIT,
    FloatArray,
    SharedLimits,
    SharedMachine,
    device_totals,
)
from wattline.shared_nodes.outcome import Schedule
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import LINEAR, Rules


def held_tres(machine: SharedMachine, requests: Requests, found: Schedule) -> FloatArray:
    """Jobs x resources: CPUs, memory, nodes and devices that each held."""
    count = len(requests.submit_s)
    tres = np.zeros((count, machine.resources))
    job = found.allocation_job
    columns = [found.allocation_cpus, found.allocation_memory_mb, np.ones(len(job)),
               *_devices(machine, requests, found)]
    for column, amount in enumerate(columns):
        tres[:, column] = np.bincount(job, weights=amount, minlength=count)
    return tres


def per_job(
    machine: SharedMachine, requests: Requests, rules: Rules, found: Schedule
) -> Iterator[str]:
    """MinNodes and MaxNodes of partitions; MaxTRES of QOS and associations, MaxNodes of these."""
    parts = machine.partitions
    tres = held_tres(machine, requests, found)
    for job in np.unique(found.allocation_job).tolist():
        nodes, partition = tres[job, 2], int(found.partition[job])
        if not parts.min_nodes[partition] <= nodes <= parts.max_nodes[partition]:
            yield (f"job in row {job} has {nodes:g} nodes, which partition "
                   f"{parts.names[partition]} does not allow")
            return
        if not rules.enforce_limits:
            continue
        for column, most in enumerate(_most(machine, requests, job, partition)):
            if tres[job, column] > most:
                yield (f"job in row {job} has {tres[job, column]:g} of resource {column}, where a "
                       f"job may have {most}")
                return


def tasks_on_nodes(requests: Requests, found: Schedule) -> Iterator[str]:
    """Each node of a job with tasks per node gives CPUs for so many, unless it has one task alone.

    Jobs with devices in all are spread by these.
    """
    job = found.allocation_job
    counts = (requests.tasks != 1) & ~(requests.gres_per_job > 0).any(axis=1)
    least = np.maximum(requests.tasks_per_node, 0) * np.maximum(requests.cpus_per_task, 1) * counts
    few = np.flatnonzero(found.allocation_cpus < least[job])
    if len(few):
        yield (f"job in row {job[few[0]]} has a node with {found.allocation_cpus[few[0]]} CPUs, "
               f"where its tasks need {least[job[few[0]]]}")


def devices_in_all(
    machine: SharedMachine, requests: Requests, rules: Rules, found: Schedule
) -> Iterator[str]:
    """A job has the devices that it asks for in all, and one of them at least on each node.

    It has no more of them, unless its nodes are its own.
    """
    job, kinds = found.allocation_job, machine.nodes.gres_kinds
    whole = requests.exclusive | (machine.partitions.sharing[found.partition] == EXCLUSIVE) | (
        rules.select == LINEAR)
    for row in np.unique(job[(requests.gres_per_job[job] > 0).any(axis=1)]).tolist():
        held = found.allocation_gres[job == row]
        for at, (name, model) in enumerate(requests.gres_choices):
            number = int(requests.gres_per_job[row, at])
            of_name = [other == name for other, _ in requests.gres_choices]
            by_part = (requests.gres_per_node + requests.gres_per_task)[row, of_name].any()
            same = [kind[0] == name and model in ("", kind[1]) for kind in kinds]
            on_node = held[:, same].sum(axis=1)
            most = int(requests.gres_per_job[row, of_name].sum())
            if number > on_node.sum() or (
                    number > 0 and most < on_node.sum() and not whole[row] and not by_part):
                yield (f"job in row {row} has {int(on_node.sum())} {name} where it asks for "
                       f"{number} in all")
                return
            if number >= len(held) and not on_node.all():
                yield f"job in row {row} has a node without the {name} that it asks for in all"
                return


def _most(machine: SharedMachine, requests: Requests, job: int, partition: int) -> list[int]:
    """By resource: the partition's QOS says it, else the job's, its association, those above."""
    tables = [limits.job_tres[row] for limits, row in _limits(machine, requests, job, partition)]
    return [next((int(table[column]) for table in tables if table[column] < NO_LIMIT),
                 int(NO_LIMIT)) for column in range(machine.resources)]


def longest_s(machine: SharedMachine, requests: Requests, found: Schedule) -> FloatArray:
    """MaxWall of each job in the partition where it ran, in the same order; else infinite."""
    most_s = np.full(len(requests.submit_s), np.inf)
    tables = (machine.qos.limits, machine.associations.limits)
    if not any((limits.job_wall_s < NO_LIMIT).any() for limits in tables):
        return most_s
    for job in np.unique(found.allocation_job).tolist():
        walls_s = [limits.job_wall_s[row]
                   for limits, row in _limits(machine, requests, job, int(found.partition[job]))]
        most_s[job] = next((float(wall_s) for wall_s in walls_s if wall_s < NO_LIMIT), np.inf)
    return most_s


def _limits(
    machine: SharedMachine, requests: Requests, job: int, partition: int
) -> Iterator[tuple[SharedLimits, int]]:
    """Tables of limits and the job's row in each, in order of precedence."""
    for row in (int(machine.partitions.qos[partition]), int(requests.qos[job])):
        if row >= 0:
            yield machine.qos.limits, row
    row = int(requests.association[job])
    while row >= 0:
        yield machine.associations.limits, row
        row = int(machine.associations.parent[row])


def _devices(machine: SharedMachine, requests: Requests, found: Schedule) -> Iterator[Any]:
    """By type what was asked for by it, then by name all of it."""
    job, held, kinds = found.allocation_job, found.allocation_gres, machine.nodes.gres_kinds
    asked = (requests.gres_per_node + requests.gres_per_job + requests.gres_per_task) > 0
    for at, kind in enumerate(kinds):
        by_type = requests.exclusive.copy()
        if kind in requests.gres_choices:
            by_type |= asked[:, requests.gres_choices.index(kind)]
        yield held[:, at] * by_type[job]
    for name in device_totals(kinds):
        yield sum(held[:, at] for at, kind in enumerate(kinds) if kind[0] == name)
