"""An energy budget on a twin: joules of periods, kept by not starting jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.promises import EnergyPeriods
from wattline.model.run import Run
from wattline.physics.budget_terms import CARRIES, CHARGE_NOW, UNSPENT
from wattline.policies.admission.adaptive_setup import LevelParameters, Strategy
from wattline.policies.admission.budget_setup import (
    BudgetParameters,
    asked_budget,
    periods_known,
    slot_tables,
)
from wattline.policies.registry import choose
from wattline.scenario.budget_notes import budget_kept, named, period_edges
from wattline.scenario.budget_room import most_given_j, most_needed_j
from wattline.scenario.model import Scenario
from wattline.scenario.policies import Readers
from wattline.scenario.refusals import needs_text
from wattline.shared_nodes import outcome
from wattline.shared_nodes.giving_up import NO_JOULES_THERE
from wattline.shared_nodes.joule_budget import JouleBudget
from wattline.shared_nodes.joules_alone import NO_JOULES

BUDGET = "budget"
WITHOUT_JOULES = (NO_JOULES, NO_JOULES_THERE)
WAITS = "waits"
"""In the queue for ever: only nodes that are too dear for it are left."""
IDLE = ("the energy budget is kept by not starting jobs: on shared nodes they run at full speed "
        "(policy.power.strategy = idle)")


def joule_budget(
    scenario: Scenario, machine: Machine, jobs: JobTable
) -> tuple[JouleBudget | None, tuple[str, ...]]:
    """The budget of `policy.power`, and what it takes for granted; none without it."""
    if name_of(scenario.policy.power) != BUDGET:
        return None, ()
    given = choose("power", scenario.policy.power).given
    assert isinstance(given, BudgetParameters)
    _refuse_levels(given)
    readers = Readers(scenario, jobs, machine, {})
    asked = asked_budget(given, jobs, readers)
    asked.checked(machine.power_w_idle, machine.power_w_max)
    budget = JouleBudget(
        energy_j=float(asked.energy_j), start_s=float(asked.start_s),
        length_s=float(asked.end_s - asked.start_s), min_w=machine.power_w_idle,
        max_w=machine.power_w_max, carry=CARRIES.index(given.carry),
        unspent=UNSPENT.index(given.unspent), hold=int(given.no_room == "hold"),
        **slot_tables(asked, given.periods or periods_known(asked)))
    idle = () if "strategy" in given.model_fields_set else (IDLE,)
    return budget, (*idle, *readers.assumed)


def _refuse_levels(given: BudgetParameters) -> None:
    """Frequencies and switching off are for whole nodes."""
    for name in LevelParameters.model_fields:
        if name not in given.model_fields_set or (
                name == "strategy" and given.strategy == Strategy.IDLE.value):
            continue
        raise InputError(f"policy.power.{name}: jobs on shared nodes run at full speed, and nodes "
                         "sleep as slurm.conf has it; leave it out, or write strategy = 'idle'")


def promised(budget: JouleBudget | None, until_s: float) -> EnergyPeriods | None:
    """What the budget has to keep up to a time."""
    if budget is None:
        return None
    return EnergyPeriods(budget.energy_j, period_edges(budget, until_s), CARRIES[budget.carry],
                         UNSPENT[budget.unspent])


def what_it_kept(budget: JouleBudget, found: outcome.Schedule, run: Run) -> dict[str, Any]:
    """For `Run.budget`: what each period drew, or was charged with, and who has no room."""
    charged_j = None
    if budget.carry == CHARGE_NOW:
        charged_j = np.full(len(period_edges(budget, run.end_s)) - 1,
                            budget.min_w * budget.length_s)
        charged_j[found.charged_period] += found.charged_j
    # Who drew in a period what it was not asked for is told by the last run of each job.
    last_j = found.energy_j - found.lost_energy_j
    run = replace(run, schedule=replace(run.schedule, energy_j=last_j))
    return budget_kept(budget, run, _without_room(budget, found, run), charged_j)


def said_of_room(kept: Mapping[str, Any]) -> tuple[str, ...]:
    """What the first job needs that no period has room for, and what there is."""
    return tuple(
        f"energy budget: job {job['job_id']}: "
        f"{'on the nodes that it would get, ' if job['state'] == WAITS else ''}{needs_text(job)}"
        for job in kept.get("no_room", ())[:1])


def _without_room(
    budget: JouleBudget, found: outcome.Schedule, run: Run
) -> list[dict[str, Any]]:
    """Of each job that no period has room for: what it needs above idle power, and what there is.
    """
    most_j = most_given_j(budget)
    needs = ((row, most_needed_j(budget, float(found.alone_w[row]), float(found.alone_s[row])))
             for row in np.flatnonzero(np.isin(found.reason, WITHOUT_JOULES)).tolist())
    return [{**named(run, row), "needs_j": needed_j, "gives_j": most_j,
             "state": _state(found, row)} for row, needed_j in needs
            if needed_j > most_j or _state(found, row) == WAITS]


def _state(found: outcome.Schedule, row: int) -> str:
    if found.reason[row] == NO_JOULES_THERE:
        return WAITS
    return "refused" if found.state[row] == outcome.REFUSED else "held"
