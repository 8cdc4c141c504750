"""The rules for moldable jobs decide the same compiled and plain."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.signal import Signal
from wattline.physics.regression import shipped_models
from wattline.policies.admission.lending import Lending, LendingMemory
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.offers import make_offers
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.counted import Counted
from wattline.policies.regulation.none import NoRegulation
from wattline.studies.rmap.study import POLICIES, run_one
from wattline.studies.rmap.workloads import KINDS, make_trace


def schedules():
    """Start, end and configuration of every job, for all policies and traces."""
    tables = {name: shipped_models()[name].table() for name in ("BT-MZ", "NSC")}
    found = []
    for seed, kind in enumerate(KINDS):
        jobs = make_trace(kind, list(tables.values()), 32, seed, jobs=12, load=1.5)
        offers = make_offers(jobs, tables)
        for policy in POLICIES:
            done = run_one(jobs, offers, 32, 3400.0, policy).schedule
            found.append([done.start_s.tolist(), done.end_s.tolist(), done.configuration.tolist()])
    return found + under_a_rising_cap(tables)


def under_a_rising_cap(tables):
    """Jobs too small for any configuration: refused, or waiting for a higher cap."""
    jobs = JobTable.build(
        submit_s=[0.0, 1.0, 2.0, 3.0], run_s=[9.0] * 4, requested_s=[9.0, 9.0, 60.0, 60.0],
        procs=[2, 6, 16, 20], application=[0] * 4, names={"application": ("BT-MZ",)})
    offers = make_offers(jobs, tables)
    rules = Rules(cap_w=Signal(np.array([0.0, 200.0]), np.array([2000.0, 4500.0]), "W"))
    node = NodeClass("node", power_w_idle=0.0, power_w_active=230.0)
    found = []
    for configure, lends in POLICIES.values():
        policy = Composition(Fcfs(), Easy(), Lending(offers, LendingMemory.start(), lends),
                             configure(offers, 0), Counted(), NoRegulation())
        run = simulate(jobs, Machine.uniform(32, node), policy, rules)
        found.append([run.refused.tolist(), np.nan_to_num(run.schedule.start_s, nan=-1.0).tolist(),
                      run.schedule.configuration.tolist()])
    return found


def test_jobs_are_refused_or_wait_by_what_the_highest_cap_allows():
    tables = {"BT-MZ": shipped_models()["BT-MZ"].table()}
    named = dict(zip(POLICIES, under_a_rising_cap(tables), strict=True))
    # Traditional: 8 nodes are the fewest. Naive: 281 W and 844 W of 4500 W are the shares.
    assert named["traditional"][0] == [True, True, False, False]
    assert named["naive"][0] == [True, False, False, False]
    assert named["naive"][1][1] == 200.0
    assert max(named["naive"][1][2:]) < 200.0  # those behind it do not wait for the cap
    assert named["adaptive_unbounded"][0] == named["naive"][0]  # no job gets more than its share


@pytest.mark.compiled
@pytest.mark.long  # test_compiled_choices.py compares all four rules on one case
def test_compiled_and_plain_decisions_are_equal():
    plain = subprocess.run([sys.executable, "-m", "tests.property.test_moldable_twins"],
                           env={**os.environ, "WATTLINE_PLAIN": "1"}, capture_output=True,
                           text=True, check=True)
    assert json.loads(plain.stdout) == schedules()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schedules()))
