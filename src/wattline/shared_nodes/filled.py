"""What jobs ask for, with the machine's defaults filled in.

slurm.conf: DefaultTime, MaxTime, MinNodes, MaxNodes, DefMemPerCPU, DefMemPerNode, MaxMemPerCPU,
OverSubscribe=EXCLUSIVE, ExclusiveUser, AllowQos, AllowAccounts, EnforcePartLimits; sbatch: --nodes,
--ntasks, --ntasks-per-node, --cpus-per-task, --time (whole minutes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.shared_nodes.machine import (
    EXCLUSIVE,
    EXCLUSIVE_USER,
    NO_LIMIT,
    BoolArray,
    IntArray,
    SharedMachine,
)
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import LINEAR, Rules

NO_PARTITION, TOO_LONG, QOS_NOT_ALLOWED, OVER_JOB_LIMIT = 2, 3, 5, 8
ACCOUNT_NOT_ALLOWED, TOO_MANY_NODES = 10, 11
LONGEST_S = 365 * 86400.0


@dataclass(frozen=True, eq=False)
class Filled:
    """Columns of the table of asks, and for each job and partition whether it may go there."""

    columns: dict[str, Any]
    allowed: BoolArray
    """Jobs x partitions."""
    refused: IntArray
    never: IntArray
    gres_per_node: IntArray


def fill(machine: SharedMachine, requests: Requests, rules: Rules) -> Filled:
    """Work out what every job asks for in the end."""
    parts = machine.partitions
    named = _named(machine, requests)
    first = np.argmax(named, axis=1)
    limit_s = _limits_s(requests, parts.default_time_s[first], parts.max_time_s[first])
    sizes = _sizes(requests)
    exclusive = requests.exclusive | (parts.sharing[first] == EXCLUSIVE)
    if rules.select == LINEAR:
        exclusive = np.ones_like(exclusive)
    memory = _memory(machine, requests, first, sizes)
    user, account = _owners(machine, requests)
    allowed, refused, never = _admitted(machine, requests, rules, named, limit_s, sizes, account)
    columns = {
        **sizes, **memory,
        "submit_s": requests.submit_s, "run_s": requests.run_s, "limit_s": limit_s,
        "begin_s": requests.begin_s, "exclusive": exclusive,
        "own_user": parts.sharing[first] == EXCLUSIVE_USER,
        "qos": requests.qos, "association": requests.association, "user": user,
        "nice": requests.nice, "array": requests.array,
        "array_limit": requests.array_limit, "required": requests.required,
        "requeue": requests.requeue, "exit_ok": requests.exit_ok, "held": requests.held,
        "load": requests.cpu_load, "node_w": requests.power_per_node_w,
    }
    per_job = -(-requests.gres_per_job // sizes["min_nodes"][:, None])
    gres = np.maximum(requests.gres_per_node, 0) + np.maximum(per_job, 0)
    return Filled(columns, allowed, refused, never, gres.astype(np.int64))


def _named(machine: SharedMachine, requests: Requests) -> BoolArray:
    """Jobs that name no partition go to the default one."""
    named = requests.partitions.copy()
    default = machine.partitions.default
    if default >= 0:
        named[~named.any(axis=1), default] = True
    return named


def _limits_s(requests: Requests, default_s: IntArray, longest_s: IntArray) -> Any:
    limit_s = np.where(requests.limit_s > 0, requests.limit_s, default_s)
    limit_s = np.where(limit_s >= NO_LIMIT, longest_s, limit_s)
    limit_s = np.where(limit_s >= NO_LIMIT, LONGEST_S, limit_s)
    return np.ceil(limit_s / 60.0) * 60.0


def _sizes(requests: Requests) -> dict[str, IntArray]:
    each = np.maximum(requests.cpus_per_task, 1)
    per_node = np.maximum(requests.tasks_per_node, 0)
    nodes, tasks = requests.min_nodes, requests.tasks
    given = nodes > 0
    by_node = np.where(given, nodes, 1) * np.maximum(per_node, 1)
    tasks = np.where(tasks > 0, tasks, by_node)
    needed = np.where(per_node > 0, -(-tasks // np.maximum(per_node, 1)), 1)
    min_nodes = np.where(given, np.maximum(nodes, np.where(per_node > 0, needed, 1)), needed)
    tasks = np.maximum(tasks, min_nodes)
    max_nodes = np.where(requests.max_nodes > 0, requests.max_nodes,
                         np.where(given, min_nodes, tasks))
    max_nodes = np.maximum(np.minimum(max_nodes, tasks), min_nodes)
    return {"tasks": tasks, "cpus_per_task": each, "tasks_per_node": per_node,
            "cpus": tasks * each, "min_nodes": min_nodes, "max_nodes": max_nodes,
            "asked_nodes": np.where(given, nodes, 1)}


def _memory(
    machine: SharedMachine, requests: Requests, first: IntArray, sizes: dict[str, IntArray]
) -> dict[str, IntArray]:
    """Per node, per CPU, or the whole node's; too much per CPU is had by taking more CPUs."""
    parts = machine.partitions
    per_node, per_cpu = requests.memory_per_node_mb.copy(), requests.memory_per_cpu_mb.copy()
    open_ = (per_node < 0) & (per_cpu < 0)
    default_cpu = parts.default_memory_per_cpu_mb[first]
    default_node = parts.default_memory_per_node_mb[first]
    per_cpu = np.where(open_ & (default_cpu > 0), default_cpu, per_cpu)
    open_ &= default_cpu <= 0
    per_node = np.where(open_ & (default_node > 0), default_node, per_node)
    whole = (per_node == 0) & (per_cpu < 0) | (open_ & (default_node <= 0))
    most = parts.max_memory_per_cpu_mb[first]
    over = (most > 0) & (per_cpu > most)
    factor = np.where(over, -(-per_cpu // np.maximum(most, 1)), 1)
    sizes["cpus_per_task"] = sizes["cpus_per_task"] * factor
    sizes["cpus"] = sizes["cpus"] * factor
    per_cpu = np.where(over, -(-per_cpu // factor), per_cpu)
    return {"memory_node": np.where(per_node > 0, per_node, 0),
            "memory_cpu": np.where(per_cpu > 0, per_cpu, -1), "whole_memory": whole}


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
    enforced = rules.enforce_part_limits != "no"
    checks = [
        (limit_s[:, None] <= np.ceil(parts.max_time_s / 60.0) * 60.0, TOO_LONG, enforced),
        (sizes["min_nodes"][:, None] <= parts.max_nodes, TOO_MANY_NODES, enforced),
        (sizes["max_nodes"][:, None] >= parts.min_nodes, TOO_MANY_NODES, enforced),
    ]
    if machine.qos.names:
        qos = np.maximum(requests.qos, 0)
        fine = parts.allowed_qos[:, qos].T | (requests.qos < 0)[:, None]
        checks.append((fine, QOS_NOT_ALLOWED, True))
        if rules.enforce_qos and machine.associations.accounts:
            mine = machine.associations.allowed_qos[np.maximum(requests.association, 0), qos]
            fine = (mine | (requests.qos < 0) | (requests.association < 0))[:, None]
            checks.append((fine & np.ones_like(named), QOS_NOT_ALLOWED, True))
    if machine.associations.accounts:
        fine = parts.allowed_accounts[:, np.maximum(account, 0)].T | (account < 0)[:, None]
        checks.append((fine, ACCOUNT_NOT_ALLOWED, True))
    for fine, reason, at_once in checks:
        had = allowed.any(axis=1)
        allowed = allowed & fine
        (refused if at_once else never)[had & ~allowed.any(axis=1)] = reason
    if requests.refused is not None:
        refused = np.where(requests.refused > 0, requests.refused, refused)
    return allowed, refused, never
