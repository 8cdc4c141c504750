"""Energy budgets of machines with shared nodes, and random ones of random machines."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from tests.support.shared_random import RULES, random_machine, random_requests
from wattline.model.signal import Signal
from wattline.physics.budget import EnergyBudget
from wattline.physics.budget_terms import CARRIES, UNSPENT
from wattline.policies.admission.budget_setup import slot_tables
from wattline.shared_nodes.joule_budget import JouleBudget
from wattline.shared_nodes.machine import SUSPEND, SharedMachine
from wattline.shared_nodes.simulate import simulate_shared


def joules(
    on: SharedMachine, above_j: float, length_s: float, *, start_s: float = 0.0,
    cost: Signal | None = None, carry: str = "forbid", unspent: str = "expire", hold: bool = False,
) -> JouleBudget:
    """Periods with so many joules above idle power each."""
    nodes = on.nodes
    idle_w = float(nodes.idle_w.sum())
    full_w = idle_w + float((nodes.cpus * nodes.cpu_w).sum() + (nodes.gres * nodes.gres_w).sum())
    asked = EnergyBudget(idle_w * length_s + above_j, start_s, start_s + length_s,
                         cost or Signal.constant(1.0))
    return JouleBudget(
        energy_j=asked.energy_j, start_s=start_s, length_s=length_s, min_w=idle_w, max_w=full_w,
        carry=CARRIES.index(carry), unspent=UNSPENT.index(unspent), hold=int(hold),
        **slot_tables(asked, 1))


def random_budget(on: Any, asked: Any, seed: int, carry: str = "forbid") -> JouleBudget:
    """One that binds, with prices that change every few minutes."""
    draw = np.random.default_rng(seed + 11)
    length_s = float(draw.integers(1800, 9000))
    times = np.arange(0.0, length_s, float(draw.integers(300, 2000)))
    start_s = float(asked.submit_s[0])
    cost = Signal(start_s + times, draw.integers(1, 5, times.size).astype(float))
    return joules(on, float(draw.integers(60, 250)) * 1000.0, length_s, start_s=start_s, cost=cost,
                  carry=carry, unspent=("expire", "carry")[seed % 2], hold=seed % 5 == 0)


def budgeted_run(seed: int, carry: str = "forbid") -> tuple[Any, ...]:
    """Machine, requests, rules, budget, cap and schedule of a seed."""
    on = random_machine(seed)
    asked = random_requests(on, seed)
    rules = list(RULES.values())[seed % len(RULES)]
    if seed % 3 == 1:
        rules = replace(rules, suspend_time_s=120.0, resume_timeout_s=60.0)
    if rules.preempt != "none" and seed % 2:
        on = replace(on, partitions=replace(on.partitions, preempt_mode=np.array([SUSPEND, 0])))
    budget = random_budget(on, asked, seed, carry)
    cap = Signal.constant(470.0, "W") if seed % 4 == 0 else None
    found = simulate_shared(on, asked, rules, budget=budget, cap=cap)
    return on, asked, rules, budget, cap, found


def budgeted_columns(seed: int, carry: str = "forbid") -> dict[str, Any]:
    """All that came of a seed, in a form that goes between processes."""
    found = budgeted_run(seed, carry)[-1]
    values = {field.name: getattr(found, field.name) for field in fields(found)
              if not field.name.startswith("engine_")}
    return {name: np.nan_to_num(value, nan=-1.0).tolist() if isinstance(value, np.ndarray)
            else value for name, value in values.items()}
