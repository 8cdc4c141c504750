"""No period of an energy budget draws more than its joules, and no job is lost.

Machines, jobs, budgets, prices and the choices along all other axes are drawn at random.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.support.workloads import compose

from wattline.analysis.series import power_steps
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.run import Outcome, Run
from wattline.model.signal import Signal
from wattline.physics.budget import EnergyBudget
from wattline.physics.budget_terms import BudgetTerms
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.admission.budget_setup import budgeted
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.easy import Easy
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.order.largest import Largest
from wattline.policies.order.sjf import Sjf
from wattline.scenario.budget_notes import budget_kept

COUNT = 15


class Drawn(NamedTuple):
    run: Run
    over: list[Any]
    energy_j: float
    start_s: float
    length_s: float


def drawn(seed: int, carry: str = "forbid", unspent: str = "expire", **more: str) -> Drawn:
    """A run under a budget of which everything but its terms is drawn."""
    random = np.random.default_rng(seed)
    units = int(random.integers(1, 13))
    strategy = Strategy(random.choice(list(Strategy)))
    boots_s = float(random.choice([0.0, 20.0, 90.0])) if strategy in ("shut", "mix") else 0.0
    node = NodeClass(
        power_w_idle=float(random.integers(20, 120)), power_w_active=300.0, power_w_off=5.0,
        boot_s=boots_s, shutdown_s=boots_s / 2, boot_power_w=float(random.choice([60, 200])),
        shutdown_power_w=float(random.choice([20, 150])))
    machine = Machine.uniform(units, node)
    run_s = random.integers(5, 900, COUNT).astype(np.float64)
    nodes = random.integers(1, units + 1, COUNT)
    own_w = nodes * random.integers(130, 310, COUNT)
    jobs = JobTable.build(
        submit_s=np.sort(random.integers(0, 3000, COUNT)), run_s=run_s,
        requested_s=run_s * random.choice([1.0, 1.0, 2.5], COUNT), procs=nodes,
        power_w=None if random.random() < 0.5 else np.where(random.random(COUNT) < 0.5, np.nan,
                                                            own_w))
    length_s = float(random.choice([100.0, 333.3, 700.0, 2000.0]))
    steps_s = np.arange(0.0, 4 * length_s, length_s / random.integers(1, 7))
    cost = Signal(steps_s, random.random(len(steps_s))) if random.random() < 0.6 \
        else Signal.constant(1.0)
    energy_j = length_s * (machine.power_w_idle + random.uniform(0.02, 0.9)
                           * (machine.power_w_max - machine.power_w_idle))
    start_s = float(jobs.submit_s[0])
    budget = EnergyBudget(energy_j, start_s, start_s + length_s, cost,
                          slot_s=length_s / random.integers(1, 5))
    admission = budgeted(machine, budget, adaptive(machine, strategy=strategy, jobs=jobs),
                         int(random.integers(1, 5)), BudgetTerms(carry, unspent, **more))
    order = [Fcfs(), Sjf(), Largest()][random.integers(3)]
    backfill = [Easy(), Conservative(), NoBackfill()][random.integers(3)]
    part = random.uniform(0.3, 1.0)
    cap_w = machine.power_w_idle + part * (machine.power_w_max - machine.power_w_idle)
    rules = Rules(overrun="kill", cap_w=Signal.constant(cap_w) if random.random() < 0.3 else None)
    run = simulate(jobs, machine, compose(order=order, backfill=backfill, admission=admission),
                   rules)
    return Drawn(run, budget_kept(admission, run)["over"], energy_j, start_s, length_s)


def used_j(found: Drawn) -> np.ndarray:
    """Return what each period drew."""
    steps = power_steps(found.run)
    total_j = np.append(0.0, np.cumsum(steps.value * np.diff(steps.edge_s)))
    edges = np.arange(found.start_s, found.run.end_s + found.length_s, found.length_s)
    return np.diff(np.interp(edges, steps.edge_s, total_j))


def test_where_carrying_over_is_allowed_periods_do_exceed_their_budgets() -> None:
    """So the seeds have jobs that would."""
    over = [bool(used_j(found).max() > found.energy_j * (1 + 1e-6))
            for found in (drawn(seed, carry="allow") for seed in range(6))]
    assert sum(over) > 0


@pytest.mark.parametrize("seed", range(24))
def test_no_period_exceeds_its_budget_and_no_job_is_lost(seed: int) -> None:
    found = drawn(seed)
    assert used_j(found).max(initial=0.0) <= found.energy_j * (1 + 1e-6)
    lost = (found.run.schedule.outcome == Outcome.NOT_RUN) & ~found.run.refused
    assert not lost.any()


@pytest.mark.parametrize("seed", [60, 61, 62, 63])
def test_what_is_saved_may_be_spent_and_no_more(seed: int) -> None:
    found = drawn(seed, unspent="carry")
    used = np.cumsum(used_j(found))
    given = found.energy_j * np.arange(1, len(used) + 1)
    assert np.all(used <= given * (1 + 1e-6))
    assert (found.run.ran | found.run.refused).all()


@pytest.mark.parametrize("seed", range(100, 106))
def test_no_period_is_charged_with_more_than_it_has(seed: int) -> None:
    found = drawn(seed, carry="charge-now")
    assert not found.over
    assert (found.run.ran | found.run.refused).all()


@pytest.mark.parametrize("seed", range(80, 86))
def test_a_held_job_is_one_that_would_be_refused(seed: int) -> None:
    refused, held = drawn(seed).run, drawn(seed, no_room="hold").run
    assert Counter(refused.ran.tolist()) == Counter(held.ran.tolist())
    assert not held.refused.any()
    assert np.array_equal(refused.schedule.start_s, held.schedule.start_s, equal_nan=True)
