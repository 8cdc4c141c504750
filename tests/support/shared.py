"""Small machines with shared nodes, and requests, written in few words."""

from __future__ import annotations

from dataclasses import replace
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
from wattline.shared_nodes.requests import Dependencies, Requests

JOB: dict[str, Any] = {
    "submit_s": 0.0, "run_s": 600.0, "limit_s": 600.0, "min_nodes": -1, "max_nodes": -1,
    "tasks": 1, "tasks_per_node": -1, "cpus_per_task": -1, "memory_per_node_mb": -1,
    "memory_per_cpu_mb": 1, "features": -1, "exclusive": False, "qos": 0, "association": 2,
    "begin_s": 0.0, "nice": 0, "array": -1, "array_limit": -1,
    "excluded": -1, "required": -1, "requeue": False, "exit_ok": True, "cpu_load": 1.0,
    "power_per_node_w": np.nan, "held": False,
}
RESOURCES = 5
"""CPUs, memory, nodes, GPUs of type a, all GPUs."""
FLAGS = ("exclusive", "requeue", "exit_ok", "held")
TIMES = ("submit_s", "run_s", "limit_s", "begin_s", "cpu_load", "power_per_node_w")


def limits(rows: int, resources: int, **given: Any) -> SharedLimits:
    """No limits but those given, as (row, value) or (row, resource, value)."""
    tables = {"group_tres", "group_tres_minutes", "user_tres", "account_tres", "job_tres"}
    made = {name: np.full((rows, resources) if name in tables else rows, NO_LIMIT)
            for name in SharedLimits.__annotations__}
    for name, (*place, value) in given.items():
        made[name][tuple(place)] = value
    return SharedLimits(**made)


def machine(
    count: int = 2, *, cpus: Any = 4, memory_mb: Any = 1000, gpus: Any = 0, weight: Any = 1,
    partitions: list[list[int]] | None = None, qos: int = 1, users: int = 3, leaf: Any = -1,
    switches: int = 0, **changed: Any,
) -> SharedMachine:
    """`users` users, all in one account; partitions name their nodes."""
    every = [list(range(count))] if partitions is None else partitions
    inside = np.zeros((len(every), count), dtype=bool)
    for row, nodes in enumerate(every):
        inside[row, nodes] = True
    ones = np.ones(count, np.int64)
    nodes = Nodes(
        names=tuple(f"n{row}" for row in range(count)), cpus=ones * cpus, threads_per_core=ones,
        sockets=ones, memory_mb=ones * memory_mb, gres_kinds=(("gpu", "a"),),
        gres=(ones * gpus)[:, None], feature_names=(), features=np.zeros((count, 0), bool),
        weight=ones * weight, leaf=ones * leaf, switch_parent=np.full(switches, -1),
        idle_w=100.0 * ones, cpu_w=10.0 * ones, gres_w=np.array([50.0]))
    parts = len(every)
    partition = Partitions(
        names=tuple(f"p{row}" for row in range(parts)), nodes=inside,
        tier=np.ones(parts, np.int64), job_factor=np.ones(parts, np.int64),
        default_time_s=np.full(parts, 3600), max_time_s=np.full(parts, NO_LIMIT),
        min_nodes=np.zeros(parts, np.int64), max_nodes=np.full(parts, NO_LIMIT),
        default_memory_per_cpu_mb=np.zeros(parts, np.int64),
        default_memory_per_node_mb=np.zeros(parts, np.int64),
        max_memory_per_cpu_mb=np.zeros(parts, np.int64),
        max_memory_per_node_mb=np.full(parts, NO_LIMIT),
        max_cpus_per_node=np.full(parts, NO_LIMIT), sharing=np.zeros(parts, np.int64),
        preempt_mode=np.zeros(parts, np.int64), grace_s=np.zeros(parts, np.int64),
        qos=np.full(parts, -1), allowed_qos=np.ones((parts, qos), bool),
        allowed_accounts=np.ones((parts, 2), bool), up=np.ones(parts, bool), default=0)
    made_qos = Qos(
        names=tuple(f"q{row}" for row in range(qos)), priority=np.zeros(qos, np.int64),
        usage_factor=np.ones(qos), preempts=np.zeros((qos, qos), bool),
        preempt_mode=np.zeros(qos, np.int64), grace_s=np.zeros(qos, np.int64),
        limits=limits(qos, RESOURCES), no_reserve=np.zeros(qos, bool))
    rows = 2 + users
    tree = Associations(
        accounts=("root", "a"), users=tuple(f"u{row}" for row in range(users)),
        account=np.array([0, 1] + [1] * users), user=np.array([-1, -1, *range(users)]),
        parent=np.array([-1, 0] + [1] * users), shares=np.ones(rows, np.int64),
        default_qos=np.zeros(rows, np.int64), allowed_qos=np.ones((rows, qos), bool),
        priority=np.zeros(rows, np.int64), limits=limits(rows, RESOURCES))
    made = SharedMachine("test", nodes, partition, made_qos, tree)
    for name, change in changed.items():
        made = (replace(made, **{name: replace(getattr(made, name), **change)})
                if isinstance(change, dict) else replace(made, **{name: change}))
    return made


def requests(
    on: SharedMachine, *jobs: dict[str, Any], node_masks: Any = (), feature_masks: Any = ()
) -> Requests:
    """Jobs as dicts; `gpus` is per node, `partition` one row or several."""
    full = [{**JOB, **job} for job in jobs]
    columns: dict[str, Any] = {}
    for name in JOB:
        kind = bool if name in FLAGS else np.float64 if name in TIMES else np.int64
        columns[name] = np.array([job[name] for job in full], dtype=kind)
    count, nodes = len(full), len(on.nodes.names)
    parts = np.zeros((count, len(on.partitions.names)), bool)
    for row, job in enumerate(full):
        parts[row, job.get("partition", 0)] = True
    gpus = {where: np.array([job.get(name, 0) for job in full], np.int64).reshape(-1, 1)
            for where, name in (("gres_per_node", "gpus"), ("gres_per_job", "gpus_per_job"),
                                ("gres_per_task", "gpus_per_task"))}
    licences = np.array([job.get("licences", [0] * len(on.licence_names)) for job in full],
                        np.int64).reshape(count, len(on.licence_names))
    return Requests(
        job_ids=tuple(str(row + 1) for row in range(count)), gres_choices=(("gpu", ""),), **gpus,
        feature_masks=np.array(feature_masks, bool).reshape(-1, nodes),
        node_masks=np.array(node_masks, bool).reshape(-1, nodes), partitions=parts,
        licences=licences, dependencies=_dependencies(full), **columns)


def _dependencies(jobs: list[dict[str, Any]]) -> Dependencies | None:
    """`after`: conditions as (kind, rows[, delay]); `after_job` and `after_kind`: one of them.

    `name` makes jobs namesakes, whoever's they are; `any_of` and `kill` are flags.
    """
    rows = []
    for number, job in enumerate(jobs):
        listed = list(job.get("after", ()))
        if job.get("after_job", -1) >= 0:
            listed.append((job.get("after_kind", 0), [job["after_job"]]))
        rows += [(number, kind, list(others), *(delay or [0.0])) for kind, others, *delay in listed]
    if not rows:
        return None
    names = list(dict.fromkeys(job["name"] for job in jobs if "name" in job))
    return Dependencies(
        job=np.array([row[0] for row in rows]), kind=np.array([row[1] for row in rows]),
        delay_s=np.array([row[3] for row in rows]),
        first=np.cumsum([0, *(len(row[2]) for row in rows)]),
        awaited=np.array([other for row in rows for other in row[2]], dtype=np.int64),
        any_of=np.array([bool(job.get("any_of")) for job in jobs]),
        namesakes=np.array([names.index(job["name"]) if "name" in job else -1 for job in jobs]),
        kill=np.array([bool(job.get("kill")) for job in jobs]))
