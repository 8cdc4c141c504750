"""What jobs ask for, with the machine's defaults filled in.

slurm.conf: MaxTime, MinNodes, MaxNodes, MaxMemPerNode, AllowQos, AllowAccounts, EnforcePartLimits
(ALL: a job that breaks a limit of any of its partitions is refused; ANY: one that no partition
takes; NO: it waits for ever); sbatch: --nodes, --ntasks, --ntasks-per-node, --cpus-per-task, --time
(whole minutes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.shared_nodes.devices import most_nodes_for_devices
from wattline.shared_nodes.in_partition import in_partition, limits_s
from wattline.shared_nodes.machine import NO_LIMIT, BoolArray, IntArray, SharedMachine
from wattline.shared_nodes.node_bounds import most_asked
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.widening import TASKS_TOO, WIDENS

NO_PARTITION, TOO_LONG, QOS_NOT_ALLOWED, OVER_JOB_LIMIT = 2, 3, 5, 8
ACCOUNT_NOT_ALLOWED, TOO_MANY_NODES, TOO_MUCH_MEMORY = 10, 11, 21


@dataclass(frozen=True, eq=False)
class Filled:
    """Columns of the table of asks, and for each job and partition whether it may go there."""

    columns: dict[str, Any]
    sizes: dict[str, IntArray]
    """Nodes, tasks and CPUs before any partition changed them."""
    allowed: BoolArray
    """Jobs x partitions."""
    order: IntArray | None
    """Jobs x partitions: the place at which a job names each, where that matters."""
    refused: IntArray
    never: IntArray


@dataclass(frozen=True, eq=False)
class Pairs:
    """One row per job and partition that it may go to."""

    job: IntArray
    partition: IntArray
    first: IntArray
    """Per job where its rows begin."""
    count: IntArray


def pairs_of(filled: Filled) -> Pairs:
    """Partitions of a job in the order in which it names them: of those that would take it now,
    and that stand alike, the first does (sbatch: --partition; as tried on Slurm 22.05.8)."""
    job, partition = np.nonzero(filled.allowed)
    if filled.order is not None:
        partition = partition[np.lexsort((filled.order[job, partition], job))]
    count = filled.allowed.sum(axis=1)
    return Pairs(job, partition, np.cumsum(count) - count, count)


def fill(machine: SharedMachine, requests: Requests, rules: Rules) -> Filled:
    """Work out what every job asks for in the end."""
    parts = machine.partitions
    named = _named(machine, requests)
    order = requests.partition_order
    first = np.argmax(named, axis=1) if order is None else np.argmin(
        np.where(named, order, NO_LIMIT), axis=1)
    limit_s = limits_s(requests.limit_s[:, None], parts.default_time_s, parts.max_time_s,
                       int(NO_LIMIT))
    sizes = _sizes(requests)
    every = np.arange(len(first))
    user, account = _owners(machine, requests)
    allowed, refused, never = _admitted(machine, requests, rules, named, limit_s, sizes, account)
    none = np.full(len(first), -1)
    by_gpu = {name: np.maximum(none if asked is None else asked, 0) for name, asked in (
        ("gpu_cpus", requests.cpus_per_gpu), ("gpu_memory", requests.memory_per_gpu_mb))}
    columns = {
        **sizes, **by_gpu, **in_partition(machine, requests, rules, sizes, every, first),
        "submit_s": requests.submit_s, "run_s": requests.run_s,
        "begin_s": requests.begin_s,
        "prompted": np.zeros(len(first), bool) if requests.let_go is None else requests.let_go,
        "qos": requests.qos, "association": requests.association, "user": user,
        "nice": requests.nice, "array": requests.array,
        "array_limit": requests.array_limit, "required": requests.required,
        "requeue": requests.requeue, "exit_ok": requests.exit_ok, "held": requests.held,
        "load": requests.cpu_load, "node_w": requests.power_per_node_w,
    }
    return Filled(columns, sizes, allowed, order, refused, never)


def _named(machine: SharedMachine, requests: Requests) -> BoolArray:
    """Jobs that name no partition go to the default one."""
    named = requests.partitions.copy()
    default = machine.partitions.default
    if default >= 0:
        named[~named.any(axis=1), default] = True
    return named


def _sizes(requests: Requests) -> dict[str, IntArray]:
    each = np.maximum(requests.cpus_per_task, 1)
    per_node = np.maximum(requests.tasks_per_node, 0)
    nodes, tasks = requests.min_nodes, requests.tasks
    given = nodes > 0
    # Devices in all come from as few nodes as have them, each of which gives one at least.
    in_all = most_nodes_for_devices(requests)
    counts = in_all < NO_LIMIT
    as_many = np.zeros(len(nodes), bool) if requests.as_many_nodes is None \
        else requests.as_many_nodes & (requests.max_nodes > nodes) & given & ~counts
    by_node = np.where(given, nodes, 1) * np.maximum(per_node, 1)
    tasks = np.where(tasks > 0, tasks, by_node)
    needed = np.where(per_node > 0, -(-tasks // np.maximum(per_node, 1)), 1)
    min_nodes = np.where(given, np.maximum(nodes, np.where(per_node > 0, needed, 1)), needed)
    tasks = np.maximum(tasks, min_nodes)
    # Where tasks are not said, there is one for each node that it gets.
    said = (requests.tasks > 0) | ~(as_many | counts)
    max_nodes = np.where(requests.max_nodes > 0, requests.max_nodes,
                         np.where(given, min_nodes, np.where(said, tasks, in_all)))
    max_nodes = np.minimum(np.where(said, np.minimum(max_nodes, tasks), max_nodes), in_all)
    max_nodes = np.maximum(max_nodes, min_nodes)
    # Each node gives CPUs for all tasks that it may have, unless the job has one task alone.
    tasks = np.where(tasks > 1, np.maximum(tasks, min_nodes * per_node), tasks)
    return {"tasks": tasks, "cpus_per_task": each, "tasks_per_node": per_node,
            "cpus": tasks * each, "min_nodes": min_nodes, "max_nodes": max_nodes,
            "asked_nodes": np.where(given, nodes, 1),
            "widens": np.where(as_many, np.where(said, WIDENS, TASKS_TOO), 0)}


def _owners(machine: SharedMachine, requests: Requests) -> tuple[IntArray, IntArray]:
    associations = machine.associations
    known = requests.association >= 0
    if not associations.account.size:
        nobody = np.full(len(known), -1)
        return nobody, nobody
    row = np.maximum(requests.association, 0)
    return (np.where(known, associations.user[row], -1),
            np.where(known, associations.account[row], -1))


def _admitted(
    machine: SharedMachine, requests: Requests, rules: Rules, named: BoolArray, limit_s: Any,
    sizes: dict[str, IntArray], account: IntArray,
) -> tuple[BoolArray, IntArray, IntArray]:
    """Jobs x partitions that take them; why the others are refused, or wait for ever."""
    parts = machine.partitions
    count = len(requests.submit_s)
    refused, never = np.zeros(count, np.int64), np.zeros(count, np.int64)
    allowed = named & parts.up
    refused[~named.any(axis=1)] = NO_PARTITION
    never[named.any(axis=1) & ~allowed.any(axis=1)] = NO_PARTITION
    for fine, reason in _part_limits(machine, requests, limit_s, sizes, account):
        had = allowed.any(axis=1)
        allowed = allowed & fine
        if rules.enforce_part_limits == "no":
            never[had & ~allowed.any(axis=1)] = reason
            continue
        broken = had & ~allowed.any(axis=1)
        if rules.enforce_part_limits == "all":
            broken = (named & ~fine).any(axis=1)
        refused[broken & (refused == 0)] = reason
    if rules.enforce_qos and machine.qos.names and machine.associations.accounts:
        mine = machine.associations.allowed_qos[np.maximum(requests.association, 0),
                                                np.maximum(requests.qos, 0)]
        refused[~mine & (requests.qos >= 0) & (requests.association >= 0)] = QOS_NOT_ALLOWED
    if requests.refused is not None:
        refused = np.where(requests.refused > 0, requests.refused, refused)
    return allowed, refused, never


def _part_limits(
    machine: SharedMachine, requests: Requests, limit_s: Any, sizes: dict[str, IntArray],
    account: IntArray,
) -> list[tuple[BoolArray, int]]:
    """For each limit that `EnforcePartLimits` is about, the jobs x partitions that keep it."""
    parts = machine.partitions
    checks = [
        (limit_s <= np.ceil(parts.max_time_s / 60.0) * 60.0, TOO_LONG),
        (_most_nodes(requests, sizes)[:, None] <= parts.max_nodes, TOO_MANY_NODES),
        (most_asked(requests)[:, None] >= parts.min_nodes, TOO_MANY_NODES),
        (_memory_on_a_node(requests, sizes) <= parts.max_memory_per_node_mb, TOO_MUCH_MEMORY),
    ]
    if machine.qos.names:
        fine = parts.allowed_qos[:, np.maximum(requests.qos, 0)].T | (requests.qos < 0)[:, None]
        checks.append((fine, QOS_NOT_ALLOWED))
    if machine.associations.accounts:
        fine = parts.allowed_accounts[:, np.maximum(account, 0)].T | (account < 0)[:, None]
        checks.append((fine, ACCOUNT_NOT_ALLOWED))
    return checks


def _most_nodes(requests: Requests, sizes: dict[str, IntArray]) -> IntArray:
    """Nodes that `MaxNodes` of a partition is held against: the most that a job says (-N 1-4), or
    those that its tasks need."""
    said = most_asked(requests)
    return np.maximum(np.where(said < NO_LIMIT, said, 0), sizes["min_nodes"])


def _memory_on_a_node(requests: Requests, sizes: dict[str, IntArray]) -> IntArray:
    """MB as asked for; of one with memory per CPU, for the CPUs that it has on a node at least."""
    per_cpu = np.maximum(requests.memory_per_cpu_mb, 0)
    cpus = np.maximum(sizes["tasks_per_node"], 1) * sizes["cpus_per_task"]
    return np.asarray(np.maximum(requests.memory_per_node_mb, per_cpu * cpus)[:, None])
