"""Random limits on parts of random machines with shared nodes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from tests.support.shared_random import NODES, RULES, random_machine, random_requests
from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.shared_nodes.simulate import simulate_shared


def random_bounds(on: Any, seed: int) -> list[PowerBound]:
    """Two racks, what feeds both, and a feed with part of each watt of some nodes."""
    draw = np.random.default_rng(seed + 7)
    found = []
    for name, nodes in (("rack0", [0, 1]), ("rack1", [2, 3]), ("pdu0", list(range(NODES)))):
        inside = np.array(nodes)
        idle_w = float(on.nodes.idle_w[inside].sum())
        found.append(PowerBound(name, idle_w + float(draw.integers(40, 160)), idle_w, inside))
    share = draw.choice([0.25, 0.5, 1.0], 3)
    idle_w = float((on.nodes.idle_w[:3] * share).sum())
    found.append(PowerBound("feedA", idle_w + float(draw.integers(40, 120)), idle_w, np.arange(3),
                            share))
    return found


def bounded_run(seed: int) -> tuple[Any, ...]:
    """Machine, requests, rules, bounds, cap and schedule of a seed."""
    on = random_machine(seed)
    asked = random_requests(on, seed)
    rules = list(RULES.values())[seed % len(RULES)]
    bounds = random_bounds(on, seed)
    cap = Signal.constant(470.0, "W") if seed % 3 == 0 else None
    return on, asked, rules, bounds, cap, simulate_shared(on, asked, rules, bounds=bounds, cap=cap)


def bounded_columns(seed: int) -> dict[str, Any]:
    """All that came of a seed, in a form that goes between processes."""
    found = bounded_run(seed)[-1]
    values = {field.name: getattr(found, field.name) for field in fields(found)
              if not field.name.startswith("engine_")}
    return {name: np.nan_to_num(value, nan=-1.0).tolist() if isinstance(value, np.ndarray)
            else value for name, value in values.items()}
