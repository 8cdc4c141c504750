"""A budget beside a plain cap of the same energy: cost, carbon, waiting, and what was kept."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wattline.analysis.metrics import metrics
from wattline.engine.composed import adaptive_run, composed
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.run import Outcome, Run
from wattline.model.signal import FloatArray, Signal
from wattline.physics.budget import EnergyBudget
from wattline.physics.budget_terms import BudgetTerms
from wattline.physics.powercap import PowerCap
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.admission.budget_setup import budgeted, periods_known
from wattline.scenario.budget_notes import budget_kept
from wattline.scenario.budget_room import without_room


@dataclass(frozen=True, eq=False)
class BudgetRuns:
    """The same jobs without a limit, under the constant cap, and under the budget."""

    runs: dict[str, Run]
    budget: EnergyBudget
    periods: int


def compare(
    jobs: JobTable, machine: Machine, budget: EnergyBudget, *,
    strategy: Strategy = Strategy.DVFS, terms: BudgetTerms | None = None,
) -> BudgetRuns:
    """Three runs, the last under the budget.

    A job that runs on past its request could break the promise of a budget, so it is stopped there,
    and under the other limits too: all three do the same work.
    """
    length_s = budget.end_s - budget.start_s
    start_s = float(jobs.submit_s[0])
    cost = Signal(budget.cost.time_s + start_s, budget.cost.value, budget.cost.unit)
    shifted = replace(budget, start_s=start_s, end_s=start_s + length_s, cost=cost)
    free = adaptive_run(jobs, machine, overrun="kill")
    capped = adaptive_run(jobs, machine, PowerCap(budget.mean_w), strategy, overrun="kill")
    rules = Rules(overrun="kill")
    admission = budgeted(machine, shifted, adaptive(machine, strategy=strategy, jobs=jobs),
                         periods_known(shifted), terms)
    limited = simulate(jobs, machine, composed(admission), rules)
    kept = budget_kept(admission, limited, without_room(admission, limited, rules))
    limited = replace(limited, budget=kept)
    return BudgetRuns({"no limit": free, "constant cap": capped, "budget": limited}, shifted,
                      kept["periods"])


def figures(
    found: BudgetRuns, price: Signal | None = None, carbon: Signal | None = None
) -> dict[str, Any]:
    """Of each run: energy, cost, carbon, waiting, and how each period kept to the budget.

    All runs are charged up to the same time, the end of the last of them, idle power included:
    who is done early goes on drawing it.
    """
    end_s = max(run.end_s for run in found.runs.values())
    return {
        name: {
            "energy_j": _charge(found, run, None, end_s),
            "cost": None if price is None else _charge(found, run, price, end_s),
            "carbon_g": None if carbon is None else _charge(found, run, carbon, end_s),
            "wait_s": metrics(run)["wait_s"]["mean"],
            "makespan_s": metrics(run)["makespan_s"],
            "jobs_run": int(np.count_nonzero(run.ran)),
            "jobs_killed": int(np.count_nonzero(run.schedule.outcome == Outcome.KILLED)),
            "jobs_refused": int(np.count_nonzero(run.schedule.outcome == Outcome.NOT_RUN)),
            "peak_w": run.power_w_peak,
            "excess_j": excess_j(found, run),
            "budget": dict(run.budget),
        }
        for name, run in found.runs.items()
    }


def excess_j(found: BudgetRuns, run: Run) -> float:
    """The most that any period drew above the budget; 0 where all kept it."""
    length_s = found.budget.end_s - found.budget.start_s
    worst = 0.0
    for period in itertools.count():
        begin_s = found.budget.start_s + period * length_s
        if begin_s >= run.end_s:
            break
        drawn = power_of(run).integral(begin_s, min(begin_s + length_s, run.end_s))
        worst = max(worst, drawn - found.budget.energy_j)
    # What floats leave of a budget that is used to the last joule is no excess.
    return worst if worst > 1e-6 * found.budget.energy_j else 0.0


def power_of(run: Run) -> Signal:
    """Power over time: of each instant what holds after all its events."""
    last = np.append(np.diff(run.events.time_s) > 0, True)
    return Signal(run.events.time_s[last], run.events.power_w[last], "W")


def _charge(found: BudgetRuns, run: Run, tariff: Signal | None, end_s: float) -> float:
    """The integral of power times a tariff whose time 0 is the first submission."""
    power = power_of(run)
    idle_w = float(run.machine.power_w_idle)
    steps = Signal(np.append(power.time_s, max(run.end_s, power.time_s[-1] + 1e-6)),
                   np.append(power.value, idle_w), "W")
    if tariff is None:
        return steps.integral(run.start_s, end_s)
    times = tariff.time_s + found.budget.start_s
    inner: FloatArray = np.concatenate((steps.time_s, times))
    inner = inner[(inner > run.start_s) & (inner < end_s)]
    edges = np.unique(np.concatenate(([run.start_s], inner, [end_s])))
    rate = tariff.sample(edges[:-1] - found.budget.start_s)
    return float(np.sum(steps.sample(edges[:-1]) * rate * np.diff(edges)))
