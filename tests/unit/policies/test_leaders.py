"""Long queues whose keys change: sorting their beginning only gives the schedule of sorting all."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.thinned import mostly
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.signal import Signal
from wattline.policies.admission.block import Block
from wattline.policies.leaders import ANCHORS
from wattline.policies.order.wfp import Wfp
from wattline.policies.plain import PlainEasy, wfp

NODES = 32
MACHINE = Machine.uniform(NODES, NodeClass(power_w_idle=30.0, power_w_active=100.0))


def overload(seed: int, count: int = 260) -> JobTable:
    """Twice what the cap lets through; requests from seconds to hours, so that many overtake."""
    random = np.random.default_rng(seed)
    run_s = np.exp(random.uniform(1.0, 7.0, count)).round()
    procs = random.integers(1, NODES // 2 + 1, count)
    gaps = random.integers(0, 60, count) * random.integers(0, 2, count)
    after = np.where(random.random(count) < 0.1, np.arange(count) - 1, -1)
    return JobTable.build(
        submit_s=np.cumsum(gaps), run_s=run_s,
        requested_s=np.ceil(run_s * random.uniform(0.8, 4.0, count)), procs=procs,
        power_w=procs * random.integers(40, 130, count), after_job=after)


@pytest.mark.parametrize("seed", mostly(range(4), [0], pytest.mark.long))
def test_wfp_on_a_long_queue_is_as_if_sorted_whole(seed: int) -> None:
    jobs = overload(seed)
    steps = [(0.0, 2400.0), (4000.0, 1800.0), (9000.0, 2600.0)]
    rules = Rules(cap_w=Signal.from_steps(steps, "W"))
    mine = simulate(jobs, MACHINE, compose(order=Wfp(), admission=Block()), rules)
    plain = simulate(jobs, MACHINE, PlainEasy(wfp, block=True), rules)
    assert int(np.max(mine.events.queued)) > 6 * ANCHORS, "the queue is long enough to matter"
    np.testing.assert_array_equal(mine.schedule.start_s, plain.schedule.start_s)
    np.testing.assert_array_equal(mine.schedule.end_s, plain.schedule.end_s)
