"""Servers that wake under a limit, by hand: ten of 50 W idle and 200 W busy, six of them off."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.workloads import compose

from wattline.books import Books, Terms
from wattline.model.machine import Machine, NodeClass
from wattline.policies.regulation.desk import CONTROL, TRACE, TYPE, Desk, records
from wattline.policies.regulation.sleeping import switch_servers
from wattline.policies.state import ACT_UP, State


def state(boot_w: float) -> State:
    """Units that are off draw nothing, and boot at this power."""
    node = NodeClass(power_w_idle=50.0, power_w_active=200.0, power_w_off=0.0, boot_s=60.0,
                     boot_power_w=boot_w)
    st = Books.open(Machine.uniform(10, node), compose(), Terms()).state
    st.clock[0].off = 6
    return st


def desk(limit_w: float) -> Desk:
    """No target holds servers back, in this cycle and the next: all ten are wanted."""
    control = records(1, CONTROL)
    control.sleep, control.cycle_s, control.standby = 1, 2.0, -1
    control.limit_w, control.highest_w = limit_w, np.inf
    return Desk.start(types=records(1, TYPE), control=control, level=np.zeros(2),
                      limit=np.full(2, np.inf), average=np.zeros(1), reserve=np.zeros(1),
                      weights=np.zeros(1), start_shares=np.zeros(1), trace=records(2, TRACE))


@pytest.mark.parametrize(("boot_w", "limit_w", "woken"), [
    (20.0, 900.0, 2), (80.0, 900.0, 1), (20.0, 849.0, 0), (20.0, np.inf, 6)])
def test_servers_wake_only_as_many_as_may_idle_under_the_limit_once_they_are_on(
    boot_w: float, limit_w: float, woken: int
) -> None:
    """800 W are drawn. At 20 W five could boot in 100 W, but only two can idle at 50 W; at 80 W
    only one can boot. 49 W have room for none."""
    st = state(boot_w)
    before = int(st.clock[0].actions)
    switch_servers(st, desk(limit_w), 0, 800.0)
    noted = st.actions[before:int(st.clock[0].actions)]
    assert [(int(each.kind), float(each.value)) for each in noted] == (
        [(ACT_UP, woken)] if woken else [])
