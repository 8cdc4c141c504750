"""A budget beside other runs: joules, cost and carbon up to one end, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.workloads import compose

from wattline.advice.budget import BudgetRuns, excess_j, figures
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.physics.budget import EnergyBudget

MACHINE = Machine.uniform(2, NodeClass(power_w_idle=100.0, power_w_active=300.0))
BEGIN_S = 1000.0


def run(*jobs: tuple[float, float, int]) -> Run:
    """Jobs as (submission after the beginning, run time, nodes)."""
    return simulate(JobTable.build(
        submit_s=[BEGIN_S + row[0] for row in jobs], run_s=[row[1] for row in jobs],
        requested_s=[row[1] for row in jobs], procs=[row[2] for row in jobs]), MACHINE, compose())


def runs(energy_j: float, period_s: float) -> BudgetRuns:
    """One job of a node: for 100 s in the first run, and slowed down to 300 s in the second."""
    budget = EnergyBudget(energy_j, BEGIN_S, BEGIN_S + period_s, Signal.constant(1.0))
    return BudgetRuns({"fast": run((0.0, 100.0, 1)), "slow": run((0.0, 300.0, 1))}, budget, 1)


def test_a_run_that_is_done_early_goes_on_drawing_idle_power_to_the_end_of_the_last() -> None:
    """Two nodes, one busy: 400 W. Fast: 400 W x 100 s and 200 W x 200 s; slow: 400 W x 300 s."""
    found = figures(runs(1e6, 1000.0))
    assert {name: each["energy_j"] for name, each in found.items()} == {
        "fast": 80_000.0, "slow": 120_000.0}


def test_idle_power_after_a_run_costs_what_it_costs_then() -> None:
    """1 a joule in the first 100 s and 2 from then on; half as much carbon at first, then none.

    Fast: 40,000 x 1 + 40,000 x 2; slow: 40,000 x 1 + 80,000 x 2.
    """
    price = Signal(np.array([0.0, 100.0]), np.array([1.0, 2.0]))
    carbon = Signal(np.array([0.0, 100.0]), np.array([0.5, 0.0]))
    found = figures(runs(1e6, 1000.0), price, carbon)
    assert [found[name]["cost"] for name in ("fast", "slow")] == pytest.approx([120e3, 200e3])
    assert [found[name]["carbon_g"] for name in ("fast", "slow")] == pytest.approx([20e3, 20e3])


def test_of_each_run_it_is_said_how_long_it_took_and_how_many_jobs_ran() -> None:
    """Two nodes each: the second job waits 90 s for the first, and ends at 150 s; 600 W."""
    two = run((0.0, 100.0, 2), (10.0, 50.0, 2))
    budget = EnergyBudget(1e6, BEGIN_S, BEGIN_S + 1000.0, Signal.constant(1.0))
    found = figures(BudgetRuns({"both": two}, budget, 1))["both"]
    assert found["wait_s"] == 45.0
    assert found["makespan_s"] == 150.0
    assert found["peak_w"] == 600.0
    assert found["energy_j"] == 90_000.0
    assert (found["jobs_run"], found["jobs_killed"], found["jobs_refused"]) == (2, 0, 0)
    assert found["cost"] is None
    assert found["carbon_g"] is None


@pytest.mark.parametrize(("energy_j", "period_s", "fast_j", "slow_j"), [
    (30_000.0, 100.0, 10_000.0, 10_000.0),  # 40 kJ in 100 s, of 30
    (40_000.0, 100.0, 0.0, 0.0),
    (60_000.0, 200.0, 0.0, 20_000.0),  # of the slow one 80 kJ, and 40 in the 100 s that are left
    (50_000.0, 150.0, 0.0, 10_000.0),
])
def test_the_worst_period_says_by_how_much_a_budget_was_exceeded(
    energy_j: float, period_s: float, fast_j: float, slow_j: float
) -> None:
    found = runs(energy_j, period_s)
    assert [excess_j(found, found.runs[name]) for name in ("fast", "slow")] == pytest.approx(
        [fast_j, slow_j])


def test_a_later_period_may_be_the_worst_and_each_begins_where_the_one_before_ends() -> None:
    """400 W in the first 100 s, 600 W in the second, idle in the third: 10 kJ above 50 kJ once."""
    one = run((0.0, 100.0, 1), (100.0, 100.0, 2), (290.0, 10.0, 1))
    budget = EnergyBudget(50_000.0, BEGIN_S, BEGIN_S + 100.0, Signal.constant(1.0))
    assert excess_j(BudgetRuns({"one": one}, budget, 3), one) == pytest.approx(10_000.0)
    # 600 W from 50 s to 150 s: 42 kJ in the first period and 40 kJ in the second, of 45 kJ each.
    across = run((0.0, 10.0, 1), (50.0, 100.0, 2), (200.0, 10.0, 1))
    budget = EnergyBudget(45_000.0, BEGIN_S, BEGIN_S + 100.0, Signal.constant(1.0))
    assert excess_j(BudgetRuns({"across": across}, budget, 3), across) == 0.0
