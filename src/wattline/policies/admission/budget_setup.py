"""From an energy budget to the parameters of its admission."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from wattline.model.errors import InputError
from wattline.model.fields import FileName, Fraction, Joules, Said, Seconds, Whole
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.signal import Signal
from wattline.physics.budget_terms import CARRIES, MOST_PERIODS, UNSPENT, BudgetTerms
from wattline.policies.admission.adaptive_setup import LevelParameters, adaptive_of
from wattline.policies.declaration import Declaration
from wattline.policies.setting import Outside, Setting

if TYPE_CHECKING:
    from wattline.physics.budget import EnergyBudget
    from wattline.policies.admission.adaptive import Adaptive
    from wattline.policies.admission.budget import Budget


class BudgetParameters(LevelParameters):
    """Joules for a period, tables of what they cost, and what `adaptive` takes of levels.

    `carry` is for jobs that run on into later periods, `unspent` for joules that a period leaves,
    `no_room` for jobs that no period has the joules for.
    """

    energy: Annotated[Joules, Said("needed")] | None = Field(None, gt=0)
    period: Seconds = Field(604800.0, ge=1)
    price: FileName = ""
    carbon: FileName = ""
    start: Annotated[str, Said("forms", "the date of the first submission in tables with dates, "
                               "where it is not that of the log")] = ""
    carbon_weight: Fraction = Field(0.0, ge=0, le=1)
    carry: Literal["forbid", "charge-now", "allow"] = "forbid"
    unspent: Literal["expire", "carry"] = "expire"
    no_room: Literal["refuse", "hold"] = "refuse"
    periods: Annotated[Whole, Said("forms", "0: as many as the tables have; then the last repeats")
                       ] = Field(0, ge=0, le=MOST_PERIODS)


def budgeted(
    machine: Machine, budget: EnergyBudget, adaptive: Adaptive, periods: int = 1,
    terms: BudgetTerms | None = None,
) -> Budget:
    """Periods of the same length without end, of which so many are planned; the last repeats."""
    from wattline.policies.admission.budget import Budget
    from wattline.policies.admission.budget_book import PLAN, BudgetMemory

    terms = terms or BudgetTerms()
    # With switching off the machine can draw less than idle; planning with idle is safe.
    budget.checked(machine.power_w_idle, machine.power_w_max)
    return Budget(
        adaptive=adaptive,
        **slot_tables(budget, periods),
        start_s=float(budget.start_s),
        length_s=float(budget.end_s - budget.start_s),
        energy_j=float(budget.energy_j),
        min_w=float(machine.power_w_idle),
        max_w=float(machine.power_w_max),
        switching_j=_switching_j(machine) if adaptive.shut else 0.0,
        switching_s=_switching_s(machine) if adaptive.shut else 0.0,
        slowest=max(1.0, *(1.0 / group.node_class.speed for group in machine.groups)),
        carry=CARRIES.index(terms.carry),
        unspent=UNSPENT.index(terms.unspent),
        hold=int(terms.no_room == "hold"),
        memory=BudgetMemory.start(plan=np.zeros(1, PLAN).view(np.recarray)),
    )


def slot_tables(budget: EnergyBudget, periods: int) -> dict[str, Any]:
    """The slots of so many periods on end: `edge_s`, `order` and `first` of a `Budget`."""
    if periods < 1:
        raise InputError(f"periods is {periods}, must be at least 1")
    length_s = budget.end_s - budget.start_s
    edges, orders, first = [], [], [0]
    for period in range(periods):
        begin_s = budget.start_s + period * length_s
        slots = replace(budget, start_s=begin_s, end_s=begin_s + length_s).slots()
        edges.append(slots.edge_s - begin_s)
        orders.append(slots.order)
        first.append(first[-1] + slots.order.size)
    return {"edge_s": np.concatenate(edges), "order": np.concatenate(orders),
            "first": np.array(first, dtype=np.int64)}


def _switching_j(machine: Machine) -> float:
    """What shutting down and booting every node once costs more than idling."""
    return float(sum(
        group.count * (max(node.boot_power_w - node.power_w_idle, 0.0) * node.boot_s
                       + max(node.shutdown_power_w - node.power_w_idle, 0.0) * node.shutdown_s)
        for group in machine.groups for node in (group.node_class,)))


def _switching_s(machine: Machine) -> float:
    return max(group.node_class.boot_s + group.node_class.shutdown_s for group in machine.groups)


def _make(setting: Setting, given: BudgetParameters) -> Any:
    budget = asked_budget(given, setting.jobs, setting.outside)
    return budgeted(setting.machine, budget, adaptive_of(setting, given),
                    given.periods or periods_known(budget),
                    BudgetTerms(given.carry, given.unspent, given.no_room))


def asked_budget(given: BudgetParameters, jobs: JobTable, outside: Outside) -> EnergyBudget:
    """The first period, which begins with the first submission, and what joules cost."""
    from wattline.physics.budget import EnergyBudget

    if given.energy is None:
        raise InputError("policy.power: a budget needs energy, like energy = '900MWh'")
    start_s = float(jobs.submit_s[0]) if len(jobs) else 0.0
    return EnergyBudget(given.energy, start_s, start_s + given.period,
                        _cost(outside, given, start_s))


def periods_known(budget: EnergyBudget) -> int:
    """As many periods as the costs cover from beginning to end, one at least."""
    time_s = budget.cost.time_s
    if len(time_s) < 2:
        return 1
    # A row holds as long as the one before it.
    known_s = float(2 * time_s[-1] - time_s[-2]) - budget.start_s
    whole = int(known_s * (1 + 1e-9) / (budget.end_s - budget.start_s))
    return min(max(whole, 1), MOST_PERIODS)


def _cost(outside: Outside, given: BudgetParameters, start_s: float) -> Signal:
    from wattline.physics.budget import cost_of

    price, carbon = (outside.tariff(file, given.start) if file else None
                     for file in (given.price, given.carbon))
    cost = cost_of(price, carbon, given.carbon_weight)
    return Signal(cost.time_s + start_s, cost.value, cost.unit)


BUDGET = Declaration(
    "power", "budget", "Joules for a period, spent where they cost least, never more.",
    _make, BudgetParameters)
