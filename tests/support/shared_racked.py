"""Random machines with shared nodes whose racks and feeds have limits that are reached."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from tests.support.shared import machine, requests
from tests.support.shared_busy import RULES, _machine, _requests, _reservations
from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.shared_nodes.outages import Outages
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared


def racked_columns(seed: int) -> dict[str, list[Any]]:
    """Everything that is known of the schedule of one such case, but the time it took."""
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(3, 11))
    on = _machine(draw, nodes)
    on = replace(on, nodes=replace(on.nodes, cpu_w=draw.choice([5.0, 10.0, 12.5], nodes)))
    asked = _requests(draw, on, nodes, alike=bool(seed % 2))
    count = len(asked.submit_s)
    if draw.random() < 0.5:
        asked = replace(asked, cpu_load=draw.choice([0.3, 1.0], count),
                        power_per_node_w=draw.choice([np.nan, np.nan, 110.0, 130.5], count))
    given: dict[str, Any] = {"bounds": racks(draw, on)}
    if seed % 5 == 3:
        on = replace(on, reservations=_reservations(draw, nodes))
        asked = replace(asked, reservation=np.where(
            draw.random(count) < 0.2, draw.integers(0, 3, count), -1))
    if seed % 3 == 1:
        given["cap"] = Signal.constant(100.0 * nodes + float(draw.integers(40, 200)), "W")
    if seed % 4 == 2:
        start_s = np.sort(np.floor(draw.random(3) * 5000.0))
        given["outages"] = Outages(draw.integers(0, nodes, 3), start_s, start_s + 600.0,
                                   draw.random(3) < 0.5)
    rules = RULES[int(draw.integers(0, len(RULES)))]
    return _columns(simulate_shared(on, asked, rules, **given))


def evenly_racked_columns(seed: int) -> dict[str, list[Any]]:
    """The same of jobs of few forms on a tree, which draw the same on whichever node they get."""
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(4, 14))
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
    return _columns(simulate_shared(on, requests(on, *jobs), rules, bounds=racks(draw, on)))


def racks(draw: Any, on: Any) -> list[PowerBound]:
    """Racks of one to three nodes, and sometimes what feeds some of them, by parts of a watt."""
    nodes = len(on.nodes.names)
    parts = []
    first = 0
    while first < nodes:
        last = min(first + int(draw.integers(1, 4)), nodes)
        if draw.random() < 0.85:  # the others have no limit
            parts.append((np.arange(first, last), None))
        first = last
    if draw.random() < 0.4:
        parts.append((np.arange(nodes // 2 + 1), None))
    if draw.random() < 0.3:
        parts.append((np.arange(nodes // 3, nodes),
                      draw.choice([0.25, 0.5, 1.0], nodes - nodes // 3)))
    return [_limit(draw, on, f"part{row}", *part) for row, part in enumerate(parts)]


def _limit(draw: Any, on: Any, name: str, inside: Any, share: Any) -> PowerBound:
    """Between 30 and 90 % of what the CPUs of a part draw at most, above its idle nodes."""
    counted = np.ones(len(inside)) if share is None else share
    idle_w = float((on.nodes.idle_w[inside] * counted).sum())
    most_w = float((on.nodes.cpus[inside] * on.nodes.cpu_w[inside] * counted).sum())
    part = float(draw.choice([0.3, 0.5, 0.75, 0.9]))
    return PowerBound(name, idle_w + max(part * most_w, 10.0), idle_w, inside, share)


def _columns(found: Any) -> dict[str, list[Any]]:
    return {field.name: np.nan_to_num(np.asarray(getattr(found, field.name)), nan=-1.0).tolist()
            for field in fields(found) if not field.name.startswith("engine")}
