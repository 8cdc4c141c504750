"""Random machines with shared nodes on which many jobs of few forms wait for long."""

from __future__ import annotations

import itertools
from dataclasses import fields, replace
from typing import Any

import numpy as np

from tests.support.shared import limits, machine, requests
from wattline.model.signal import Signal
from wattline.shared_nodes.machine import (
    EXCLUSIVE_USER,
    NO_LIMIT,
    NODE,
    REQUEUE,
    SUSPEND,
    Reservations,
)
from wattline.shared_nodes.outages import Outages
from wattline.shared_nodes.requests import AFTER, AFTERANY, SINGLETON
from wattline.shared_nodes.rules import Priority, Rules
from wattline.shared_nodes.simulate import simulate_shared

RULES = (
    Rules(),
    Rules(topology_tree=True, enforce_limits=True, bf_interval_s=20.0, priority=Priority(
        "multifactor", age=1000, fairshare=1000, job_size=100, qos=10, half_life_s=3600.0,
        max_age_s=3600.0)),
    Rules(preempt="partition", enforce_limits=True, topology_tree=True),
    Rules(least_loaded=True, bf_max_job_test=12),
    Rules(select="linear"),
    Rules(bf_window_s=3600.0, bf_one_resv_per_job=True, bf_max_job_start=2, unix_start_s=17.0),
    Rules(bf_resolution_s=300.0, bf_max_job_user=4, kill_late_s=0.0, suspend_time_s=300.0),
    Rules(preempt="qos", priority=Priority("multifactor", age=1000, qos=10, max_age_s=3600.0)),
)


def _machine(draw: Any, nodes: int) -> Any:
    some = sorted({int(node) for node in draw.integers(0, nodes, max(1, nodes // 2))})
    on = machine(
        nodes, cpus=draw.integers(1, 9, nodes), memory_mb=draw.integers(20, 100, nodes),
        gpus=draw.integers(0, 3, nodes), weight=draw.integers(1, 3, nodes),
        partitions=[list(range(nodes)), some], qos=2, leaf=draw.integers(-1, 3, nodes), switches=3)
    changed: dict[str, Any] = {
        "tier": np.array([1, int(draw.integers(1, 3))]),
        "preempt_mode": np.array([int(draw.choice([REQUEUE, SUSPEND])), 0])}
    if draw.random() < 0.25:
        changed["sharing"] = np.array([int(draw.choice([0, EXCLUSIVE_USER])), EXCLUSIVE_USER])
    if draw.random() < 0.2:
        changed["max_cpus_per_node"] = np.array([3, NO_LIMIT])
    on = replace(on, partitions=replace(on.partitions, **changed))
    each = limits(2, on.resources, user_jobs=(1, 4), group_tres=(0, 0, 20))
    if draw.random() < 0.3:
        each.user_tres[0, NODE], each.group_tres[1, NODE] = 2, 3
    return replace(on, qos=replace(
        on.qos, limits=each,
        preempts=np.array([[False, False], [True, False]]), priority=np.array([5, 1]),
        preempt_mode=np.array([REQUEUE, REQUEUE])))


def _form(draw: Any) -> dict[str, Any]:
    made = {
        "limit_s": float(draw.integers(1, 40)) * 60.0, "tasks": int(draw.integers(1, 7)),
        "cpus_per_task": int(draw.choice([-1, 1, 2])),
        "min_nodes": int(draw.choice([-1, -1, 1, 2, 3])),
        "memory_per_cpu_mb": int(draw.choice([-1, 1, 10])),
        "gpus": int(draw.choice([0, 0, 0, 1])), "exclusive": bool(draw.random() < 0.15),
        "partition": [0, 1] if draw.random() < 0.2 else int(draw.integers(0, 2)),
        "features": 0 if draw.random() < 0.1 else -1, "excluded": 0 if draw.random() < 0.1 else -1,
        "required": 1 if draw.random() < 0.05 else -1,
    }
    for name, value in (("tasks_per_node", 2), ("gpus_per_task", 1), ("max_nodes", 4),
                        ("gpus_per_job", int(draw.integers(1, 6)))):
        if draw.random() < 0.1:
            made[name] = value
    return made


def _waiting(draw: Any, row: int) -> dict[str, Any]:
    """Some wait for jobs before them, all or any, and some for those of their name."""
    made: dict[str, Any] = {}
    if draw.random() < 0.3:
        made["name"] = int(draw.integers(0, 3))
        if draw.random() < 0.5:
            made["after"] = [(SINGLETON, [])]
    if row and draw.random() < 0.15:
        others = draw.integers(max(0, row - 6), row, 3).tolist()
        made["after"] = [*made.get("after", []), (int(draw.integers(0, 3)), others[:1]),
                         (AFTERANY, others[1:]), (AFTER, others[2:], float(draw.choice([0, 300])))]
        made |= {"any_of": bool(draw.random() < 0.5), "kill": bool(draw.random() < 0.5)}
    return made | {"exit_ok": bool(draw.random() < 0.9)}


def _alike(draw: Any, jobs: list[dict[str, Any]]) -> None:
    """Let most jobs ask for the same as the one before them, and come soon after it."""
    names = list(_form(draw))
    for before, job in itertools.pairwise(jobs):
        if draw.random() < 0.85:
            part = job["run_s"] / job["limit_s"]
            for name in (*names, "tasks_per_node", "gpus_per_task", "max_nodes", "gpus_per_job"):
                job.pop(name, None)
                if name in before:
                    job[name] = before[name]
            job["run_s"] = part * job["limit_s"]
            job["submit_s"] = before["submit_s"] + float(draw.integers(0, 3))


def _requests(draw: Any, on: Any, nodes: int, alike: bool) -> Any:
    forms = [_form(draw) for _ in range(int(draw.integers(2, 12)))]
    span_s = float(draw.choice([60.0, 600.0, 6000.0, 20_000.0]))
    jobs = []
    for row in range(int(draw.integers(20, 60))):
        job = dict(forms[int(draw.integers(0, len(forms)))])
        if draw.random() < 0.3:
            job["limit_s"] = float(draw.integers(1, 40)) * 60.0
        jobs.append(job | {
            "submit_s": float(np.floor(draw.random() * span_s)),
            "run_s": job["limit_s"] * float(draw.choice([0.1, 0.3, 1.0, 1.5])),
            "qos": int(draw.integers(0, 2)), "association": int(draw.integers(2, 5)),
            "requeue": bool(draw.random() < 0.7), "nice": int(draw.integers(0, 3)),
            **_waiting(draw, row), "array": 0 if draw.random() < 0.1 else -1, "array_limit": 2})
    if alike:
        _alike(draw, jobs)
    jobs.sort(key=lambda job: job["submit_s"])
    numbers = np.arange(nodes)
    return requests(on, *jobs, feature_masks=[numbers != nodes // 2],
                    node_masks=[numbers == 0, numbers == nodes - 1])


def _reservations(draw: Any, nodes: int) -> Reservations:
    """Three, the last of them a maintenance that may overlap the others."""
    start_s = np.floor(draw.random(3) * 6000.0)
    end_s = start_s + np.floor(draw.random(3) * 6000.0) + 60.0
    return Reservations(("a", "b", "c"), draw.random((3, nodes)) < 0.4, start_s, end_s,
                        end_s + 120.0, np.array([False, False, True]), draw.random(3) < 0.5)


def busy_columns(
    seed: int, alike: bool = False, rules: Rules | None = None
) -> dict[str, list[Any]]:
    """Everything that is known of the schedule of one such case, but the time it took."""
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(2, 11))
    on = _machine(draw, nodes)
    asked = _requests(draw, on, nodes, alike)
    given: dict[str, Any] = {}
    if seed % 5 == 3:
        on = replace(on, reservations=_reservations(draw, nodes))
        asked = replace(asked, reservation=np.where(
            draw.random(len(asked.submit_s)) < 0.2, draw.integers(0, 3, len(asked.submit_s)), -1))
    if seed % 3 == 1:
        given["cap"] = Signal.constant(100.0 * nodes + float(draw.integers(40, 200)), "W")
    if seed % 4 == 2:
        start_s = np.sort(np.floor(draw.random(3) * 5000.0))
        given["outages"] = Outages(draw.integers(0, nodes, 3), start_s, start_s + 600.0,
                                   draw.random(3) < 0.5)
    found = simulate_shared(on, asked, rules or RULES[seed % len(RULES)], **given)
    return {field.name: np.nan_to_num(np.asarray(getattr(found, field.name)), nan=-1.0).tolist()
            for field in fields(found) if not field.name.startswith("engine")}
