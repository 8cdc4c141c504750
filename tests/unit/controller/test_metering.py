"""Measured power as the books are told it: more soon, less only after a while."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.controller.fakes import FakeFleet

from wattline.books import Measured
from wattline.controller.knobs import Knobs
from wattline.controller.metering import JOB_WINDOW_S, STEADY_S, Meters, _JobPower
from wattline.controller.serving import _measured
from wattline.controller.told import Told
from wattline.controller.watching import Watcher
from wattline.live.slurm.reading import SlurmJob


class Machine:
    """Two nodes that obey, with a job of 300 W on the first."""

    def __init__(self, without_knobs: Collection[str] = ()) -> None:
        self.fleet = FakeFleet({"n1": 300.0, "n2": 90.0})
        self.watcher = Watcher(["n1", "n2"])
        self.watcher.told["7"] = Told("7", 1, 60.0, 300.0, (0,), True)
        self.throttled: set[str] = set()
        self.expected_w, self.rest_w = 390.0, 0.0
        self.meters = Meters(self.fleet, self.watcher, lambda: self.expected_w + self.rest_w,
                             lambda: self.rest_w, lambda: self.throttled, node_least_w=120.0)
        self.fleet.without_knobs = set(without_knobs)
        self.order(-10.0)

    def order(self, now_s: float) -> None:
        """As the keeper of the cap does again and again, though no node has to be lowered."""
        self.fleet.cap(len(self.fleet.orders) + 1, {}, 30.0)
        self.meters.knobs.ordered(self.fleet.orders[-1], now_s)

    def told(self, *seconds: float) -> list[Measured]:
        found = []
        for now_s in seconds:
            self.fleet.now_s = now_s
            found += self.meters.events(now_s) + self.rest(now_s)
        return found

    def rest(self, now_s: float) -> list[Measured]:
        """Return what the books count as such from then on."""
        found = self.meters.rest(now_s)
        for each in found:
            self.rest_w = max(each.watts - self.expected_w, 0.0)
        return found


def test_what_was_expected_is_no_news() -> None:
    assert Machine().told(*range(40)) == []


def test_a_job_that_draws_more_is_told_soon_and_one_that_draws_less_after_a_while() -> None:
    machine = Machine()
    machine.fleet.power_w["n1"] = 330.0
    assert machine.told(1.0, 2.0, 3.0) == []
    assert machine.told(4.0) == [Measured(330.0, "7")]
    machine.fleet.power_w["n1"] = 200.0
    assert machine.told(*range(5, 19)) == []
    told = machine.told(*range(19, 40))
    assert told[-1] == Measured(200.0, "7")
    assert [each.watts for each in told] == sorted((each.watts for each in told), reverse=True)


def test_a_job_that_draws_far_more_than_it_said_is_told_at_once() -> None:
    machine = Machine()
    machine.fleet.power_w["n1"] = 450.0
    assert machine.told(1.0) == [Measured(450.0, "7")]


def test_readings_that_came_early_or_late_do_not_make_a_job_seem_to_draw_more() -> None:
    machine = Machine()
    for second in range(60):
        # A reading that took in a tenth of a second too much is followed by one that lacks it.
        machine.fleet.power_w["n1"] = 330.0 if second % 2 else 270.0
        assert machine.told(float(second)) == []


def test_a_job_that_is_slowed_and_still_draws_more_than_it_said_wants_as_much() -> None:
    machine = Machine()
    machine.throttled = {"n1"}
    machine.fleet.power_w.update(n1=340.0, n2=50.0)  # the whole machine draws as expected
    assert machine.told(*range(10)) == [Measured(340.0, "7")]
    machine.fleet.power_w["n1"] = 200.0  # slowed further: nothing new
    assert machine.told(*range(10, 60)) == []
    machine.throttled = set()
    machine.fleet.power_w["n1"] = 320.0  # what was measured while it was slowed lowers nothing
    assert machine.told(60.0, 61.0, 64.0, 70.0) == []


def test_a_job_that_is_kept_below_what_it_wants_says_nothing_of_itself() -> None:
    machine = Machine()
    machine.throttled = {"n1"}
    machine.fleet.power_w["n1"] = 150.0
    assert machine.told(*range(60)) == []
    assert machine.meters.job_w("7", machine.watcher.told["7"]) == 300.0


def test_what_nobody_accounts_for_is_a_rest_once_it_lasts() -> None:
    machine = Machine()
    machine.fleet.power_w["n2"] = 190.0
    assert machine.told(0.0, 1.0, 2.0) == []
    assert machine.told(4.0, 5.0) == [Measured(490.0)]
    machine.fleet.power_w["n2"] = 90.0
    assert machine.told(6.0, 7.0) == [Measured(390.0)]


def test_what_nobody_accounts_for_is_told_again_where_the_books_count_it_otherwise() -> None:
    machine = Machine()
    assert machine.told(*range(10)) == []
    machine.rest_w = 1000.0
    assert machine.told(10.0) == [Measured(390.0)]


def test_a_silent_node_is_a_gap_and_no_zero() -> None:
    machine = Machine()
    machine.told(0.0)
    del machine.fleet.power_w["n2"]
    assert machine.meters.machine_w(4.0) == 390.0
    machine.told(9.0)
    assert machine.meters.machine_w(9.0) != pytest.approx(300.0)
    assert machine.told(*range(10, 30)) == []


def test_a_node_that_drains_is_counted_with_its_job_and_is_a_gap_where_it_is_silent() -> None:
    machine = Machine()
    machine.told(0.0)
    machine.watcher.down = {"n1"}
    assert machine.meters.machine_w(0.0) == 390.0
    del machine.fleet.power_w["n1"]
    machine.told(9.0)
    assert math.isnan(machine.meters.machine_w(9.0))
    assert machine.meters.silent(9.0) == {"n1"}
    del machine.watcher.told["7"]  # it is over, and nobody says what the node draws without it
    assert machine.meters.machine_w(9.0) == 90.0
    assert (machine.meters.silent(9.0), machine.meters.left_out(9.0)) == (set(), ["n1"])


@pytest.mark.parametrize("out", ["down", "off"])
def test_a_node_without_a_job_that_reports_draws_whatever_slurm_says(out: str) -> None:
    machine = Machine()
    getattr(machine.watcher, out).add("n2")
    machine.told(0.0)
    assert machine.meters.machine_w(0.0) == 390.0
    assert machine.meters.left_out(0.0) == []


def test_what_a_drained_node_draws_above_idle_is_a_rest_and_its_idle_power_is_none() -> None:
    """The books count nothing of it, and its 90 W are kept from the cap."""
    machine = Machine()
    machine.meters.node_idle_w, machine.expected_w = 90.0, 300.0
    machine.watcher.down = machine.watcher.resting = {"n2"}
    assert machine.told(*range(10)) == []
    machine.fleet.power_w["n2"] = 240.0  # somebody tries it out
    assert machine.told(*range(10, 20)) == [Measured(450.0)]


def test_the_power_that_a_target_is_held_against_is_of_the_time_of_its_readings() -> None:
    machine = Machine()
    machine.told(0.0)
    del machine.fleet.power_w["n2"]
    machine.watcher.down = {"n2"}
    machine.told(100.0)
    assert _measured(machine.meters, 100.0) == (300.0, 100.0)


@given(readings=st.lists(st.tuples(st.sampled_from([0.5, 1.0, 2.0, 7.0]),
                                   st.sampled_from([100.0, 200.0, 250.0, 400.0])), max_size=60))
def test_the_highest_is_that_of_all_averages_of_the_window(
    readings: list[tuple[float, float]],
) -> None:
    """As by looking at all of them each time, however the readings rise and fall."""
    power, now_s = _JobPower(), 0.0
    seen: list[tuple[float, float]] = []
    means: list[tuple[float, float]] = []
    for later_s, watts in readings:
        now_s += later_s
        seen.append((now_s, watts))
        steady = [each for each in seen if now_s - each[0] <= STEADY_S]
        if now_s - steady[0][0] >= 0.7 * STEADY_S:
            means.append((now_s, math.fsum(watts for _, watts in steady) / len(steady)))
            means = [each for each in means if now_s - each[0] <= JOB_WINDOW_S]
        highest_w = max((watts for _, watts in means), default=math.nan)
        assert power.highest(now_s, watts) == pytest.approx(highest_w, nan_ok=True)
        if means:
            assert power.lasts == (means[-1][0] - means[0][0] >= 0.9 * JOB_WINDOW_S)


def test_what_a_job_leaves_is_lent_only_where_its_nodes_obey() -> None:
    """A script that stages its data in: 90 W of the 300 W that it will draw."""
    machine = Machine(without_knobs=["n1"])
    machine.fleet.power_w["n1"] = 90.0
    assert machine.told(*range(60)) == []
    machine.fleet.without_knobs.clear()  # its agent has got knobs by now
    machine.order(60.0)
    assert machine.told(*range(60, 80)) == [Measured(120.0, "7")]  # the lowest cap, and not 90 W


def test_before_any_order_was_obeyed_nothing_is_lent() -> None:
    machine = Machine()
    machine.meters.knobs = Knobs()
    machine.fleet.power_w["n1"] = 90.0
    assert machine.told(*range(60)) == []  # as in a dry run, which orders nothing
    machine.order(60.0)
    assert machine.told(*(60.0 + 0.5 * step for step in range(10))) == []
    assert machine.told(65.0, 65.5) == [Measured(120.0, "7")]


@pytest.mark.parametrize("lost", ["refuses", "is silent"])
def test_what_was_lent_counts_again_where_a_node_obeys_no_more(lost: str) -> None:
    machine = Machine()
    machine.fleet.power_w["n1"] = 90.0
    assert machine.told(*range(20)) == [Measured(120.0, "7")]
    if lost == "refuses":
        machine.fleet.without_knobs.add("n1")
    else:
        del machine.fleet.power_w["n1"]
    machine.order(20.0)
    assert machine.told(*range(20, 25)) == []
    found = machine.told(*range(25, 40))
    assert found == [Measured(300.0, "7")]


@pytest.mark.parametrize("nodes", [1, 2, 5])
def test_of_a_job_on_several_nodes_the_part_on_those_that_obey_is_lent(nodes: int) -> None:
    machine = Machine()
    names = [f"n{number}" for number in range(1, nodes + 1)]
    machine.watcher = machine.meters.watcher = Watcher(names)
    machine.watcher.told["7"] = Told("7", nodes, 60.0, 300.0 * nodes, tuple(range(nodes)), True)
    machine.fleet.power_w = dict.fromkeys(names, 100.0)
    machine.fleet.without_knobs = {"n1"}
    machine.order(-9.0)
    machine.expected_w = 300.0 * nodes
    expected_w = 300.0 + 120.0 * (nodes - 1)
    found = machine.told(*range(30))
    assert found == ([Measured(expected_w, "7")] if nodes > 1 else [])


def test_while_its_nodes_boot_a_job_counts_with_what_it_says() -> None:
    machine = Machine()
    row = SlurmJob("7", 7, 0, "CONFIGURING", 1, 1, 60.0, 0.0, math.nan, 0.0, node_list=("n1",))
    machine.watcher.told["7"].row = row
    machine.fleet.power_w["n1"] = 90.0
    assert machine.told(*range(60)) == []
    machine.watcher.told["7"].row = replace(row, state="RUNNING")
    assert machine.told(*range(60, 74)) == []
    assert machine.told(*range(74, 90)) == [Measured(120.0, "7")]


def test_a_job_that_was_seen_to_draw_more_counts_so_until_it_ends_where_no_cap_can_lower_it(
) -> None:
    machine = Machine(without_knobs=["n1"])
    machine.fleet.power_w["n1"] = 450.0
    assert machine.told(1.0) == [Measured(450.0, "7")]
    machine.fleet.power_w["n1"] = 200.0
    assert machine.told(*range(2, 60)) == []


def test_what_a_job_leaves_does_not_hide_what_nobody_accounts_for() -> None:
    machine = Machine(without_knobs=["n1"])
    machine.watcher.booked_w = lambda name: 300.0
    machine.fleet.power_w.update(n1=100.0, n2=190.0)
    assert machine.told(*range(10)) == [Measured(490.0)]
