"""Order of loans of watts, and the fading of used joules: by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from tests.support.workloads import compose

from wattline.account.fairshare import ShareTree
from wattline.books import Books, Started, Submitted, Terms
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.policies.admission.lending import Lending, _most_deserving
from wattline.policies.contract import settle
from wattline.policies.order.energy_share import _charge, _fade
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


def running_jobs(rows: tuple[int, int], watts: float) -> Books:
    """Two jobs on nodes that draw so much for the 100 W of their table; 400 W are drawn."""
    node = NodeClass(power_w_idle=50.0, power_w_active=100.0)
    books = Books.open(Machine.uniform(2, node), compose(), Terms())
    books.step(0, [Submitted("a", 1, 10.0), Submitted("b", 1, 20.0)])
    books.step(0, [Started("a"), Started("b")])
    live = books.state.live
    live.config[:2] = [row + 1 for row in rows]
    live.watts[:2] = live.power_w[:2] = watts
    books.state.clock[0].power_w = 400.0
    return books


@pytest.mark.parametrize(("spare_w", "chosen"), [(12.0, 0), (11.0, -1)])
def test_a_loan_costs_what_the_job_s_own_nodes_draw_for_it(spare_w: float, chosen: int) -> None:
    """Nodes that draw 120 W for 100 W of the table take 12 W for 10 W more of it."""
    books = running_jobs((0, 3), 120.0)
    rows = np.array([0, 3])
    assert _most_deserving(books.state, books.policy, OFFERS, rows, spare_w) == chosen


@pytest.mark.parametrize(("spare_w", "loans"), [(9.0, 0), (10.0, 1), (19.0, 1), (20.0, 2)])
def test_spare_watts_are_lent_once(spare_w: float, loans: int) -> None:
    """Both jobs may take a step of 10 W."""
    books = running_jobs((0, 0), 100.0)
    books.state.clock[0].cap_w = 400.0 + spare_w
    lending = Lending(OFFERS, SimpleNamespace(row=np.zeros(2, np.int64)))
    before = int(books.state.clock[0].actions)
    settle(books.state, lending, books.policy)
    assert int(books.state.clock[0].actions) - before == loans


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


@pytest.mark.parametrize("charged_at_s", [(30.0,), (20.0, 30.0), (5.0, 10.0, 29.0, 30.0)])
def test_energy_fades_from_when_it_was_drawn_however_often_it_is_charged(
    charged_at_s: tuple[float, ...]
) -> None:
    """5 W for 30 s with a half-life of 10 s: 5 x 10 / ln 2 x (1 - 1/8) J are left of 150 J."""
    order = energy_share(ShareTree.flat(("ann",)), ("ann",), half_life_s=10.0)
    jobs = JobTable.build(submit_s=[0], run_s=[30], procs=[1], user=[0])
    st = make_state(jobs, jobs.procs, [5.0], units=1, idle_w=0.0)
    order = order._replace(memory=order.memory.with_rows(1))
    order.memory.annotate(0, jobs, {})
    st.live[0].start_s = 0.0
    for now_s in charged_at_s:
        st.clock[0].now_s = now_s
        _fade(st, order)
        _charge(st, order, 0, 5.0 * now_s)
    assert order.memory.used_j[0] == pytest.approx(5.0 * 10.0 / math.log(2.0) * 7 / 8)
