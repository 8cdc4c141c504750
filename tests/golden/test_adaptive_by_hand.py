"""ADAPTIVE: at which level a job starts under a cap, and around windows known before, by hand.

Four nodes draw 100 W idle and 300 W busy. There are three levels, at 0.4, 0.7 and the full speed,
with 0.4, 0.7 and all of the 200 W above idle.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.golden.lab import NODE, play, spans, table
from tests.support.workloads import compose
from wattline.model.machine import Machine
from wattline.model.reservation import Reservation
from wattline.model.signal import Signal
from wattline.model.views.build import power_view
from wattline.physics.core_power import CorePower
from wattline.physics.powercap import PowerCap, WattReservation
from wattline.policies.admission.adaptive import Adaptive
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.placement.bounded_setup import bounded

FOUR = Machine.uniform(4, NODE)
FOUR_IN_A_RACK = Machine.uniform(4, NODE, nodes_per_rack=4)
CORE = CorePower((4e8, 7e8, 1e9), (4.0, 7.0, 10.0), 0.0)


def levels(plan: PowerCap | None = None, strategy: Strategy = Strategy.DVFS) -> Adaptive:
    return adaptive(FOUR, plan, core=CORE, strategy=strategy)


def spans_under(cap_w: float, *rows: tuple, held: Reservation | None = None
                ) -> list[tuple[float, float]]:
    """`held` are watts that are reserved, which the policy knows beforehand."""
    known = (WattReservation(held.start_s, held.duration_s, held.watts),) if (
        held is not None and held.watts) else ()
    admission = levels(PowerCap(cap_w, reservations=known))
    return spans(play(table(*rows), compose(admission=admission), FOUR,
                      cap_w=Signal.constant(cap_w, "W"), reservations=(held,) if held else ()))


def test_the_levels_are_those_of_this_page() -> None:
    assert levels().speed.tolist() == pytest.approx([0.4, 0.7, 1.0])
    assert levels().dynamic.tolist() == pytest.approx([0.4, 0.7, 1.0])


@pytest.mark.parametrize(("left_w", "took_s"), [
    (400.0, 70.0), (399.0, 100.0), (280.0, 100.0), (279.0, 175.0), (160.0, 175.0)])
def test_a_job_starts_at_the_level_at_which_all_idle_nodes_would_fit(
    left_w: float, took_s: float
) -> None:
    """A has two nodes at full speed, so that B, of the other two, has what is left: 400 W are full
    speed, 280 W the middle level and 160 W the lowest."""
    a, b = spans_under(400.0 + 400.0 + left_w, (0, 2, 1000), (1, 2, 70))
    assert a == (0, 1000)
    assert b == (1, pytest.approx(1 + took_s))


def test_a_job_that_no_level_has_room_for_waits() -> None:
    assert spans_under(400.0 + 400.0 + 159.0, (0, 2, 100), (1, 2, 70))[1] == (100, 170)


@pytest.mark.parametrize(("left_w", "took_s"), [(200.0, 70.0), (199.0, 175.0), (160.0, 175.0)])
def test_with_more_idle_nodes_than_it_needs_a_job_leaves_something_for_the_others(
    left_w: float, took_s: float
) -> None:
    """B needs one of two idle nodes: at full speed 200 W. Where that does not fit, the middle level
    would be 280 W for both nodes and the lowest 160 W."""
    found = spans_under(400.0 + 400.0 + left_w, (0, 2, 1000), (1, 1, 70))[1]
    assert found == (1, pytest.approx(1 + took_s))


@pytest.mark.parametrize(("run_s", "span_s"), [(9, (1, 10)), (10, (15, 25))])
def test_a_job_may_end_exactly_when_reserved_watts_are_kept(
    run_s: float, span_s: tuple[float, float]
) -> None:
    """1,000 W, less 600 W from 10 to 15: nothing may be busy then. B is over at 10, or waits for 15
    where it would need a second more: at no level is it sooner."""
    held = Reservation(10, 5, watts=600.0)
    assert spans_under(1000.0, (1, 1, run_s), held=held) == [span_s]


def test_a_job_that_is_over_by_then_leaves_its_watts_in_a_window_to_others() -> None:
    """1,000 W, less 400 W from 10 to 20: one node may be busy. A is over at 10, which leaves that
    to B. Beside A that runs on, B has no watts in the window, at no level, and waits for 20."""
    held = Reservation(10, 10, watts=400.0)
    assert spans_under(1000.0, (0, 1, 10), (1, 1, 12), held=held) == [(0, 10), (1, 13)]
    assert spans_under(1000.0, (0, 1, 30), (1, 1, 12), held=held) == [(0, 30), (20, 32)]


def test_an_overdue_job_counts_as_running_on_in_a_window() -> None:
    """A asks for 8 s and takes 30. At 9 nobody knows when it ends: B, over at 12, would be beside
    it in the window that has the watts of one node, and waits for 20."""
    held = Reservation(10, 10, watts=400.0)
    assert spans_under(1000.0, (0, 1, 30, 8), (9, 1, 3), held=held) == [(0, 30), (20, 23)]


@pytest.mark.parametrize("held", [None, Reservation(900.0, 10.0, nodes=1)])
def test_watts_that_the_first_waiting_job_leaves_count_at_the_level_of_who_passes_it(
    held: Reservation | None
) -> None:
    """400 W above idle. A has 200 W until 10 s, then B's three nodes can have their 240 W of the
    lowest level, and 160 W are left beside them. At 2 s C could start at full speed, with 200 W for
    100 s: at its lowest level it would leave B enough, but it does not start at that. B starts at
    10 s, and C beside it at the middle level, also where a node is reserved far ahead."""
    a, b, c = spans_under(800.0, (0, 1, 10), (1, 3, 10), (2, 1, 100), held=held)
    assert a == (0, 10)
    assert b == (10, pytest.approx(35.0))
    assert c == (10, pytest.approx(10 + 100 / 0.7))


def test_idle_strategy_runs_jobs_at_full_speed_alone() -> None:
    policy = compose(admission=levels(strategy=Strategy.IDLE))
    run = play(table((0, 2, 100), (1, 2, 70)), policy, FOUR,
               cap_w=Signal.constant(400.0 + 400.0 + 399.0, "W"))
    assert spans(run) == [(0, 100), (100, 170)]
    assert np.isclose(run.power_w_peak, 800.0)


def test_jobs_that_follow_a_rising_cap_stop_at_the_bound_of_their_rack() -> None:
    """Two jobs of a node under 560 W: both at the lowest level, 160 W above idle. From 10 s on the
    cap has room for full speed, but the rack may have 280 W above idle: the middle level for both.
    4 of 70 s are done then, and the other 66 s take 94.3 s at 0.7."""
    rack = bounded(power_view(FOUR_IN_A_RACK, limits_w={"rack0": 400.0 + 280.0}), FOUR_IN_A_RACK)
    policy = compose(admission=adaptive(FOUR_IN_A_RACK, core=CORE, follow=True), placement=rack)
    run = play(table((0, 1, 70), (0, 1, 70)), policy, FOUR_IN_A_RACK, choose_nodes=True,
               cap_w=Signal.from_steps([(0, 560), (10, 2000)], "W"))
    assert spans(run) == [(0, pytest.approx(10 + 66 / 0.7))] * 2
    assert np.isclose(run.power_w_peak, 680.0)
