"""Random machines with shared nodes, requests and rules, for processes that compile or do not."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from tests.support.shared import limits, machine, requests
from wattline.model.signal import Signal
from wattline.shared_nodes.machine import NODE, REQUEUE
from wattline.shared_nodes.rules import Priority, Rules
from wattline.shared_nodes.simulate import simulate_shared

NODES = 4


def random_machine(seed: int) -> Any:
    draw = np.random.default_rng(seed)
    tier = {"tier": np.array([1, 2]), "preempt_mode": np.array([REQUEUE, 0])}
    on = machine(
        NODES, cpus=draw.integers(1, 7, NODES), memory_mb=draw.integers(20, 100, NODES),
        gpus=draw.integers(0, 3, NODES), weight=draw.integers(1, 3, NODES),
        partitions=[list(range(NODES)), [1, 2]], qos=2, leaf=np.array([0, 0, 1, 1]), switches=3)
    on = replace(on, partitions=replace(on.partitions, **tier))
    each = limits(2, on.resources, user_jobs=(1, 2), group_tres=(0, 0, 9))
    if seed % 2:
        each.user_tres[0, NODE], each.group_tres[1, NODE] = 2, 2
    return replace(on, qos=replace(on.qos, limits=each))


def random_requests(on: Any, seed: int, count: int = 25) -> Any:
    draw = np.random.default_rng(seed + 1)
    jobs = []
    for row in range(count):
        limit_s = float(draw.integers(1, 40)) * 60.0
        jobs.append({
            "submit_s": float(row * draw.integers(1, 200)) if row % 3 else float(row) * 60.0,
            "limit_s": limit_s, "run_s": limit_s * float(draw.choice([0.3, 1.0, 1.5])),
            "tasks": int(draw.integers(1, 6)), "cpus_per_task": int(draw.choice([-1, 1, 2])),
            "min_nodes": int(draw.choice([-1, -1, 1, 2])),
            "memory_per_cpu_mb": int(draw.choice([-1, 1, 10])),
            "gpus": int(draw.choice([0, 0, 0, 1])), "exclusive": bool(draw.random() < 0.1),
            "qos": int(draw.integers(0, 2)), "association": int(draw.integers(2, 5)),
            "partition": [0, 1] if draw.random() < 0.2 else int(draw.integers(0, 2)),
            "after_job": row - 1 if row and draw.random() < 0.1 else -1,
            "array": 0 if draw.random() < 0.2 else -1, "array_limit": 2,
            "features": 0 if draw.random() < 0.1 else -1,
            "excluded": 0 if draw.random() < 0.1 else -1,
            "required": 1 if draw.random() < 0.05 else -1,
            "requeue": True, "nice": int(draw.integers(0, 3)),
        })
    jobs.sort(key=lambda job: job["submit_s"])
    return requests(on, *jobs, feature_masks=[[True, False, True, True]],
                    node_masks=[[True, False, False, False], [False, True, False, False]])


RULES = {
    "plain": Rules(),
    "tree, priorities and limits": Rules(
        topology_tree=True, enforce_limits=True, bf_interval_s=20.0,
        priority=Priority("multifactor", age=1000, fairshare=1000, job_size=100, qos=10,
                          half_life_s=3600.0, max_age_s=3600.0)),
    "preemption": Rules(preempt="partition", enforce_limits=True),
    "least loaded, classic": Rules(least_loaded=True, bf_max_job_test=5, priority=Priority(
        "multifactor", fairshare=1000, fairshare_rule="classic", dampening=2.0)),
    "whole nodes": Rules(select="linear"),
}


def columns(name: str, seed: int) -> dict[str, list[Any]]:
    """Everything that is known of a schedule, but the time it took."""
    on = random_machine(seed)
    cap_w = Signal.constant(470.0, "W") if seed % 2 else None
    found = simulate_shared(on, random_requests(on, seed, 30), RULES[name], cap=cap_w)
    return {field.name: np.nan_to_num(np.asarray(getattr(found, field.name)), nan=-1.0).tolist()
            for field in fields(found) if not field.name.startswith("engine")}
