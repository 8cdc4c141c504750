"""A large machine with shared nodes and GPUs, and jobs that keep it busy."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.shared_nodes.machine import (
    NO_LIMIT,
    Associations,
    Nodes,
    Partitions,
    Qos,
    SharedLimits,
    SharedMachine,
)
from wattline.shared_nodes.requests import Requests

CPUS, MEMORY_MB, GPUS = 64, 256_000, 4
USERS = 200
RESOURCES = 5
"""CPUs, memory, nodes, GPUs of the one type, all GPUs."""
TABLES = ("group_tres", "group_tres_minutes", "user_tres", "account_tres", "job_tres")


def large_machine(nodes: int) -> SharedMachine:
    """A fifth of the nodes have four GPUs and a partition of their own beside the common one."""
    ones = np.ones(nodes, np.int64)
    with_gpus = np.arange(nodes) >= nodes * 4 // 5
    return SharedMachine(
        "large",
        Nodes(
            names=tuple(f"n{row:04}" for row in range(nodes)), cpus=CPUS * ones,
            threads_per_core=ones, sockets=2 * ones, memory_mb=MEMORY_MB * ones,
            gres_kinds=(("gpu", "a"),), gres=(GPUS * with_gpus).astype(np.int64)[:, None],
            feature_names=(), features=np.zeros((nodes, 0), bool),
            weight=np.where(with_gpus, 2, 1), leaf=-ones, switch_parent=np.zeros(0, np.int64),
            idle_w=np.full(nodes, 150.0), cpu_w=np.full(nodes, 4.0), gres_w=np.array([300.0])),
        _partitions(np.stack((np.ones(nodes, bool), with_gpus))), _qos(), _associations())


def _limits(rows: int) -> SharedLimits:
    return SharedLimits(**{name: np.full((rows, RESOURCES) if name in TABLES else rows, NO_LIMIT)
                           for name in SharedLimits.__annotations__})


def _partitions(nodes: Any) -> Partitions:
    ones, none = np.ones(2, np.int64), np.zeros(2, np.int64)
    return Partitions(
        names=("common", "gpu"), nodes=nodes, tier=ones, job_factor=ones,
        default_time_s=3600 * ones, max_time_s=NO_LIMIT * ones, min_nodes=none,
        max_nodes=NO_LIMIT * ones, default_memory_per_cpu_mb=4000 * ones,
        default_memory_per_node_mb=none, max_memory_per_cpu_mb=none,
        max_memory_per_node_mb=NO_LIMIT * ones,
        max_cpus_per_node=NO_LIMIT * ones, sharing=none, preempt_mode=none, grace_s=none,
        qos=-ones, allowed_qos=np.ones((2, 1), bool), allowed_accounts=np.ones((2, 2), bool),
        up=np.ones(2, bool), default=0)


def _qos() -> Qos:
    none = np.zeros(1, np.int64)
    return Qos(("normal",), none, np.ones(1), np.zeros((1, 1), bool), none, none, _limits(1),
               np.zeros(1, bool))


def _associations() -> Associations:
    rows = 2 + USERS
    ones = np.ones(rows, np.int64)
    return Associations(
        ("root", "all"), tuple(f"u{row}" for row in range(USERS)),
        account=np.array([0, *[1] * (USERS + 1)]), user=np.array([-1, -1, *range(USERS)]),
        parent=np.array([-1, 0, *[1] * USERS]), shares=ones, default_qos=0 * ones,
        allowed_qos=np.ones((rows, 1), bool), priority=0 * ones, limits=_limits(rows))


def busy_jobs(machine: SharedMachine, count: int, seed: int = 1, load: float = 0.95) -> Requests:
    """Mostly parts of nodes, some several nodes, a sixth of them with GPUs."""
    draw = np.random.default_rng(seed)
    tasks = draw.choice([1, 2, 4, 8, 16, 32, 64, 256], count,
                        p=[0.3, 0.1, 0.15, 0.15, 0.1, 0.1, 0.08, 0.02])
    gpus = np.where((draw.random(count) < 0.16) & (tasks <= 16), draw.integers(1, 3, count), 0)
    run_s: Any = np.round(np.minimum(draw.lognormal(7.5, 1.3, count), 86_400.0))
    limit_s = np.ceil(np.minimum(run_s * draw.uniform(1.0, 5.0, count), 2 * 86_400.0) / 900) * 900
    work_s = float(np.sum(tasks * run_s)) / (len(machine.nodes.names) * CPUS * load)
    submit_s = np.sort(np.floor(draw.random(count) * work_s))
    none, ones = np.full(count, -1), np.ones(count, np.int64)
    partitions = np.stack((gpus == 0, gpus > 0), axis=1)
    devices = np.zeros((count, 1), np.int64)
    return Requests(
        job_ids=tuple(map(str, range(count))), submit_s=submit_s, run_s=run_s, limit_s=limit_s,
        min_nodes=-(-tasks // CPUS), max_nodes=none, tasks=tasks, tasks_per_node=none,
        cpus_per_task=ones, memory_per_node_mb=none,
        memory_per_cpu_mb=draw.choice([1000, 2000, 4000], count),
        gres_per_node=gpus.astype(np.int64)[:, None], gres_per_job=devices,
        gres_per_task=devices, gres_choices=(("gpu", ""),), features=none,
        feature_masks=np.zeros((0, len(machine.nodes.names)), bool),
        exclusive=np.zeros(count, bool), partitions=partitions, qos=0 * ones,
        association=draw.integers(2, 2 + USERS, count), begin_s=np.zeros(count), nice=0 * ones,
        array=none, array_limit=none,
        licences=np.zeros((count, 0), np.int64), excluded=none, required=none,
        node_masks=np.zeros((0, len(machine.nodes.names)), bool), requeue=np.zeros(count, bool),
        exit_ok=np.ones(count, bool), cpu_load=np.ones(count),
        power_per_node_w=np.full(count, np.nan), held=np.zeros(count, bool))
