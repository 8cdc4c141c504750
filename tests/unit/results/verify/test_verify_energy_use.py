"""Decisions under an energy budget that were not those of its rule, by hand.

Ten nodes draw 100 W idle and 300 W busy, so that a busy node costs 200 J a second above idle.
Periods of 100 s have 1,000 W for the idle machine, and joules above that as they are given.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.workloads import compose
from tests.unit.results.verify.test_verify_queue import MACHINE, started, table

from wattline.analysis import rundir
from wattline.engine.simulate import simulate
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.physics.budget import EnergyBudget
from wattline.physics.budget_terms import BudgetTerms
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.admission.budget_setup import budgeted
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.traits import queue_rule
from wattline.results.verify.judge import verify
from wattline.scenario.promises import energy_periods

RULE = "budget.used"


def play(above_j: float, *rows: tuple[float, int, float], cost: Signal | None = None,
         backfill=None, **terms: str) -> Run:
    jobs = table(*rows)
    asked = EnergyBudget(100_000.0 + above_j, 0.0, 100.0, cost or Signal.constant(1.0))
    admission = budgeted(MACHINE, asked, adaptive(MACHINE, strategy=Strategy.IDLE, jobs=jobs), 1,
                         BudgetTerms(**terms))
    policy = compose(admission=admission, **({} if backfill is None else {"backfill": backfill}))
    run = simulate(jobs, MACHINE, policy)
    return replace(run, promises=replace(run.promises, budget=energy_periods(admission, 1000.0),
                                         queue=queue_rule(policy)))


def starts(run: Run) -> list[float]:
    return run.schedule.start_s.tolist()


def found(run: Run) -> list[str]:
    return [each.sentence for each in verify(run).findings if each.rule == RULE]


def test_a_job_does_not_wait_for_energy_that_is_there() -> None:
    """20,000 J: job 1 takes 2 x 200 W x 30 s = 12,000, job 2 takes 8,000 and fits to the joule."""
    run = play(20_000.0, (0, 2, 30), (0, 2, 20))
    assert starts(run) == [0, 0]
    assert found(run) == []
    assert found(started(run, 0, 100)) == [
        f"job 2, first in the queue, waits at {at_s} s though its energy budget has watts and "
        "joules for it" for at_s in (0, 30)]


def test_a_job_does_not_start_without_energy_for_it() -> None:
    """With 19,999 J job 2 lacks one, and has the next period's from 100 s on."""
    run = play(19_999.0, (0, 2, 30), (0, 2, 20))
    assert starts(run) == [0, 100]
    assert found(run) == []
    assert found(started(run, 0, 50)) == [
        "job 2 starts at 50 s without the units, watts and joules for it"]


def test_a_job_that_no_event_lets_start_does_so_when_the_slot_begins() -> None:
    """Joules cost less from 50 s on. Then job 1 starts; at 70 s there is no other event."""
    run = play(20_000.0, (0, 2, 30), cost=Signal.from_steps([(0.0, 2.0), (50.0, 1.0)], ""))
    assert starts(run) == [50]
    assert found(run) == []
    assert found(started(run, 70)) == [
        "job 1, first in the queue, waits at 50 s though its energy budget has watts and joules "
        "for it"]
    assert found(started(run, 0)) == [
        "job 1 starts at 0 s without the units, watts and joules for it"]


def test_a_job_that_ends_before_the_first_has_its_energy_may_pass() -> None:
    """Job 2 needs 16,000 of the 8,000 J left, so it counts on all nodes at 100 s. Job 3 has its
    4,000 and ends before; job 4 would end at 105 s."""
    run = play(20_000.0, (0, 2, 30), (1, 10, 8), (2, 1, 20), (90, 1, 15))
    assert starts(run) == [0, 100, 2, 108]
    assert found(run) == []
    assert found(started(run, 0, 100, 30, 108))[0] == (
        "job 3 waits at 2 s though the energy budget has watts and joules for it beside the "
        "reservation of job 2 at 100 s")
    assert found(started(run, 0, 105, 2, 90))[0] == (
        "at 90 s job 4 passes job 2, first in the queue, against the rule of its budget")


def test_without_backfilling_nobody_passes_a_job_that_lacks_energy() -> None:
    run = play(20_000.0, (0, 2, 30), (1, 4, 20), (2, 1, 20), backfill=NoBackfill())
    assert starts(run) == [0, 100, 100]
    assert found(run) == []


@pytest.mark.parametrize(("unspent", "expected"), [
    ("carry", [0, 100, 100]), ("expire", [0, 100, 200])])
def test_energy_that_a_period_left_counts_where_it_is_kept(
    unspent: str, expected: list[float]
) -> None:
    """Job 1 leaves 8,000 of 20,000 J; jobs 2 and 3 need 16,000 and 12,000, as much as both are."""
    rows = (0, 2, 30), (100, 2, 40), (100, 2, 30)
    run = play(20_000.0, *rows, unspent=unspent)
    assert starts(run) == expected
    assert found(run) == []
    other = {"carry": "expire", "expire": "carry"}[unspent]
    assert found(replace(run, promises=play(20_000.0, *rows, unspent=other).promises)) != []


def test_what_cannot_be_judged_under_a_budget_is_said() -> None:
    run = play(20_000.0, (0, 2, 30), backfill=Conservative())
    why = [each.why for each in verify(run).skipped if each.rule == RULE]
    assert why == ["reservations of conservative backfilling under an energy budget"]
    silent = replace(run, promises=replace(run.promises, queue=None))
    assert [each.why for each in verify(silent).skipped if each.rule == RULE] == [
        "the run does not say by which rule jobs wait under its budget"]


def test_a_run_folder_keeps_the_slots_of_a_budget(tmp_path) -> None:
    """Two slots, of which the second costs less: places 1 and 0."""
    run = play(20_000.0, (0, 2, 30), cost=Signal.from_steps([(0.0, 2.0), (50.0, 1.0)], ""))
    budget = rundir.read(rundir.write(run, tmp_path / "r")).promises.budget
    assert budget is not None
    assert (budget.slot_s.tolist(), budget.slot_place.tolist(), budget.slot_count.tolist()) == (
        [0.0, 50.0], [1, 0], [2])
    assert np.isclose(budget.energy_j, 120_000.0)


def test_of_many_decisions_some_are_judged_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events are at 0, 20 and 30 s."""
    run = play(20_000.0, (0, 2, 30), (0, 2, 20))
    for most, expected in ((3, 3), (2, 2), (1, 1)):
        monkeypatch.setattr("wattline.results.verify.budget.use.MOST_DECISIONS", most)
        rule, = (each for each in verify(run).judged if each.rule == RULE)
        assert (rule.decisions, rule.of) == (expected, 3)
