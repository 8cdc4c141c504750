"""Random machines with shared nodes on which rules that others try alone meet each other.

Two types of GPUs asked for by node, task and in all, licences, racks with limits, reservations,
arrays, preemption with a grace, ranges of nodes, nodes that sleep, fail or are a user's own.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from tests.support.shared import limits
from tests.support.shared_busy import RULES, _machine, _requests, _reservations
from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.shared_nodes.machine import CANCEL, NODE, REQUEUE, SUSPEND
from wattline.shared_nodes.outages import Outages
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

KINDS = (("gpu", "a"), ("gpu", "b"))
CHOICES = (("gpu", ""), *KINDS)
LICENCES = np.array([3, 1])


def crossed_columns(seed: int) -> dict[str, list[Any]]:
    """Everything that is known of the schedule of one such case, but the time it took."""
    found = crossed_run(seed)[-1]
    return {field.name: np.nan_to_num(np.asarray(getattr(found, field.name)), nan=-1.0).tolist()
            for field in fields(found) if not field.name.startswith("engine")}


def crossed_run(seed: int) -> tuple[Any, ...]:
    """Machine, requests, rules, bounds, cap and schedule of a seed."""
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(2, 9))
    on = _with_devices(draw, _machine(draw, nodes), nodes)
    asked = _asking(draw, on, _requests(draw, on, nodes, alike=bool(seed % 2)))
    if draw.random() < 0.4:
        on = replace(on, reservations=_reservations(draw, nodes))
        asked = replace(asked, reservation=_some(draw, len(asked.submit_s), 0.2, 3))
    rules, given = _rules(draw), _given(draw, on, nodes)
    found = simulate_shared(on, asked, rules, **given)
    return on, asked, rules, given["bounds"], given["cap"], found


def _with_devices(draw: Any, on: Any, nodes: int) -> Any:
    changed = replace(on.nodes, gres_kinds=KINDS, gres=draw.integers(0, 4, (nodes, 2)),
                      gres_w=np.array([50.0, 80.0]))
    on = replace(on, nodes=changed, licence_names=("l", "m"), licences=LICENCES)
    each = limits(2, on.resources, user_jobs=(1, 4), group_tres=(0, 0, 20))
    if draw.random() < 0.5:
        each.user_tres[0, NODE], each.group_tres[1, NODE] = 2, 3
        each.user_tres[0, -1], each.group_tres[1, on.resources - 2] = 3, 2
    gone = draw.choice([REQUEUE, SUSPEND, CANCEL], 2)
    grace_s = draw.choice([0, 0, 45], 2)
    return replace(
        on, associations=replace(on.associations, limits=limits(5, on.resources)),
        qos=replace(on.qos, limits=each, preempt_mode=gone, grace_s=grace_s),
        partitions=replace(on.partitions, preempt_mode=gone, grace_s=grace_s,
                           tier=np.array([1, 2])))


def _asking(draw: Any, on: Any, asked: Any) -> Any:
    """A quarter of the jobs ask for each of what is below, whatever else they ask for."""
    count = len(asked.submit_s)
    devices = {name: np.zeros((count, len(CHOICES)), np.int64)
               for name in ("gres_per_node", "gres_per_task", "gres_per_job")}
    for row in np.flatnonzero(draw.random(count) < 0.5):
        name = str(draw.choice(list(devices)))
        devices[name][row, draw.integers(0, len(CHOICES))] = draw.integers(1, 4)
    array = _some(draw, count, 0.3, 2)
    by_gpu = devices["gres_per_job"].any(axis=1) & (draw.random(count) < 0.5)
    enough = np.maximum(asked.tasks, 1) * np.maximum(asked.cpus_per_task, 1)
    return replace(
        asked, gres_choices=CHOICES, **devices, array=array,
        array_limit=np.where(array >= 0, draw.choice([-1, 1, 3], count), -1),
        licences=np.where(draw.random((count, 2)) < 0.25, draw.integers(1, LICENCES + 1), 0),
        own_user=draw.random(count) < 0.1,
        as_many_nodes=asked.max_nodes > np.maximum(asked.min_nodes, 1),
        cpus_per_gpu=np.where(by_gpu, enough, -1),
        partition_order=np.argsort(draw.random((count, 2)), axis=1))


def _some(draw: Any, count: int, part: float, below: int) -> Any:
    return np.where(draw.random(count) < part, draw.integers(0, below, count), -1)


def _rules(draw: Any) -> Rules:
    rules = replace(RULES[int(draw.integers(0, len(RULES)))],
                    bf_licences=bool(draw.random() < 0.5),
                    bf_max_job_array_resv=int(draw.choice([1, 20])),
                    preempt=str(draw.choice(["none", "qos", "partition"])),
                    requeue_delay_s=float(draw.choice([0.0, 121.0])))
    if draw.random() < 0.3:
        rules = replace(rules, suspend_time_s=300.0, asleep_first=("n0",))
    return rules


def _given(draw: Any, on: Any, nodes: int) -> dict[str, Any]:
    """A cap, racks and outages: each in some cases."""
    cap = bounds = outages = None
    idle_w = on.nodes.idle_w
    if draw.random() < 0.3:
        cap = Signal.constant(float(idle_w.sum()) + float(draw.integers(60, 400)), "W")
    if draw.random() < 0.6:
        half = np.array_split(np.arange(nodes), 2)
        bounds = [PowerBound(f"rack{row}", float(idle_w[inside].sum() + draw.integers(60, 300)),
                             float(idle_w[inside].sum()), inside)
                  for row, inside in enumerate([*half, np.arange(nodes)])]
    if draw.random() < 0.3:
        start_s = np.sort(np.floor(draw.random(3) * 5000.0))
        outages = Outages(draw.integers(0, nodes, 3), start_s, start_s + 600.0,
                          draw.random(3) < 0.5)
    return {"cap": cap, "bounds": bounds or [], "outages": outages}
