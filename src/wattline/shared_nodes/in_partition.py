"""What depends on the partition in which a job starts: limit, nodes, memory, CPUs for memory.

slurm.conf: DefaultTime, OverSubscribe=EXCLUSIVE, ExclusiveUser, DefMemPerCPU, DefMemPerNode,
MaxMemPerCPU; sacctmgr: MaxWall; sbatch: --exclusive=user. A job with several partitions is tried in
each of them with what holds there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.machine import (
    EXCLUSIVE,
    EXCLUSIVE_USER,
    NO_LIMIT,
    FloatArray,
    IntArray,
    SharedMachine,
)
from wattline.shared_nodes.memberships import longest_of_a_job_s
from wattline.shared_nodes.node_bounds import node_bounds
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import LINEAR, Rules
from wattline.shared_nodes.state import Books

COLUMNS = ("limit_s", "min_nodes", "max_nodes", "cpus_per_task", "cpus", "memory_node",
           "memory_cpu", "whole_memory", "exclusive", "own_user")
LONGEST_S = 365 * 86400.0


def in_partition(
    machine: SharedMachine, requests: Requests, rules: Rules, sizes: dict[str, IntArray],
    job: IntArray, partition: IntArray,
) -> dict[str, Any]:
    """`COLUMNS` of these jobs, by their rows, each in one partition."""
    parts = machine.partitions
    exclusive = requests.exclusive[job] | (parts.sharing[partition] == EXCLUSIVE)
    if rules.select == LINEAR:
        exclusive = np.ones_like(exclusive)
    own_user = parts.sharing[partition] == EXCLUSIVE_USER
    if requests.own_user is not None:
        own_user |= requests.own_user[job]
    bounds = node_bounds(machine, requests, rules, sizes, job, partition)
    memory = _memory(machine, requests, sizes, job, partition)
    # Each node that it must have gives a task a place, or as many tasks as the job says.
    tasks, each = sizes["tasks"][job], np.maximum(sizes["tasks_per_node"][job], 1)
    each = np.where(tasks < each, 1, each)
    cpus = np.maximum(tasks, bounds["min_nodes"] * each) * memory["cpus_per_task"]
    return {**memory, **bounds, "cpus": cpus, "exclusive": exclusive,
            "own_user": own_user, "limit_s": limits_there_s(machine, requests, rules, job,
                                                            partition)}


def limits_there_s(
    machine: SharedMachine, requests: Requests, rules: Rules, job: IntArray, partition: IntArray
) -> Any:
    """Time limits of these jobs, each in one partition."""
    parts = machine.partitions
    wall_s = np.full(len(job), NO_LIMIT)
    if rules.enforce_limits:
        wall_s = longest_of_a_job_s(machine, parts.qos[partition], requests.qos[job],
                                    requests.association[job])
    return limits_s(requests.limit_s[job], parts.default_time_s[partition],
                    parts.max_time_s[partition], wall_s)


def limits_s(
    asked_s: FloatArray, default_s: IntArray, longest_s: IntArray, wall_s: IntArray | int
) -> Any:
    """Time limits in whole minutes: as asked, else the default of the partition.

    Where neither is there, the job has its MaxWall (as tried on Slurm 22.05.8); with either, one
    that is above MaxWall waits for ever.
    """
    open_s = np.where(default_s < 0, np.minimum(longest_s, wall_s), default_s)
    limit_s = np.where(asked_s > 0, asked_s, open_s)
    limit_s = np.where(limit_s >= NO_LIMIT, longest_s, limit_s)
    limit_s = np.where(limit_s >= NO_LIMIT, LONGEST_S, limit_s)
    return np.ceil(limit_s / 60.0) * 60.0


def _memory(
    machine: SharedMachine, requests: Requests, sizes: dict[str, IntArray], job: IntArray,
    partition: IntArray,
) -> dict[str, Any]:
    """Per node, per CPU, or the whole node's; too much per CPU is had by taking more CPUs.

    Of a job with memory per node, each node gives as many CPUs as `MaxMemPerCPU` asks for so much;
    its tasks are taken to be spread evenly.
    """
    parts = machine.partitions
    per_node, per_cpu = requests.memory_per_node_mb[job], requests.memory_per_cpu_mb[job]
    open_ = (per_node < 0) & (per_cpu < 0)
    default_cpu = parts.default_memory_per_cpu_mb[partition]
    default_node = parts.default_memory_per_node_mb[partition]
    per_cpu = np.where(open_ & (default_cpu > 0), default_cpu, per_cpu)
    open_ &= default_cpu <= 0
    per_node = np.where(open_ & (default_node > 0), default_node, per_node)
    whole = (per_node == 0) & (per_cpu < 0) | (open_ & (default_node <= 0))
    most = parts.max_memory_per_cpu_mb[partition]
    over = (most > 0) & (per_cpu > most)
    factor = np.where(over, -(-per_cpu // np.maximum(most, 1)), 1)
    per_cpu = np.where(over, -(-per_cpu // factor), per_cpu)
    each = sizes["cpus_per_task"][job] * factor
    per_node = np.where(per_node > 0, per_node, 0)
    most_tasks = -(-sizes["tasks"][job] // sizes["min_nodes"][job])
    if requests.memory_per_gpu_mb is not None:  # it has memory for its GPUs instead
        by_gpu = requests.memory_per_gpu_mb[job] > 0
        per_node, per_cpu = np.where(by_gpu, 0, per_node), np.where(by_gpu, -1, per_cpu)
        whole &= ~by_gpu
    least = np.where(most > 0, -(-per_node // np.maximum(most, 1)), 0)
    each = np.maximum(each, -(-least // most_tasks))
    return {"cpus_per_task": each, "memory_node": per_node,
            "memory_cpu": np.where(per_cpu > 0, per_cpu, -1), "whole_memory": whole}


@kernel_part
def ask_as_in_partition(st: Books, entry: int) -> None:
    """Let a job that waits ask for what it would in the partition of this entry."""
    row = st.entry[entry]
    ask = st.ask[row.job]
    if ask.varies == 0:
        return
    ask.limit_s = row.limit_s
    ask.min_nodes = row.min_nodes
    ask.max_nodes = row.max_nodes
    ask.cpus_per_task = row.cpus_per_task
    ask.cpus = row.cpus
    ask.memory_node = row.memory_node
    ask.memory_cpu = row.memory_cpu
    ask.whole_memory = row.whole_memory
    ask.exclusive = row.exclusive
    ask.own_user = row.own_user
