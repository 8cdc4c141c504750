"""Runs under power rules that only admit equal the definitions from the documentation."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.support.definitions.admissions import Block, Unlimited, Watts
from tests.support.definitions.backfilling import Easy, Multifactor, fcfs, sjf
from tests.support.definitions.drawn import cases
from tests.support.definitions.engines import assert_same, simulated, watts_of
from tests.support.definitions.world import Case, Outcome, World
from tests.support.examples import examples
from tests.support.thinned import crossed
from tests.support.workloads import compose

from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.reservation import Reservation
from wattline.model.signal import Signal
from wattline.policies.admission import block, none
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order import fcfs as by_submission
from wattline.policies.order import multifactor
from wattline.policies.order import sjf as by_time

EXAMPLES = examples(300, at_night=300)
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
@given(case=cases())
@EXAMPLES
def test_runs_under_caps_and_reservations_are_those_of_the_definition(
    power, order, backfill, case
):
    definition, admission = POWERS[power]
    key, axis = ORDERS[order]
    policy = compose(order=axis, admission=admission(case),
                     **({} if backfill == "easy" else {"backfill": NoBackfill()}))
    assert_same(simulated(case, policy), defined(case, definition(), key, backfill == "easy"))


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


def test_a_first_job_that_asks_for_no_time_keeps_its_place_beside_a_reservation():
    """Two nodes. The second job asks for both and no time: it has them at 10 s, when the first
    ends. The third asks for 30 s on one node and would take one before."""
    jobs = JobTable.build(submit_s=[0, 1, 2], procs=[1, 2, 1], run_s=[10, 0, 30])
    case = Case(jobs, Machine.uniform(2, NODE), None, (Reservation(900, 10, nodes=1),))
    run = simulated(case, compose())
    assert run.schedule.start_s.tolist() == [0, 10, 10]
