"""Random machines with shared nodes of unequal watts under caps, constant or in steps."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from tests.support.shared import machine, requests
from tests.support.shared_busy import RULES, _machine, _requests, _reservations
from wattline.model.signal import Signal
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared


def capped_columns(seed: int) -> dict[str, list[Any]]:
    """Everything that is known of the schedule of one such case, but the time it took."""
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(2, 9))
    on = _machine(draw, nodes)
    on = replace(on, nodes=replace(on.nodes, cpu_w=draw.choice([5.0, 10.0, 12.5], nodes)))
    asked = _requests(draw, on, nodes, alike=bool(seed % 2))
    count = len(asked.submit_s)
    asked = replace(asked, cpu_load=draw.choice([0.3, 1.0], count), power_per_node_w=draw.choice(
        [np.nan, np.nan, 90.0, 130.5], count))
    if seed % 5 == 3:
        on = replace(on, reservations=_reservations(draw, nodes))
        asked = replace(asked, reservation=np.where(
            draw.random(count) < 0.2, draw.integers(0, 3, count), -1))
    rules = RULES[int(draw.integers(0, len(RULES)))]
    if draw.random() < 0.3:
        rules = replace(rules, bf_window_s=1800.0, suspend_time_s=300.0)
    return _columns(simulate_shared(on, asked, rules, cap=_cap(draw, float(on.nodes.idle_w.sum()))))


def evenly_capped_columns(seed: int) -> dict[str, list[Any]]:
    """The same of jobs of few forms on a tree, which draw the same on whichever node they get."""
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(4, 12))
    on = machine(nodes, cpus=draw.integers(2, 9, nodes), weight=draw.integers(1, 3, nodes),
                 leaf=draw.integers(0, 3, nodes), switches=3)
    forms = [{"tasks": int(draw.integers(1, 5)), "min_nodes": 1, "max_nodes": 1,
              "limit_s": float(draw.integers(1, 40)) * 60.0} for _ in range(4)]
    jobs: list[dict[str, Any]] = []
    while len(jobs) < 60:
        form = forms[int(draw.integers(0, len(forms)))]
        submit_s = float(draw.integers(0, 1500))
        jobs += [form | {"submit_s": submit_s, "run_s": form["limit_s"] * float(draw.random())}
                 for _ in range(int(draw.integers(1, 9)))]
    jobs.sort(key=lambda job: job["submit_s"])
    rules = Rules(topology_tree=True, bf_window_s=float(draw.choice([3600.0, 86_400.0])),
                  kill_late_s=float(draw.choice([0.0, 15.0])))
    cap = _cap(draw, float(on.nodes.idle_w.sum()))
    return _columns(simulate_shared(on, requests(on, *jobs), rules, cap=cap))


def _columns(found: Any) -> dict[str, list[Any]]:
    return {field.name: np.nan_to_num(np.asarray(getattr(found, field.name)), nan=-1.0).tolist()
            for field in fields(found) if not field.name.startswith("engine")}


def _cap(draw: Any, idle_w: float) -> Signal:
    """With little room above the idle machine: constant, or in steps, also behind the window."""
    if draw.random() < 0.4:
        return Signal.constant(idle_w + float(draw.integers(20, 150)), "W")
    steps = int(draw.choice([4, 60]))
    return Signal(np.arange(steps) * float(draw.choice([600.0, 2500.0])),
                  idle_w + draw.integers(10, 200, steps).astype(float), "W")
