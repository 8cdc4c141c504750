"""Runs under power rules that only admit equal the definitions from the documentation."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from tests.support.definitions.admissions import Block, Unlimited, Watts
from tests.support.definitions.backfilling import Easy, Multifactor, fcfs, sjf
from tests.support.definitions.busy import busy_cases
from tests.support.definitions.drawn import cases
from tests.support.definitions.engines import (
    ToldBooks,
    assert_same,
    assert_same_outcome,
    simulated,
    watts_of,
)
from tests.support.definitions.world import Case, Outage, Outcome, World
from tests.support.examples import costing
from tests.support.thinned import crossed
from tests.support.workloads import compose

from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.reservation import Reservation
from wattline.model.signal import Signal
from wattline.policies.admission import block, none, watts
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order import fcfs as by_submission
from wattline.policies.order import multifactor
from wattline.policies.order import sjf as by_time

EXAMPLES = costing(10)
POWERS = {
    "none": (Unlimited, lambda case: none.NoLimit()),
    "block": (Block, lambda case: block.Block()),
    "watts": (Watts, watts_of),
}
ORDERS = {"fcfs": (fcfs, by_submission.Fcfs()), "sjf": (sjf, by_time.Sjf()),
          "multifactor": (Multifactor(1.0, 1.0, 8.0),
                          multifactor.Multifactor(age=1.0, size=1.0, age_max_s=8.0))}


def defined(case: Case, power, order=fcfs, backfill: bool = True) -> Outcome:
    rule = Easy(power, order, backfill)
    return World(case).run(rule.decide, power.refuses)


@pytest.mark.parametrize(("power", "order", "backfill"), crossed(
    list(POWERS), list(ORDERS), ["easy", "none"], later=pytest.mark.long))
@given(case=busy_cases())
@EXAMPLES
def test_runs_under_caps_and_reservations_are_those_of_the_definition(
    power, order, backfill, case
):
    definition, admission = POWERS[power]
    key, axis = ORDERS[order]
    policy = compose(order=axis, admission=admission(case),
                     **({} if backfill == "easy" else {"backfill": NoBackfill()}))
    assert_same(simulated(case, policy), defined(case, definition(), key, backfill == "easy"))


TOLD = {"none": none.NoLimit(), "block": block.Block(), "watts": watts.Watts()}


@pytest.mark.parametrize(("power", "order", "backfill"), crossed(
    ["watts", "block", "none"], ["fcfs", "sjf"], ["easy", "none"], later=pytest.mark.long))
@given(case=cases(told=True))
@EXAMPLES
def test_books_that_are_told_of_outages_and_measured_power_decide_as_the_definition(
    power, order, backfill, case
):
    key, axis = ORDERS[order]
    policy = compose(order=axis, admission=TOLD[power],
                     **({} if backfill == "easy" else {"backfill": NoBackfill()}))
    expected = defined(case, POWERS[power][0](), key, backfill == "easy")
    assert_same_outcome(ToldBooks(case, policy).outcome(), expected)


BESIDE = JobTable.build(submit_s=[0, 1, 2, 3], procs=[3, 4, 1, 1], run_s=[10, 10, 100, 100])
NODE = NodeClass(power_w_idle=100.0, power_w_active=300.0)


@pytest.mark.parametrize("windows", [(), (Reservation(900, 10, nodes=1),)])
def test_watts_that_are_left_beside_the_first_waiting_job_are_given_away_once(windows):
    """Ten nodes, 2,000 W. The second job adds 800 W to 1,600 W and is promised 10 s, when the first
    gives 600 W back: 200 W are left beside it then, for one of the two long jobs. The other waits
    for its end at 20 s, also where a reservation of a node lies far ahead."""
    case = Case(BESIDE, Machine.uniform(10, NODE), Signal.constant(2000.0, "W"), windows)
    run = simulated(case, compose(admission=watts_of(case)))
    assert run.schedule.start_s.tolist() == [0, 10, 2, 20]
    assert_same(run, defined(case, Watts()))


@given(case=cases())
@EXAMPLES
def test_reserved_watts_are_known_to_end_as_the_definition_has_it(case):
    policy = compose(admission=watts_of(case))
    assert_same(simulated(case, policy), defined(case, Watts()))


@pytest.mark.parametrize(("power", "order", "backfill"), crossed(
    ["watts", "block", "none"], ["fcfs", "sjf"], ["easy", "none"], later=pytest.mark.long))
@given(case=busy_cases(told=True))
@EXAMPLES
def test_books_of_a_busy_machine_that_is_measured_and_breaks_decide_as_the_definition(
    power, order, backfill, case
):
    key, axis = ORDERS[order]
    policy = compose(order=axis, admission=TOLD[power],
                     **({} if backfill == "easy" else {"backfill": NoBackfill()}))
    expected = defined(case, POWERS[power][0](), key, backfill == "easy")
    assert_same_outcome(ToldBooks(case, policy).outcome(), expected)


def test_the_first_job_has_its_watts_when_reserved_ones_are_given_back():
    """Four nodes under 600 W, from 21 s on 750 W, less 150 W from 14 s to 23 s. The first job adds
    200 W to 400 W until 25 s. The second needs both other nodes and 150 W, which are there at 23 s;
    the third, of 3 s on one node, would hold it until 25 s."""
    jobs = JobTable.build(submit_s=[0, 21, 22], procs=[2, 2, 1], run_s=[25, 10, 3],
                          power_w=[400.0, 350.0, 100.0])
    case = Case(jobs, Machine.uniform(4, NODE), Signal([0.0, 21.0], [600.0, 750.0], "W"),
                (Reservation(14, 9, nodes=0, watts=150.0),))
    run = simulated(case, compose(admission=watts_of(case)))
    assert run.schedule.start_s.tolist() == [0, 23, 25]
    assert_same(run, defined(case, Watts()))


def test_a_job_that_lacks_units_in_order_leaves_the_reservation_to_the_next():
    """Four nodes, two broken from 1 s to 30 s. The second job needs all four; the third both that
    are left, which it has at 10 s; the fourth, of 20 s on one node, would take one of them."""
    jobs = JobTable.build(submit_s=[0, 2, 3, 4], procs=[1, 4, 2, 1], run_s=[10, 10, 10, 20])
    case = Case(jobs, Machine.uniform(4, NODE), told=(Outage(1.0, 2), Outage(30.0, -2)))
    found = ToldBooks(case, compose()).outcome()
    assert found.start_s == [0, 40, 10, 20]
    assert_same_outcome(found, defined(case, Unlimited()))


def test_a_job_over_the_cap_on_its_own_nodes_is_set_aside_while_some_are_broken():
    """Four nodes under 500 W, from 2 s on 350 W; two break at 1 s. The second job runs on four
    nodes, which draw 400 W idle. The third adds 100 W to 200 W."""
    jobs = JobTable.build(submit_s=[0, 3, 4], procs=[1, 4, 1], run_s=[10, 10, 10],
                          power_w=[100.0, 400.0, 200.0])
    case = Case(jobs, Machine.uniform(4, NODE), Signal([0.0, 2.0], [500.0, 350.0], "W"),
                told=(Outage(1.0, 2), Outage(30.0, -2)))
    found = ToldBooks(
        case, compose(admission=watts.Watts(), backfill=NoBackfill())).outcome()
    assert found.start_s == pytest.approx([0, math.nan, 4], nan_ok=True)
    assert_same_outcome(found, defined(case, Watts(), backfill=False))


def test_a_first_job_keeps_its_watts_while_units_are_out_of_order():
    """Nine nodes under 1,150 W, four broken: five idle with 500 W. The second job needs them all
    and 500 W more, which it has at 10 s; the whole idle machine and it would draw 1,400 W. The
    third, of 30 s on one node, would take one."""
    jobs = JobTable.build(submit_s=[0, 1, 2], procs=[4, 5, 1], run_s=[10, 10, 30],
                          power_w=[400.0, 1000.0, 300.0])
    case = Case(jobs, Machine.uniform(9, NODE), Signal([0.0, 0.5], [1400.0, 1150.0], "W"),
                told=(Outage(0.0, 4), Outage(200.0, -4)))
    found = ToldBooks(case, compose(admission=watts.Watts())).outcome()
    assert found.start_s == [0, 10, 20]
    assert_same_outcome(found, defined(case, Watts()))


def test_a_first_job_that_asks_for_no_time_keeps_its_place_beside_a_reservation():
    """Two nodes. The second job asks for both and no time: it has them at 10 s, when the first
    ends. The third asks for 30 s on one node and would take one before."""
    jobs = JobTable.build(submit_s=[0, 1, 2], procs=[1, 2, 1], run_s=[10, 0, 30])
    case = Case(jobs, Machine.uniform(2, NODE), None, (Reservation(900, 10, nodes=1),))
    run = simulated(case, compose())
    assert run.schedule.start_s.tolist() == [0, 10, 10]


def test_a_job_is_back_as_soon_as_a_broken_unit_is_given_up_by_the_job_on_it():
    """Eight nodes under 3,700 W, from 10 s on 3,650 W. The large job needs 800 + 3,000 W alone, so
    it is refused; one of 2,900 W above idle, 3,700 W, is set aside from 10 s on. Two nodes break at
    20 s, one of them under the job that holds seven until 30 s: without it 600 + 2,900 W are drawn,
    and the job starts."""
    jobs = JobTable.build(submit_s=[0, 1, 1], procs=[7, 6, 6], run_s=[30, 5, 5],
                          power_w=[700.0, 3600.0, 3500.0])
    case = Case(jobs, Machine.uniform(8, NODE), Signal([0.0, 10.0], [3700.0, 3650.0], "W"),
                told=(Outage(20.0, 2), Outage(60.0, -2)))
    found = ToldBooks(case, compose(admission=watts.Watts())).outcome()
    assert found.start_s[::2] == [0, 30]
    assert found.start_s[1] != found.start_s[1]  # refused
    assert_same_outcome(found, defined(case, Watts()))
