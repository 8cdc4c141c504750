"""From an energy budget to the parameters of its admission."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from wattline.model.errors import InputError
from wattline.model.fields import FileName, Fraction, Joules, Said, Seconds, Whole
from wattline.model.machine import Machine
from wattline.model.signal import Signal
from wattline.policies.admission.adaptive_setup import LevelParameters, adaptive_of
from wattline.policies.declaration import Declaration
from wattline.policies.setting import Setting

if TYPE_CHECKING:
    from wattline.physics.budget import EnergyBudget
    from wattline.policies.admission.adaptive import Adaptive
    from wattline.policies.admission.budget import Budget

MOST_PERIODS = 10_000


class BudgetParameters(LevelParameters):
    """Joules for a period, tables of what they cost, and what `adaptive` takes of levels."""

    energy: Annotated[Joules, Said("needed")] | None = Field(None, gt=0)
    period: Seconds = Field(604800.0, ge=1)
    price: FileName = ""
    carbon: FileName = ""
    start: Annotated[str, Said("forms", "the date of second 0 in tables with dates")] = ""
    carbon_weight: Fraction = Field(0.0, ge=0, le=1)
    periods: Annotated[Whole, Said("forms", "0: enough for all jobs")] = Field(
        0, ge=0, le=MOST_PERIODS)


def budgeted(
    machine: Machine, budget: EnergyBudget, adaptive: Adaptive, periods: int = 1
) -> Budget:
    """The budget for so many periods of the same length, one after the other."""
    from wattline.policies.admission.budget import PLAN, Budget, BudgetMemory

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


def _make(setting: Setting, given: BudgetParameters) -> Any:
    from wattline.physics.budget import EnergyBudget

    if given.energy is None:
        raise InputError("policy.power: a budget needs energy, like energy = '900MWh'")
    jobs = setting.jobs
    start_s = float(jobs.submit_s[0]) if len(jobs) else 0.0
    budget = EnergyBudget(given.energy, start_s, start_s + given.period,
                          _cost(setting, given, start_s))
    count = given.periods or _periods_for(setting, given.energy, start_s, given.period)
    return budgeted(setting.machine, budget, adaptive_of(setting, given), count)


def _periods_for(setting: Setting, energy_j: float, start_s: float, period_s: float) -> int:
    """Enough periods for all jobs: those of the log, and those that a backlog can take after it."""
    jobs, machine = setting.jobs, setting.machine
    if not len(jobs):
        return 1
    rise_w = (machine.power_w_max - machine.power_w_idle) / machine.node_count
    nodes = -(-jobs.procs // machine.groups[0].node_class.cores)
    own_w = np.where(np.isnan(jobs.power_w), nodes * rise_w, jobs.power_w)
    # Twice what they draw at full speed: a lower frequency may take more. Jobs that no period has
    # room for start when the last one is over, which the run then says.
    wanted_j = 2.0 * float(np.sum(own_w * jobs.requested_s))
    left_j = max(energy_j - machine.power_w_idle * period_s, 1e-3 * energy_j)
    span = (float(jobs.submit_s[-1]) - start_s) / period_s
    return int(min(np.ceil(span + wanted_j / left_j) + 30, MOST_PERIODS))


def _cost(setting: Setting, given: BudgetParameters, start_s: float) -> Signal:
    from wattline.physics.budget import cost_of

    price, carbon = (setting.outside.tariff(file, given.start) if file else None
                     for file in (given.price, given.carbon))
    cost = cost_of(price, carbon, given.carbon_weight)
    return Signal(cost.time_s + start_s, cost.value, cost.unit)


BUDGET = Declaration(
    "power", "budget", "Joules for a period, spent where they cost least, never more.",
    _make, BudgetParameters)
