"""Watts as a resource: what can never have them is refused, and holds nobody up."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.signal import Signal
from wattline.policies.admission.watts import Watts
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.easy import Easy
from wattline.policies.backfill.none import NoBackfill


@pytest.mark.parametrize("backfill", [Easy, Conservative, NoBackfill])
def test_a_job_that_no_cap_has_room_for_is_refused(backfill: type) -> None:
    """Eight nodes, 90 W idle and 300 W busy, under 1,500 W: three may be busy, never eight."""
    jobs = JobTable.build(submit_s=[0, 1, 2], run_s=[10, 10, 10], procs=[8, 1, 3])
    run = simulate(jobs, Machine.uniform(8), compose(admission=Watts(), backfill=backfill()),
                   Rules(cap_w=Signal.constant(1500.0, "W")))
    assert np.nan_to_num(run.schedule.start_s, nan=-1).tolist() == [-1, 1, 11]
    assert run.refused.tolist() == [True, False, False]


def test_a_reservation_counts_watts_that_fit_but_for_the_rounding_of_their_sum() -> None:
    """Eight nodes of 100 W idle: job 1 takes 0.2 W more than they do, so that job 2, which needs
    the 400 W that there are, starts when it ends. 1200 - 800.2 + 0.2 is less than 400 by rounding.
    Job 3 would take 300 of the watts to 22 s."""
    jobs = JobTable.build(submit_s=[0, 1, 2], run_s=[10, 5, 20], procs=[2, 2, 1],
                          power_w=[200.2, 600.0, 400.0])
    assert 1200.0 - 800.2 + (200.2 - 200.0) < 400.0
    node = NodeClass(power_w_idle=100.0, power_w_active=300.0)
    run = simulate(jobs, Machine.uniform(8, node), compose(admission=Watts()),
                   Rules(cap_w=Signal.constant(1200.0, "W")))
    assert run.schedule.start_s.tolist() == [0, 10, 15]
