"""Random runs keep what their policies promise to jobs that wait, in nodes and watts.

Jobs draw less than idle nodes, as much, or more; caps fall and rise; some jobs wait for others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.signal import Signal
from wattline.policies.admission.block import Block
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
from wattline.results.verify.judge import verify

NODE = NodeClass(power_w_idle=100.0, power_w_active=300.0)
ORDERS = {"fcfs": Fcfs(), "sjf": Sjf(), "largest": Largest(), "wfp": Wfp(),
          "multifactor": Multifactor(age_max_s=20.0)}
BACKFILLS = {"easy": Easy(), "none": NoBackfill()}
POWERS = {"none": NoLimit(), "block": Block(), "watts": Watts()}
EACH_W = [50.0, 99.9, 100.0, 100.1, 200.0, 300.0, 400.0]
CAPS_W = [120, 150, 200, 260, 300]
"""Of a node: below, at and above what it draws idle."""


@st.composite
def workloads(draw: st.DrawFn, units: int) -> JobTable:
    """Small whole times, many small jobs, and some that wait for the one before."""
    count = draw(st.integers(3, 16))

    def column(values: st.SearchStrategy[Any]) -> np.ndarray[Any, Any]:
        return np.array(draw(st.lists(values, min_size=count, max_size=count)))

    procs = np.minimum(column(st.integers(1, units)), column(st.sampled_from([2, 4, units])))
    asked_s = column(st.integers(1, 20))
    follows = column(st.sampled_from([False] * 6 + [True]))
    return JobTable.build(
        submit_s=np.cumsum(column(st.integers(0, 5))), procs=procs, requested_s=asked_s,
        run_s=np.where(column(st.booleans()), asked_s, column(st.integers(1, 20))),
        power_w=procs * column(st.sampled_from([*EACH_W, np.nan])),
        after_job=np.where(follows, np.arange(count) - 1, -1), think_s=column(st.integers(0, 3)))


@st.composite
def caps(draw: st.DrawFn, units: int) -> Signal:
    steps = draw(st.lists(st.tuples(st.integers(1, 60), st.sampled_from(CAPS_W)), max_size=3))
    first = draw(st.sampled_from(CAPS_W[1:]))
    return Signal.from_steps([(0.0, units * float(first)),
                              *((float(at), units * float(each)) for at, each in steps)], "W")


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("backfill", BACKFILLS)
@given(order=st.sampled_from(list(ORDERS)), data=st.data(), units=st.integers(1, 12), overrun=st.sampled_from(["kill", "extend"]))
@costing(20)
def test_every_decision_is_the_one_that_was_promised(
    order: str, backfill: str, power: str, data: st.DataObject, units: int, overrun: Any
) -> None:
    jobs = data.draw(workloads(units))
    cap_w = None if power == "none" else data.draw(caps(units))
    policy = compose(order=ORDERS[order], backfill=BACKFILLS[backfill], admission=POWERS[power])
    run = simulate(jobs, Machine.uniform(units, NODE), policy,
                   Rules(overrun=overrun, cap_w=cap_w))
    found = verify(run)
    assert found.findings == ()
    assert "queue.rule" in [each.rule for each in found.judged]


@given(data=st.data(), units=st.integers(1, 12))
@costing(20)
def test_nobody_starts_later_than_his_reservation(data: st.DataObject, units: int) -> None:
    jobs = data.draw(workloads(units))
    run = simulate(jobs, Machine.uniform(units, NODE), compose(backfill=Conservative()),
                   Rules(overrun="kill"))
    found = verify(run)
    assert found.findings == ()
    assert "queue.plan" in [each.rule for each in found.judged]
