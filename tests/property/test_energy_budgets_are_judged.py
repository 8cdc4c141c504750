"""Random runs under an energy budget are found as they should be, and other starts are found out.

Cases and figures are those of the definition of budgets.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from tests.property.test_definitions_budget import GIVEN, Given, given_from
from tests.support.definitions.busy import MOST_JOBS
from tests.support.definitions.engines import simulated
from tests.support.definitions.world import Case
from tests.support.examples import costing
from tests.support.workloads import compose

from wattline.model.promises import Frequencies
from wattline.model.run import Run
from wattline.policies.backfill.easy import Easy
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.traits import queue_rule
from wattline.results.verify.judge import verify
from wattline.scenario.promises import energy_periods

LONGEST_S = 20_000.0
BACKFILLS = {"easy": Easy(), "none": NoBackfill()}


def promised(case: Given, backfill: str) -> Run:
    """A run of a case, with the promises that a scenario would write down, for as long as any."""
    admission = case.admission()
    policy = compose(admission=admission, backfill=BACKFILLS[backfill])
    run = simulated(case.case, policy)
    ladder = admission.adaptive
    nobody = np.zeros(len(run.jobs))
    frequencies = Frequencies(ladder.frequency_hz, ladder.speed, ladder.dynamic, nobody,
                              nobody + 9e9, 0.0 if case.slows else np.inf)
    return replace(run, promises=replace(
        run.promises, budget=energy_periods(admission, LONGEST_S), frequencies=frequencies,
        queue=queue_rule(policy)))


def judged(run: Run) -> tuple[list[str], bool]:
    """Findings about decisions under the budget, and if every instant was judged."""
    found = verify(run)
    rule, = (each for each in found.judged if each.rule == "budget.used")
    return ([each.sentence for each in found.findings if each.rule == "budget.used"],
            rule.decisions == rule.of)


@pytest.mark.parametrize("backfill", BACKFILLS)
@given(given=GIVEN)
@costing(50)
def test_every_decision_is_that_of_the_budget(backfill: str, given: Given) -> None:
    assert judged(promised(given, backfill))[0] == []


def lasting(given: Given) -> Given:
    """The case with jobs that take a second at least: instants without length are left out."""
    old = given.case
    run_s = np.maximum(old.jobs.run_s, 1.0)
    jobs = old.jobs.with_columns(
        run_s=run_s, requested_s=np.maximum(old.jobs.requested_s, run_s))
    return given._replace(case=Case(jobs, old.machine, old.cap_w, (), old.overrun))


WRONG = {
    "more energy": lambda case: case._replace(above_w=case.above_w * 1.5),
    "less energy": lambda case: case._replace(above_w=case.above_w / 1.5),
    "dear slots first": lambda case: case._replace(
        slots=[(begin_s, -price) for begin_s, price in case.slots]),
    "what is left is lost": lambda case: case._replace(unspent="expire"),
    "jobs pay at their start": lambda case: case._replace(carry="charge-now"),
    "later periods are not looked at": lambda case: case._replace(carry="allow"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_run_under_another_budget_is_found_where_a_job_starts_at_another_time(wrong: str) -> None:
    """Up to the first such start both runs are one, so there the record contradicts the rule.

    Not where rounding decides, nor where other jobs are refused at their submission.
    """
    others = 0
    for seed in range(24):
        case = lasting(given_from(seed, MOST_JOBS))
        right, other = (promised(each, "easy") for each in (case, WRONG[wrong](case)))
        found, all_judged = judged(replace(other, promises=right.promises))
        starts = np.array_equal(right.schedule.start_s, other.schedule.start_s, equal_nan=True)
        if not starts and all_judged and np.array_equal(right.refused, other.refused):
            others += 1
            assert found, seed
    assert others > 0
