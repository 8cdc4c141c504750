"""Random classes of node that jobs of random requests choose among."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from tests.support.shared_bounded import random_bounds
from tests.support.shared_random import NODES, RULES, random_machine, random_requests
from wattline.model.signal import Signal
from wattline.shared_nodes.class_options import ClassOptions
from wattline.shared_nodes.machine import SUSPEND
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.simulate import simulate_shared


def random_options(asked: Requests, seed: int, part: float = 0.7) -> ClassOptions:
    """So large a part of the jobs has options: of up to two classes, several of one at times."""
    draw = np.random.default_rng(seed + 11)
    first, rows = [0], []
    for job in range(len(asked.submit_s)):
        listed = []
        if draw.random() < part:
            for kind in draw.integers(0, 2, draw.integers(1, 4)).tolist():
                slower = float(draw.choice([0.5, 1.0, 2.0]))
                listed.append((kind, float(draw.choice([-1.0, 0.0, 0.5, 3.0])),
                               float(asked.run_s[job]) * slower, 100.0 + draw.integers(0, 90)))
        rows += sorted(listed, key=lambda row: row[1])
        first.append(len(rows))
    columns = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return ClassOptions(
        class_of_node=draw.choice([-1, 0, 0, 1, 1], NODES), first=np.array(first),
        kind=columns[:, 0].astype(np.int64), score=columns[:, 1],
        claimed_s=columns[:, 2] * draw.choice([0.8, 1.0, 1.3], len(columns)),
        run_s=columns[:, 2].copy(), power_per_node_w=columns[:, 3],
        patience=float(draw.choice([0.0, 1.0])))


def choosing_run(seed: int) -> tuple[Any, ...]:
    """Machine, requests, rules, bounds, cap and schedule of a seed."""
    on = random_machine(seed)
    if seed % 4 == 0:
        on = replace(on, partitions=replace(on.partitions, preempt_mode=np.array([SUSPEND, 0])))
    asked = random_requests(on, seed)
    asked = replace(asked, options=random_options(asked, seed))
    rules = list(RULES.values())[seed % len(RULES)]
    bounds = random_bounds(on, seed) if seed % 3 == 1 else []
    cap = Signal.constant(470.0, "W") if seed % 3 == 0 else None
    return on, asked, rules, bounds, cap, simulate_shared(on, asked, rules, bounds=bounds, cap=cap)


def choosing_columns(seed: int) -> dict[str, Any]:
    """All that came of a seed, in a form that goes between processes."""
    found = choosing_run(seed)[-1]
    values = {field.name: getattr(found, field.name) for field in fields(found)
              if not field.name.startswith("engine_")}
    return {name: np.nan_to_num(value, nan=-1.0).tolist() if isinstance(value, np.ndarray)
            else value for name, value in values.items()}
