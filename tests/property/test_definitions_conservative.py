"""Runs under conservative backfilling, with and without watts, equal the definition."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from tests.support.definitions.admissions import Unlimited, Watts
from tests.support.definitions.backfilling import Conservative as Defined
from tests.support.definitions.busy import busy_cases
from tests.support.definitions.drawn import cases
from tests.support.definitions.engines import (
    ToldBooks,
    assert_same,
    assert_same_outcome,
    simulated,
    watts_of,
)
from tests.support.definitions.world import Case, Outcome, World
from tests.support.examples import costing
from tests.support.workloads import compose

from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.reservation import Reservation
from wattline.model.signal import Signal
from wattline.policies.admission import none, watts
from wattline.policies.backfill.conservative import Conservative

EXAMPLES = costing(20)
POWERS = {"none": (Unlimited, none.NoLimit()), "watts": (Watts, watts.Watts())}


def defined(case: Case, power) -> Outcome:
    return World(case).run(Defined(power).decide, power.refuses)


def policy_of(admission):
    return compose(backfill=Conservative(), admission=admission)


@pytest.mark.parametrize("power", list(POWERS))
@given(case=busy_cases())
@EXAMPLES
def test_a_busy_machine_runs_as_the_definition_has_it(power, case):
    definition, admission = POWERS[power]
    case = replace(case, reservations=())
    assert_same(simulated(case, policy_of(admission)), defined(case, definition()))


@given(case=busy_cases())
@EXAMPLES
def test_reserved_nodes_are_planned_around_as_the_definition_has_it(case):
    case = replace(case, reservations=tuple(
        replace(each, watts=0.0) for each in case.reservations if each.nodes))
    assert_same(simulated(case, policy_of(none.NoLimit())), defined(case, Unlimited()))


@given(case=busy_cases())
@EXAMPLES
def test_reserved_watts_are_known_to_end_as_the_definition_has_it(case):
    case = replace(case, reservations=tuple(
        replace(each, nodes=0) for each in case.reservations if each.watts))
    assert_same(simulated(case, policy_of(watts_of(case))), defined(case, Watts()))


@given(case=cases(windows=False, watts_windows=False))
@EXAMPLES
def test_a_small_machine_under_a_cap_runs_as_the_definition_has_it(case):
    assert_same(simulated(case, policy_of(watts.Watts())), defined(case, Watts()))


@given(case=busy_cases(told=True))
@EXAMPLES
def test_books_that_are_told_of_outages_and_measured_power_decide_as_the_definition(case):
    case = replace(case, reservations=())
    found = ToldBooks(case, policy_of(watts.Watts())).outcome()
    assert_same_outcome(found, defined(case, Watts()))


def test_the_first_job_that_lacks_watts_at_its_time_is_passed_by_none_that_would_take_them():
    """Four nodes, 400 W idle, under 700 W. The second job is planned at once, has its nodes and
    lacks 200 W until 10 s. The third, of 20 s, would take the 100 W that are there; the fourth
    takes none beside the second and starts."""
    jobs = JobTable.build(submit_s=[0, 0, 1, 1], procs=[1, 1, 1, 1], run_s=[10, 10, 20, 20],
                          power_w=[300.0, 400.0, 200.0, 100.0])
    machine = Machine.uniform(4, NodeClass(power_w_idle=100.0, power_w_active=300.0))
    case = Case(jobs, machine, Signal.constant(700.0, "W"))
    run = simulated(case, policy_of(watts.Watts()))
    assert run.schedule.start_s.tolist() == [0, 10, 20, 1]
    assert_same(run, defined(case, Watts()))


def test_a_job_that_waits_for_the_end_of_reserved_watts_has_them_from_then_on():
    """Four nodes, 400 W idle, under 800 W, less 200 W until 10 s. The first job adds 250 W, which
    there are then: 50 W are left beside it and the second, which adds 100 W until 20 s. The third
    would add 100 W from 1 s to 21 s, so it waits for 20 s; the fourth adds 50 W."""
    jobs = JobTable.build(submit_s=[0, 0, 1, 2], procs=[1, 1, 1, 1], run_s=[10, 20, 20, 20],
                          power_w=[350.0, 200.0, 200.0, 150.0])
    machine = Machine.uniform(4, NodeClass(power_w_idle=100.0, power_w_active=300.0))
    case = Case(jobs, machine, Signal.constant(800.0, "W"),
                (Reservation(0, 10, nodes=0, watts=200.0),))
    run = simulated(case, policy_of(watts_of(case)))
    assert run.schedule.start_s.tolist() == [10, 0, 20, 2]
    assert_same(run, defined(case, Watts()))
