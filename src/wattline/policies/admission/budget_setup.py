"""From an energy budget to the parameters of its admission."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wattline.model.errors import InputError
from wattline.model.machine import Machine
from wattline.physics.budget import EnergyBudget
from wattline.policies.admission.adaptive import Adaptive
from wattline.policies.admission.budget import PLAN, Budget, BudgetMemory


def budgeted(
    machine: Machine, budget: EnergyBudget, adaptive: Adaptive, periods: int = 1
) -> Budget:
    """The budget for so many periods of the same length, one after the other."""
    if periods < 1:
        raise InputError(f"periods is {periods}, must be at least 1")
    # With switching off the machine can draw less than idle; planning with idle is safe.
    budget.checked(machine.power_w_idle, machine.power_w_max)
    length_s = budget.end_s - budget.start_s
    edges, orders, first = [], [], [0]
    for period in range(periods):
        begin_s = budget.start_s + period * length_s
        slots = replace(budget, start_s=begin_s, end_s=begin_s + length_s).slots()
        edges.append(slots.edge_s[:-1])
        orders.append(slots.order)
        first.append(first[-1] + slots.order.size)
    edges.append(np.array([budget.start_s + periods * length_s]))
    return Budget(
        adaptive=adaptive,
        edge_s=np.concatenate(edges),
        order=np.concatenate(orders),
        first=np.array(first, dtype=np.int64),
        energy_j=budget.energy_j,
        min_w=machine.power_w_idle,
        max_w=machine.power_w_max,
        memory=BudgetMemory.start(plan=np.zeros(1, PLAN).view(np.recarray)),
    )
