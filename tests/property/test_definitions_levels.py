"""Runs under rules that slow jobs down or set them aside equal the definitions.

Speeds and powers of levels are powers of two, so that sums of times are exact.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.support.definitions.admissions import Adaptive, Dvfs, Wait
from tests.support.definitions.backfilling import Easy
from tests.support.definitions.busy import busy_cases
from tests.support.definitions.drawn import cases
from tests.support.definitions.engines import assert_same, simulated, watt_reservations
from tests.support.definitions.world import Case, Outcome, World
from tests.support.examples import costing
from tests.support.thinned import crossed
from tests.support.workloads import compose

from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.reservation import Reservation
from wattline.model.signal import Signal
from wattline.physics.core_power import CorePower
from wattline.physics.powercap import PowerCap
from wattline.policies.admission import adaptive_setup, dvfs, wait
from wattline.policies.backfill.none import NoBackfill

EXAMPLES = costing(10)
PARTS = [0.25, 0.5, 1.0]
"""Speed, and power above idle (`dvfs`: whole power), of the levels."""
CORE = CorePower((0.5e9, 1e9, 2e9), (15.0, 20.0, 30.0), 10.0)


def adaptive_of(case: Case):
    return adaptive_setup.adaptive(
        case.machine, PowerCap(reservations=watt_reservations(case)), core=CORE)


POWERS = {
    "wait": (lambda: Wait(4.0, 2), lambda case: wait.Wait(4.0, 2)),
    "dvfs": (lambda: Dvfs(PARTS, PARTS),
             lambda case: dvfs.Dvfs(np.array(PARTS), np.array(PARTS))),
    "adaptive": (lambda: Adaptive(PARTS, PARTS), adaptive_of),
}


def defined(case: Case, power, backfill: bool = True) -> Outcome:
    return World(case).run(Easy(power, backfill=backfill).decide, power.refuses)


@pytest.mark.parametrize(("power", "backfill"), crossed(
    list(POWERS), ["easy", "none"], later=pytest.mark.long))
@given(case=cases())
@EXAMPLES
def test_runs_under_caps_and_reservations_are_those_of_the_definition(power, backfill, case):
    definition, admission = POWERS[power]
    policy = compose(admission=admission(case),
                     **({} if backfill == "easy" else {"backfill": NoBackfill()}))
    assert_same(simulated(case, policy), defined(case, definition(), backfill == "easy"))


@pytest.mark.parametrize("power", list(POWERS))
@given(case=busy_cases())
@EXAMPLES
def test_a_busy_machine_runs_as_the_definition_has_it(power, case):
    definition, admission = POWERS[power]
    policy = compose(admission=admission(case))
    assert_same(simulated(case, policy), defined(case, definition()))


def test_a_job_that_stood_aside_does_not_run_into_a_reservation_of_nodes():
    """Four nodes, 100 W idle and 300 W busy, 900 W. Two nodes draw 800 W, so the second job steps
    aside at 0 s. At 10 s it has its watts, and four nodes are kept from 15 s to 20 s: until 20 s it
    would hold two of them."""
    jobs = JobTable.build(submit_s=[0, 0], procs=[2, 2], run_s=[10, 10])
    machine = Machine.uniform(4, NodeClass(power_w_idle=100.0, power_w_active=300.0))
    case = Case(jobs, machine, Signal.constant(900.0, "W"), (Reservation(15, 5, nodes=4),))
    run = simulated(case, compose(admission=wait.Wait(100.0, 2)))
    assert run.schedule.start_s.tolist() == [0, 20]
    assert_same(run, defined(case, Wait(100.0, 2)))


NODE = NodeClass(power_w_idle=100.0, power_w_active=300.0)


def test_a_job_at_full_speed_leaves_the_first_job_the_watts_of_its_lowest_level():
    """Five nodes, 500 W idle, under 750 W. The second job lacks a node until 15 s and then needs
    100 W at its lowest level, so 150 W are left beside it. The third would start at full speed, at
    200 W until 22 s: it waits, and starts beside the second at a quarter of that."""
    jobs = JobTable.build(submit_s=[0, 1, 2], procs=[4, 2, 1], run_s=[15, 10, 20],
                          power_w=[400.0, 600.0, 300.0])
    case = Case(jobs, Machine.uniform(5, NODE), Signal.constant(750.0, "W"))
    run = simulated(case, compose(admission=adaptive_of(case)))
    assert run.schedule.start_s.tolist() == [0, 15, 15]
    assert_same(run, defined(case, Adaptive(PARTS, PARTS)))


def test_the_first_job_is_reserved_its_nodes_for_its_time_at_the_lowest_level():
    """Two nodes under 300 W, one reserved from 20 s to 25 s. The second job has watts for a quarter
    of its speed, where it takes 20 s: from 4 s on it would run into the reservation, so it is
    planned from 25 s on, and the third has its node until 19 s."""
    jobs = JobTable.build(submit_s=[0, 0, 1], procs=[1, 2, 1], run_s=[4, 5, 18],
                          power_w=[100.0, 600.0, 100.0])
    case = Case(jobs, Machine.uniform(2, NODE), Signal.constant(300.0, "W"),
                (Reservation(20, 5, nodes=1),))
    run = simulated(case, compose(admission=adaptive_of(case)))
    assert run.schedule.start_s.tolist() == [0, 25, 1]
    assert_same(run, defined(case, Adaptive(PARTS, PARTS)))


def test_a_job_is_tried_again_when_others_took_the_units_that_it_would_have_shared_power_with():
    """Eight nodes, 800 W idle, under 1,300 W, less 400 W from 16 s to 21 s. With all nodes idle the
    first job would start at a quarter of its speed, until 20 s: into the reservation. The second
    takes four nodes; at 1 s, when a third comes, half of the speed is left for all that are idle,
    where the first ends at 11 s."""
    jobs = JobTable.build(submit_s=[0, 0, 1], procs=[2, 4, 2], run_s=[5, 55, 45],
                          power_w=[1000.0, 402.0, 200.0])
    case = Case(jobs, Machine.uniform(8, NODE), Signal.constant(1300.0, "W"),
                (Reservation(16, 5, nodes=0, watts=400.0),))
    run = simulated(case, compose(admission=adaptive_of(case)))
    assert run.schedule.start_s.tolist() == [1, 0, 1]
    assert_same(run, defined(case, Adaptive(PARTS, PARTS)))
