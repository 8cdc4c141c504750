"""A composition decides the same on a snapshot as in the middle of a simulation.

The engine's kernels remember what they have examined; a snapshot knows nothing but the view. A run
that asks afresh at every instant must be the same run. Compiled, a few combinations stand for all;
in plain mode (see test_plain_twins.py) every combination is tried.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.workloads import compose, workloads

from wattline.books.snapshot import decide, never_starting
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError, PolicyError
from wattline.model.kernel import PLAIN
from wattline.model.machine import Machine
from wattline.model.signal import Signal
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.admission.none import NoLimit
from wattline.policies.backfill.easy import Easy
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.order.largest import Largest
from wattline.policies.order.ranked import ranked
from wattline.policies.order.sjf import Sjf
from wattline.policies.order.wfp import Wfp
from wattline.policies.view import QueuedJob, RunningJob, SetLevel, Start, View
from wattline.results.verify.judge import verify
from wattline.testing.policy_contract import OnSnapshots

UNITS = 8
MACHINE = Machine.uniform(UNITS)
LEVELS = Dvfs(
    speed=np.array([0.5, 0.75, 1.0]), power_factor=np.array([0.5, 0.7, 1.0]), latency_s=1.0
)
ORDERS = {"fcfs": Fcfs(), "sjf": Sjf(), "largest": Largest(), "wfp": Wfp()}
BACKFILLS = {"none": NoBackfill(), "easy": Easy()}
ADMISSIONS = {"free": NoLimit(), "block": Block(), "dvfs": LEVELS}
EVERY = [(o, b, a) for o in ORDERS for b in BACKFILLS for a in ADMISSIONS]
COMPILED = [("fcfs", "easy", "free"), ("sjf", "easy", "block"), ("fcfs", "easy", "dvfs")]
FEW = [("fcfs", "none", "free"), ("sjf", "easy", "block"), ("largest", "none", "dvfs"),
       ("wfp", "easy", "dvfs"), ("largest", "none", "block"), ("sjf", "easy", "free")]
"""Before a commit: every order, and every admission with every backfilling."""


def composition(order, backfill, admission):
    return compose(
        order=ORDERS[order], backfill=BACKFILLS[backfill], admission=ADMISSIONS[admission]
    )


def assert_same_run(jobs, policy, rules):
    inside = simulate(jobs, MACHINE, policy, rules)
    asked = simulate(jobs, MACHINE, OnSnapshots(policy), rules)
    assert verify(asked).sentences == []
    np.testing.assert_array_equal(inside.ran, asked.ran)
    np.testing.assert_allclose(inside.schedule.start_s, asked.schedule.start_s, rtol=1e-12)
    np.testing.assert_allclose(inside.schedule.end_s, asked.schedule.end_s, rtol=1e-12)
    np.testing.assert_allclose(inside.schedule.energy_j, asked.schedule.energy_j, rtol=1e-9)
    if not inside.refused.any():  # otherwise one of the runs waits for a last step of the cap
        assert inside.energy_j == pytest.approx(asked.energy_j, rel=1e-9)


@pytest.mark.parametrize("names", [
    pytest.param(names, marks=pytest.mark.long if PLAIN and names not in FEW else ())
    for names in (EVERY if PLAIN else COMPILED)], ids="-".join)
@given(
    jobs=workloads(UNITS),
    overrun=st.sampled_from(["extend", "kill"]),
    cap_w=st.sampled_from([1000.0, 1500.0, 2200.0]),
    later_w=st.sampled_from([900.0, 1500.0, 3000.0]),
    step_s=st.integers(1, 40),
)
@costing(40)
def test_asked_afresh_or_in_a_simulation(names, jobs, overrun, cap_w, later_w, step_s):
    cap = Signal.from_steps([(0, cap_w), (step_s, later_w)], "W")
    assert_same_run(jobs, composition(*names), Rules(overrun=overrun, cap_w=cap))


def test_a_snapshot_by_hand():
    """Eight nodes: six run until 10, two are free. B needs 4 and waits for 10 (4 are extra);
    C (2 nodes, 50 s) uses extra ones only; D needs more than there are left."""
    view = View(
        now_s=4.0, units=8, free=2, power_w=8 * 90.0 + 6 * 210.0, cap_w=np.inf, idle_w=90.0,
        queue=(QueuedJob(3, 4, 20.0, 1.0, 1200.0), QueuedJob(5, 2, 50.0, 2.0, 600.0),
               QueuedJob(6, 1, 2.0, 3.0, 300.0)),
        running=(RunningJob(2, 6, 0.0, 10.0, 1800.0, 1.0, 1800.0),),
    )
    assert decide(compose(), view) == [Start(5, 1.0, 600.0)]


def test_a_policy_that_remembers_is_not_asked_without_its_memory():
    policy = compose(order=ranked([2.0, 1.0]))
    view = View(now_s=4.0, units=8, free=8, power_w=720.0, cap_w=np.inf, idle_w=90.0,
                queue=(QueuedJob(7, 4, 20.0, 1.0, 1200.0),))
    with pytest.raises(PolicyError, match="order policy Ranked"):
        decide(policy, view)


def test_an_empty_machine_goes_back_to_full_speed():
    view = View(now_s=4.0, units=8, free=8, power_w=720.0, cap_w=2000.0, idle_w=90.0, speed=0.5,
                power_factor=0.5)
    policy = compose(admission=LEVELS)
    assert decide(policy, view) == [SetLevel(1.0, 1.0, 1.0)]


def over_the_cap(**more):
    """A job of six nodes that no cap of 1,500 W has room for, before one of a node."""
    return View(
        now_s=4.0, units=8, free=8, power_w=720.0, cap_w=1500.0, idle_w=90.0, **more,
        queue=(QueuedJob(0, 6, 20.0, 1.0, 1800.0), QueuedJob(1, 1, 50.0, 2.0, 300.0)),
    )


def test_a_job_that_can_never_start_holds_nobody_up():
    view = over_the_cap(cap_w_max=1500.0)
    assert decide(compose(admission=Block()), view) == [Start(1, 1.0, 300.0)]
    assert never_starting(compose(admission=Block()), view) == [0]


def test_a_job_that_waits_for_a_higher_cap_stops_those_behind_it():
    assert decide(compose(admission=Block()), over_the_cap(cap_w_max=3000.0)) == []


BAD_VIEWS = {
    "it is not known whether the cap rises": (
        over_the_cap(), "job 0 alone exceeds the cap of now, 1500 W"),
    "a job is paused": (
        replace(over_the_cap(), paused=(QueuedJob(7, 1, 9.0, 1.0, 300.0),)), "job 7"),
    "units are reserved": (replace(over_the_cap(), windows=2), "2 reservations lie ahead"),
    "a job is larger than the machine": (
        replace(over_the_cap(), units=5, free=5), "asks for 6 units"),
}


@pytest.mark.parametrize("name", BAD_VIEWS)
def test_a_view_that_a_snapshot_cannot_carry_is_refused(name):
    view, sentence = BAD_VIEWS[name]
    with pytest.raises(InputError, match=sentence) as found:
        decide(compose(admission=Block()), view)
    assert "\n" not in str(found.value)
