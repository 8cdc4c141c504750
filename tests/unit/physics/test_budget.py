"""The budget's plan is the optimum of its linear problem, and keeps to the budget."""

import numpy as np
import pytest

from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.physics.budget import EnergyBudget, blended, plan, planned_power

COST = Signal(np.array([0.0, 10.0, 20.0]), np.array([3.0, 1.0, 2.0]))


def test_by_hand():
    """Three slots of 10 s, 100 to 200 W: 4,500 J are 1,500 J above idle; cheapest slots first."""
    budget = EnergyBudget(4500.0, 0.0, 30.0, COST)
    assert list(plan(budget, 100.0, 200.0).value) == [100, 200, 150]
    assert budget.mean_w == 150


def test_unused_joules_are_spent_later():
    """At 20 s only 1,900 J of the 4,500 J were used: the last slot may draw all it can."""
    slots = EnergyBudget(4500.0, 0.0, 30.0, COST).slots()
    assert planned_power(slots, 20.0, 2600.0, 100.0, 200.0) == 200
    assert planned_power(slots, 25.0, 700.0, 100.0, 200.0) == 140
    assert planned_power(slots, 25.0, 100.0, 100.0, 200.0) == 100


def test_the_plan_spends_the_budget_and_no_order_is_cheaper():
    rng = np.random.default_rng(3)
    cost = Signal(np.arange(24) * 3600.0, rng.random(24))
    budget = EnergyBudget(0.6 * 24 * 3600 * 1000.0, 0.0, 24 * 3600.0, cost)
    found = plan(budget, 300.0, 1000.0)
    assert found.integral(0.0, 24 * 3600.0) == pytest.approx(budget.energy_j)
    spent = float(np.sum(found.value * 3600.0 * cost.value))
    for _ in range(200):
        # Any other plan of the same energy within the same bounds costs at least as much.
        other = found.value.copy()
        a, b = rng.integers(0, 24, 2)
        move = min(other[a] - 300.0, 1000.0 - other[b]) * rng.random()
        other[a] -= move
        other[b] += move
        assert float(np.sum(other * 3600.0 * cost.value)) >= spent - 1e-6


def test_price_and_carbon_can_be_mixed():
    price = Signal(np.array([0.0, 10.0]), np.array([1.0, 3.0]))
    carbon = Signal(np.array([0.0, 5.0]), np.array([30.0, 10.0]))
    assert list(blended(price, carbon, 0.0).value) == [0.5, 0.5, 1.5]
    assert list(blended(price, carbon, 1.0).value) == [1.5, 0.5, 0.5]
    with pytest.raises(InputError, match="carbon_weight"):
        blended(price, carbon, 2.0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"energy_j": -1.0}, "must be above 0"), ({"end_s": -5.0}, "before it begins"),
     ({"slot_s": 0.0}, "slot_s"), ({"energy_j": 2900.0}, "draws idle in this period")],
)
def test_impossible_budgets_are_refused(change, reason):
    given = {"energy_j": 4500.0, "start_s": 0.0, "end_s": 30.0, "cost": COST, **change}
    with pytest.raises(InputError, match=reason):
        EnergyBudget(**given).checked(100.0, 200.0)
