"""Runs on nodes of several classes equal the definition: which nodes, how fast, with what power."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from tests.support.definitions.admissions import Block, Unlimited, Wait, Watts
from tests.support.definitions.backfilling import Easy
from tests.support.definitions.busy import cases_on_classes
from tests.support.definitions.classes import ClassesWorld
from tests.support.definitions.engines import assert_same, watts_of
from tests.support.definitions.world import Case
from tests.support.examples import costing
from tests.support.thinned import crossed
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.policies.admission import block, none, wait
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.placement.first_fit import FirstFit

EXAMPLES = costing(10)
POWERS = {
    "none": (Unlimited, lambda case: none.NoLimit()),
    "block": (Block, lambda case: block.Block()),
    "watts": (Watts, watts_of),
    "wait": (lambda: Wait(4.0, 2), lambda case: wait.Wait(4.0, 2)),
}


def simulated(case: Case, power: str, backfill: str) -> Run:
    policy = compose(admission=POWERS[power][1](case), placement=FirstFit(),
                     **({} if backfill == "easy" else {"backfill": NoBackfill()}))
    return simulate(case.jobs, case.machine, policy, Rules(
        choose_nodes=True, overrun=case.overrun, cap_w=case.cap_w,
        reservations=case.reservations))


def defined(case: Case, power: str, backfill: str) -> ClassesWorld:
    world, rule = ClassesWorld(case, keeps_cap=power != "none"), POWERS[power][0]()
    world.run(Easy(rule, backfill=backfill == "easy").decide, rule.refuses)
    return world


def nodes_of(run: Run) -> dict[int, set[int]]:
    """The nodes that each job had."""
    assert run.placement is not None
    found: dict[int, set[int]] = {}
    rows = zip(run.placement.job, run.placement.first, run.placement.count, strict=True)
    for job, first, count in rows:
        found.setdefault(int(job), set()).update(range(first, first + count))
    return found


@pytest.mark.parametrize(("power", "backfill"), crossed(
    list(POWERS), ["easy", "none"], later=pytest.mark.long))
@given(case=cases_on_classes())
@EXAMPLES
def test_jobs_get_the_nodes_of_the_definition_at_its_times(power, backfill, case):
    run, world = simulated(case, power, backfill), defined(case, power, backfill)
    assert_same(run, world.outcome)
    assert nodes_of(run) == {job: set(nodes) for job, nodes in world.nodes.items()}


def starts_of(case: Case, power: str) -> list[float]:
    """Those of the run, which are also those of the definition."""
    run = simulated(case, power, "easy")
    assert_same(run, defined(case, power, "easy").outcome)
    return run.schedule.start_s.tolist()


def node(active_w: float = 300.0, speed: float = 1.0) -> NodeClass:
    return NodeClass(power_w_idle=100.0, power_w_active=active_w, speed=speed)


def test_a_job_that_is_in_time_on_a_faster_node_passes_the_first():
    """The first job has the slow node until 10 s, and the second needs both. The third asks for
    14 s, which are 7 s on the fast node: from 2 s until 9 s."""
    machine = Machine((NodeGroup(node(), 1), NodeGroup(node(speed=2.0), 1)))
    jobs = JobTable.build(submit_s=[0, 1, 2], procs=[1, 2, 1], run_s=[10, 10, 14])
    assert starts_of(Case(jobs, machine), "none") == [0, 10, 2]


def test_a_job_is_tried_again_once_another_has_taken_the_slow_node():
    """Two nodes at half speed and two at full. The first job is on a slow one until 20 s, and the
    second needs all four. The third would be on the other slow one for 24 s; the fourth takes that
    for 10 s. At 4 s, when a fifth comes, the third would be on a fast one until 16 s."""
    machine = Machine((NodeGroup(node(speed=0.5), 2), NodeGroup(node(), 2)))
    jobs = JobTable.build(submit_s=[0, 1, 2, 3, 4], procs=[1, 4, 1, 1, 4],
                          run_s=[10, 10, 12, 5, 1])
    assert starts_of(Case(jobs, machine), "none") == [0, 20, 4, 3, 40]


def test_a_job_of_no_time_delays_no_first_job_whose_own_nodes_have_to_come_back():
    """Three nodes, 300 W idle, under 600 W. The first job has the node that adds 100 W until 10 s.
    The second is kept 100 W, which there are, but each node that is free adds 300 W to 400 W. The
    third asks for no time and adds 150 W: it starts as it comes."""
    machine = Machine((NodeGroup(node(200.0), 1), NodeGroup(node(400.0), 2)))
    jobs = JobTable.build(submit_s=[0, 1, 2], procs=[1, 1, 1], run_s=[10, 10, 0],
                          power_w=[math.nan, math.nan, 250.0])
    assert starts_of(Case(jobs, machine, Signal.constant(600.0, "W")), "watts") == [0, 10, 2]


def test_the_first_job_is_kept_the_watts_of_the_nodes_that_it_would_get_alone():
    """Three nodes, 300 W idle, under 600 W. The first job adds 50 W on the node that may add 100 W,
    until 10 s, the second 200 W until 30 s. The third would add 200 W on the node that is left, and
    100 W on the first, which are there at 10 s. The fourth adds 50 W for 20 s, the last there are:
    it waits."""
    machine = Machine((NodeGroup(node(200.0), 1), NodeGroup(node(300.0), 2)))
    jobs = JobTable.build(submit_s=[0, 0, 1, 2], procs=[1, 1, 1, 1], run_s=[10, 30, 10, 20],
                          power_w=[150.0, math.nan, math.nan, 150.0])
    assert starts_of(Case(jobs, machine, Signal.constant(600.0, "W")), "watts") == [0, 0, 10, 20]
