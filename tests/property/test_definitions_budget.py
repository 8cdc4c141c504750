"""Runs under an energy budget are those of the definition from the documentation.

Figures are whole and speeds of levels powers of two, so that sums are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.definitions.backfilling import Easy
from tests.support.definitions.budgets import Budget
from tests.support.definitions.busy import ACTIVE_W, IDLE_W, MOST_JOBS, case
from tests.support.definitions.engines import assert_same, simulated
from tests.support.definitions.world import Case, Outcome, World
from tests.support.examples import costing
from tests.support.workloads import compose

from wattline.model.signal import Signal
from wattline.physics.budget import EnergyBudget
from wattline.physics.budget_terms import CARRIES, UNSPENT, BudgetTerms
from wattline.physics.core_power import CorePower
from wattline.policies.admission import budget
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.admission.budget_setup import budgeted
from wattline.policies.backfill.none import NoBackfill

PARTS = [0.25, 0.5, 1.0]
CORE = CorePower((0.5e9, 1e9, 2e9), (15.0, 20.0, 30.0), 10.0)


class Given(NamedTuple):
    """A case, and joules for it."""

    case: Case
    above_w: float
    """Mean power above idle that a period has."""
    length_s: float
    slots: list[tuple[float, float]]
    """Where each begins, and its price."""
    carry: str
    unspent: str
    slows: bool
    """Jobs run at a lower frequency, or only wait."""

    @property
    def energy_j(self) -> float:
        return (self.case.machine.power_w_idle + self.above_w) * self.length_s

    def definition(self) -> Budget:
        levels = PARTS if self.slows else [1.0]
        return Budget(levels, levels, self.energy_j, self.length_s, self.slots, self.carry,
                      self.unspent)

    def admission(self) -> budget.Budget:
        machine = self.case.machine
        asked = EnergyBudget(self.energy_j, 0.0, self.length_s, Signal.from_steps(self.slots, ""))
        strategy = Strategy.DVFS if self.slows else Strategy.IDLE
        levels = adaptive(machine, core=CORE, strategy=strategy, jobs=self.case.jobs)
        return budgeted(machine, asked, levels, 1, BudgetTerms(self.carry, self.unspent))


def given_from(seed: int, jobs: int) -> Given:
    """A busy machine without reservations, half of the time without a cap, and a scarce budget."""
    drawn = case(seed, jobs, False)
    random = np.random.default_rng((seed, 1))
    units = drawn.machine.node_count
    length_s = float(random.choice([16.0, 48.0, 96.0, 320.0]))
    count = int(random.choice([1, 2, 4]))
    above_w = 10.0 * random.integers(2 * units, 16 * units) * (ACTIVE_W - IDLE_W) / 200.0
    return Given(
        Case(drawn.jobs, drawn.machine, drawn.cap_w if random.random() < 0.5 else None, (),
             drawn.overrun),
        float(above_w), length_s,
        [(at * length_s / count, float(random.integers(1, 5))) for at in range(count)],
        str(random.choice(CARRIES)), str(random.choice(UNSPENT)), bool(random.random() < 0.6))


GIVEN = st.builds(given_from, st.integers(0, 2**32 - 1), st.integers(1, MOST_JOBS))


def defined(given: Given, backfill: bool) -> Outcome:
    power = given.definition()
    return World(given.case).run(Easy(power, backfill=backfill).decide, power.refuses)


@pytest.mark.parametrize("backfill", ["none", "easy"])
@given(given=GIVEN)
@costing(50)
def test_runs_under_a_budget_are_those_of_the_definition(backfill: str, given: Given) -> None:
    policy = compose(admission=given.admission(),
                     **({} if backfill == "easy" else {"backfill": NoBackfill()}))
    assert_same(simulated(given.case, policy), defined(given, backfill == "easy"))
