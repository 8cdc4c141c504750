"""Compiled decisions equal the plain ones, on random workloads, orders and rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.workloads import compose, sized_workloads

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.machine import Machine
from wattline.model.signal import Signal
from wattline.policies import plain
from wattline.policies.admission.block import Block
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order.largest import Largest
from wattline.policies.order.multifactor import Multifactor
from wattline.policies.order.sjf import Sjf
from wattline.policies.order.wfp import Wfp
from wattline.policies.placement.first_fit import FirstFit
from wattline.results.verify.judge import verify

EXAMPLES = costing(10)

PAIRS = {
    "fcfs-easy": (compose(), plain.PlainEasy()),
    "fcfs-none": (compose(backfill=NoBackfill()), plain.PlainEasy(backfill=False)),
    "sjf-easy": (compose(order=Sjf()), plain.PlainEasy(plain.sjf)),
    "largest-easy": (compose(order=Largest()), plain.PlainEasy(plain.largest)),
    "wfp-easy": (compose(order=Wfp()), plain.PlainEasy(plain.wfp)),
    "multifactor-easy": (compose(order=Multifactor(age=2.0, age_max_s=20.0)),
                         plain.PlainEasy(plain.Multifactor(age=2.0, age_max_s=20.0))),
}


def assert_same(left, right):
    np.testing.assert_array_equal(left.schedule.start_s, right.schedule.start_s)
    np.testing.assert_array_equal(left.schedule.end_s, right.schedule.end_s)
    np.testing.assert_allclose(left.schedule.energy_j, right.schedule.energy_j, rtol=1e-9)
    assert left.energy_j == pytest.approx(right.energy_j, rel=1e-9)


@pytest.mark.parametrize("name", PAIRS)
@given(sized=sized_workloads(), overrun=st.sampled_from(["extend", "kill"]))
@EXAMPLES
def test_orders_and_backfill(name, sized, overrun):
    units, jobs = sized
    machine = Machine.uniform(units)
    compiled, twin = PAIRS[name]
    rules = Rules(overrun=overrun)
    run = simulate(jobs, machine, compiled, rules)
    assert verify(run).sentences == []
    assert_same(run, simulate(jobs, machine, twin, rules))


@given(sized=sized_workloads(), overrun=st.sampled_from(["extend", "kill"]))
@EXAMPLES
def test_conservative(sized, overrun):
    units, jobs = sized
    machine = Machine.uniform(units)
    rules = Rules(overrun=overrun)
    run = simulate(jobs, machine, compose(backfill=Conservative()), rules)
    assert verify(run).sentences == []
    assert_same(run, simulate(jobs, machine, plain.PlainConservative(), rules))


ABOUT_IDLE_W = [1.0, 89.9, 90.0, 90.1, 180.0]
"""Of a node: below, at and just above what it draws idle."""


@given(sized=sized_workloads(), cap_w_a_unit=st.integers(95, 380),
       each_w=st.none() | st.lists(st.sampled_from(ABOUT_IDLE_W), min_size=1, max_size=8))
@EXAMPLES
def test_block(sized, cap_w_a_unit, each_w):
    units, jobs = sized
    if each_w is not None:
        jobs = jobs.with_columns(power_w=np.resize(each_w, len(jobs)) * jobs.procs)
    machine, cap = Machine.uniform(units), float(units * cap_w_a_unit)
    rules = Rules(cap_w=Signal.constant(cap, "W"))
    run = simulate(jobs, machine, compose(admission=Block()), rules)
    assert verify(run).sentences == []
    assert run.time_above_cap_s == 0
    # Jobs that could never start are refused at once; the twin is not told of them.
    alone_w = units * 90.0 + np.maximum(jobs.power_w - jobs.procs * 90.0, 0.0)
    possible = alone_w <= cap * (1 + 1e-9)
    np.testing.assert_array_equal(run.ran, possible)
    kept = jobs.take(possible)
    if len(kept):
        again = simulate(kept, machine, compose(admission=Block()), rules)
        assert_same(again, simulate(kept, machine, plain.PlainEasy(block=True), rules))
        np.testing.assert_array_equal(run.schedule.start_s[possible], again.schedule.start_s)


@given(sized=sized_workloads())
@EXAMPLES
def test_chosen_nodes_change_nothing_else(sized):
    units, jobs = sized
    machine = Machine.uniform(units)
    counted = simulate(jobs, machine, compose(), Rules())
    chosen = simulate(jobs, machine, compose(placement=FirstFit()), Rules(choose_nodes=True))
    assert verify(chosen).sentences == []
    assert_same(counted, chosen)
