"""Random runs keep what their policies promise to jobs that wait, in nodes and watts.

Jobs draw less than idle nodes, as much, or more; caps fall and rise; some jobs wait for others.
Nodes are of one class or of two, and some may be reserved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.workloads import compose

from wattline.account.fairshare import Account, ShareTree
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.reservation import Reservation
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.admission.none import NoLimit
from wattline.policies.admission.watts import Watts
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.easy import Easy
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.order.largest import Largest
from wattline.policies.order.multifactor import Multifactor
from wattline.policies.order.sjf import Sjf
from wattline.policies.order.wfp import Wfp
from wattline.policies.placement.first_fit import FirstFit
from wattline.results.verify.judge import verify
from wattline.studies.fairshare.study import energy_share

NODE = NodeClass(power_w_idle=100.0, power_w_active=300.0)
TREE = ShareTree((
    Account("physics", 3.0), Account("chemistry", 1.0), Account("ann", 1.0, "physics"),
    Account("bob", 2.0, "physics"), Account("chi", 1.0, "chemistry")))
USERS = ("ann", "bob", "chi")
ORDERS = {"fcfs": Fcfs(), "sjf": Sjf(), "largest": Largest(), "wfp": Wfp(),
          "multifactor": Multifactor(age_max_s=20.0),
          "multifactor with shares": Multifactor(share=0.7, age_max_s=20.0),
          "energy-share": energy_share(TREE, USERS, half_life_s=30.0),
          "energy-share with age": energy_share(TREE, USERS, half_life_s=1e6, age=0.3, size=0.2)}


def two_classes(speed: float) -> Machine:
    """Five nodes, and four that idle at less and draw more, of this speed."""
    return Machine((NodeGroup(NodeClass(power_w_idle=90.0, power_w_active=300.0), 5),
                    NodeGroup(NodeClass(power_w_idle=40.0, power_w_active=350.0, speed=speed), 4)))


LEVELS = Dvfs(speed=np.array([0.5, 0.8, 1.0]), power_factor=np.array([0.4, 0.75, 1.0]))
BACKFILLS = {"easy": Easy(), "none": NoBackfill()}
POWERS = {"none": NoLimit(), "block": Block(), "watts": Watts(), "dvfs": LEVELS}
SHARES = (0.2, 0.7, 0.1)
EACH_W = [50.0, 99.9, 100.0, 100.1, 200.0, 300.0, 400.0]
CAPS_W = [120, 150, 200, 260, 300]
"""Of a node: below, at and above what it draws idle."""


SEEDS = st.integers(0, 10**9)
"""Of workloads, whose columns are drawn evenly: few of them would be full otherwise."""


def workload(random: np.random.Generator, units: int) -> JobTable:
    """Small whole times, many small jobs, and some that wait for the one before.

    In half of them nodes abound, so that watts alone are short, and single jobs take long.
    """
    count = int(random.integers(4, 18))
    wide = bool(random.integers(2))
    most = max(units // 3, 1) if wide else units
    procs = np.minimum(random.integers(1, most + 1, count), random.choice([2, 4, units], count))
    asked_s = random.choice([5, 10, 100] if wide else np.arange(1, 21), count)
    follows = random.random(count) < 0.1
    return JobTable.build(
        submit_s=np.cumsum(random.integers(0, 5, count)), procs=procs, requested_s=asked_s,
        run_s=np.where(random.random(count) < 0.7, asked_s, random.integers(1, 21, count)),
        power_w=procs * random.choice([300.0, np.nan] if wide else [*EACH_W, np.nan], count),
        user=random.integers(0, len(USERS), count),
        after_job=np.where(follows, np.arange(count) - 1, -1),
        think_s=random.integers(0, 4, count))


def cap(random: np.random.Generator, units: int) -> Signal:
    """One that never changes, or falls and rises up to three times."""
    changes = sorted(random.choice(np.arange(1, 61), int(random.choice([0, 0, 1, 3])),
                                   replace=False).tolist())
    values = units * random.choice(CAPS_W[1:], len(changes) + 1).astype(np.float64)
    return Signal.from_steps(zip([0.0, *map(float, changes)], values.tolist(), strict=True), "W")


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("backfill", BACKFILLS)
@given(order=st.sampled_from(list(ORDERS)), seed=SEEDS, units=st.integers(1, 16),
       overrun=st.sampled_from(["kill", "extend"]))
@costing(10)
def test_every_decision_is_the_one_that_was_promised(
    order: str, backfill: str, power: str, seed: int, units: int, overrun: Any
) -> None:
    random = np.random.default_rng(seed)
    jobs = workload(random, units)
    cap_w = None if power == "none" else cap(random, units)
    if power == "dvfs" and order.startswith("energy"):
        order = "fcfs"  # the log does not say what each job draws
    policy = compose(order=ORDERS[order], backfill=BACKFILLS[backfill], admission=POWERS[power])
    run = simulate(jobs, Machine.uniform(units, NODE), policy,
                   Rules(overrun=overrun, cap_w=cap_w, user_share=SHARES))
    assert_judged(run)


def reserved(random: np.random.Generator, units: int) -> tuple[Reservation, ...]:
    """One or two windows, which may meet or cover each other."""
    return tuple(
        Reservation(float(random.integers(0, 40)), float(random.integers(1, 30)),
                    int(random.integers(1, units // 2 + 1)))
        for _ in range(random.integers(1, 3)))


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("backfill", BACKFILLS)
@given(order=st.sampled_from(list(ORDERS)), seed=SEEDS, classes=st.booleans(),
       reserve=st.booleans())
@costing(10)
def test_decisions_on_two_classes_and_around_reservations_are_those_that_were_promised(
    order: str, backfill: str, power: str, seed: int, classes: bool, reserve: bool
) -> None:
    classes = classes and not (reserve and power == "watts")
    random = np.random.default_rng(seed)
    # How long a job takes beside reserved units must not depend on its nodes.
    machine = two_classes(1.0 if reserve else 0.7) if classes else Machine.uniform(9, NODE)
    jobs = workload(random, 9)
    windows = reserved(random, 9) if reserve else ()
    placed = {"placement": FirstFit()} if classes else {}
    if power == "dvfs" and order.startswith("energy"):
        order = "fcfs"
    policy = compose(order=ORDERS[order], backfill=BACKFILLS[backfill], admission=POWERS[power],
                     **placed)
    run = simulate(jobs, machine, policy, Rules(
        overrun="kill", cap_w=None if power == "none" else cap(random, 9), user_share=SHARES,
        reservations=windows, choose_nodes=classes))
    assert_judged(run)


def assert_judged(run: Run) -> None:
    found = verify(run)
    assert found.findings == ()
    assert "queue.rule" in [each.rule for each in found.judged], found.skipped


@given(seed=SEEDS, units=st.integers(1, 16))
@costing(10)
def test_nobody_starts_later_than_his_reservation(seed: int, units: int) -> None:
    jobs = workload(np.random.default_rng(seed), units)
    run = simulate(jobs, Machine.uniform(units, NODE), compose(backfill=Conservative()),
                   Rules(overrun="kill"))
    found = verify(run)
    assert found.findings == ()
    assert "queue.plan" in [each.rule for each in found.judged]
