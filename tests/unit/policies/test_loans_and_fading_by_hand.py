"""Order of loans of watts, and the fading of used joules: by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.support.workloads import compose

from wattline.account.fairshare import ShareTree
from wattline.books import Books, Started, Submitted, Terms
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.policies.admission.lending import _most_deserving
from wattline.policies.order.energy_share import _fade
from wattline.policies.state import make_state
from wattline.studies.fairshare.study import energy_share

OFFERS = SimpleNamespace(row_up=np.array([1, -1, 3, -1]),
                         row_power_w=np.array([100.0, 110.0, 100.0, 200.0]),
                         row_time_s=np.array([10.0, 8.0, 10.0, 7.0]))
"""Rows 0 and 1 are A's: 20 % of its time for 10 W more. Rows 2 and 3 are B's: 30 % for 100 W."""


@pytest.mark.parametrize(("rows", "spare_w", "chosen"), [
    ([0, 2], 105.0, 0),  # A gains 2 % a watt, B 0.3 %
    ([1, 2], 105.0, 1), ([1, 2], 100.0, 1), ([1, 2], 99.0, -1),  # A has its highest row
    ([0, 2], 10.0, 0), ([0, 2], 9.0, -1), ([1, 3], 1000.0, -1), ([-1, 2], 105.0, 1)])
def test_a_loan_goes_to_who_gains_most_for_each_watt_and_can_be_paid(
    rows: list[int], spare_w: float, chosen: int
) -> None:
    node = NodeClass(power_w_idle=50.0, power_w_active=100.0)
    books = Books.open(Machine.uniform(2, node), compose(), Terms())
    books.step(0, [Submitted("a", 1, 10.0), Submitted("b", 1, 20.0)])
    books.step(0, [Started("a"), Started("b")])
    books.state.live.config[:2] = (1, 3)
    found = _most_deserving(books.state, books.policy, OFFERS, np.array(rows), spare_w)
    assert found == chosen


def test_used_joules_are_half_as_many_after_a_half_life() -> None:
    """Of 100 J half are left after 10 s, an eighth after 30 s, and no fewer at the same time."""
    order = energy_share(ShareTree.flat(("ann",)), ("ann",), half_life_s=10.0)
    jobs = JobTable.build(submit_s=[0], run_s=[1], procs=[1], user=[0])
    st = make_state(jobs, jobs.procs, [1.0], units=1, idle_w=0.0)
    used_j = order.memory.used_j
    used_j[0] = 100.0
    left_j = []
    for now_s in (0.0, 10.0, 10.0, 30.0):
        st.clock[0].now_s = now_s
        _fade(st, order)
        left_j.append(float(used_j[0]))
    assert left_j == pytest.approx([100.0, 50.0, 50.0, 12.5])
