"""Random machines with shared nodes and random requests keep every rule of the checker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import examples
from tests.support.shared import limits, machine, requests

from wattline.model.signal import Signal
from wattline.shared_nodes.checker import broken_rules
from wattline.shared_nodes.machine import REQUEUE
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
    return replace(on, qos=replace(on.qos, limits=limits(
        2, on.resources, user_jobs=(1, 2), group_tres=(0, 0, 9))))


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


@pytest.mark.parametrize("name", list(RULES))
@examples(4)
@given(seed=st.integers(0, 10_000))
def test_no_rule_of_the_checker_is_broken(name: str, seed: int) -> None:
    on = random_machine(seed)
    asked = random_requests(on, seed)
    found = simulate_shared(on, asked, RULES[name])
    assert broken_rules(on, asked, RULES[name], found) == []


@examples(4)
@given(seed=st.integers(0, 10_000))
def test_a_cap_is_never_exceeded_by_starting_jobs(seed: int) -> None:
    on = random_machine(seed)
    asked = random_requests(on, seed)
    cap_w = Signal(np.array([0.0, 1500.0, 4000.0]), np.array([450.0, 420.0, 480.0]), "W")
    rules = Rules(kill_late_s=0.0)
    found = simulate_shared(on, asked, rules, cap=cap_w)
    assert broken_rules(on, asked, rules, found) == []
    assert found.above_cap_s == 0.0
    assert np.all(found.event_power_w <= cap_w.sample(found.event_time_s) + 1e-6)
    assert found.event_power_w.min() >= on.nodes.idle_w.sum() - 1e-6


def test_the_checker_sees_a_node_that_gives_too_much() -> None:
    on = random_machine(1)
    asked = random_requests(on, 1)
    found = simulate_shared(on, asked, Rules())
    assert broken_rules(on, asked, Rules(), replace(
        found, allocation_cpus=found.allocation_cpus + 3)) != []
    assert any("before their submission" in line for line in broken_rules(
        on, asked, Rules(), replace(found, start_s=found.start_s - 1e6)))
