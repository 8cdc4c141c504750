"""Watts that are lent count as available, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.support.workloads import compose

from wattline.books import Books, Started, Submitted, Terms
from wattline.model.machine import Machine, NodeClass
from wattline.policies.admission.lending import Lending, LendingMemory
from wattline.policies.contract import watts_available


@pytest.mark.parametrize(("watts", "power_w", "lent_w"), [
    (100.0, 130.0, 30.0), (100.0, 100.0, 0.0), (100.0, 90.0, 0.0), (40.0, 70.0, 20.0),
    (40.0, 45.0, 0.0)])
def test_what_a_job_draws_above_its_own_watts_is_available_for_others(
    watts: float, power_w: float, lent_w: float
) -> None:
    """Of a machine that draws 300 W under 1,000 W 700 W are left. A job that was started with less
    than the 50 W that its node draws idle is lent only what it draws above these: they come back at
    its end."""
    node = NodeClass(power_w_idle=50.0, power_w_active=100.0)
    books = Books.open(Machine.uniform(2, node), compose(), Terms())
    books.step(0, [Submitted("a", 1, 10.0)])
    books.step(0, [Started("a")])
    st = books.state
    st.live.watts[0], st.live.power_w[0], st.live.idle_w[0] = watts, power_w, 50.0
    st.clock[0].cap_w, st.clock[0].power_w, st.clock[0].below_idle_w = 1000.0, 300.0, 0.0
    for lends in (0, 1):
        found = watts_available(st, Lending(SimpleNamespace(), LendingMemory.start(), lends))
        assert found == 700.0 + lends * lent_w
