"""Policies know which units are out of order: none is planned with, and nobody waits for one."""

from __future__ import annotations

import warnings

import pytest
from tests.support.told_books import opened, told
from tests.support.workloads import compose
from tests.unit.books.test_power_states import jobs, machine, shutting

import wattline as wl
from wattline.books import Books, Ended, NodesDown, NodesUp, Reserved, Started, Submitted
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.easy import Easy
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.placement.first_fit import FirstFit


def broken(backfill, chosen, *nodes, **axes):
    if chosen:
        axes["placement"] = FirstFit()
    books = opened(compose(backfill=backfill, **axes), nodes=chosen)
    books.step(0, [NodesDown(nodes=nodes) if chosen else NodesDown(len(nodes))])
    return books


def starts(decisions):
    return [each.job for each in decisions if each.kind == "start"]


@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("backfill", [Conservative, Easy])
def test_a_job_larger_than_what_is_in_order_holds_up_nobody(backfill: type, chosen: bool) -> None:
    """It starts when the node is repaired, and those that run meanwhile have ended."""
    books = broken(backfill(), chosen, 7)
    first = starts(books.step(1, [Submitted("whole", 8, 600.0), Submitted("a", 4, 300.0),
                                  Submitted("b", 4, 300.0)]))
    second = starts(books.step(300, [Ended("a")]))
    up = NodesUp(nodes=(7,)) if chosen else NodesUp(1)
    found = [first, second, starts(books.step(310, [up])),
             starts(books.step(600, [Ended("b")]))]
    assert found == [["a"], ["b"], [], ["whole"]]


@pytest.mark.parametrize("backfill", [Conservative, Easy])
def test_nobody_waits_for_a_node_that_failed_under_a_job(backfill: type) -> None:
    """Seven nodes are left: there is no time at which `whole` has its eight."""
    books = opened(compose(backfill=backfill(), placement=FirstFit()), nodes=True)
    books.step(0, [Submitted("a", 4, 100.0)])
    books.step(1, [Started("a"), NodesDown(nodes=(0,))])
    late = starts(books.step(2, [Submitted("whole", 8, 100.0), Submitted("c", 4, 1000.0)]))
    found = [late, starts(books.step(50, [Ended("a"), Submitted("d", 3, 1000.0)])),
             int(books.state.clock[0].free)]
    assert found == [["c"], ["d"], 0]


@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("backfill", [NoBackfill, Easy, Conservative])
def test_no_job_runs_into_a_reservation_because_a_broken_unit_was_counted(
    backfill: type, chosen: bool
) -> None:
    """Seven of eight are in order, and four are reserved from 100 s on: three are left."""
    books = broken(backfill(), chosen, 7)
    books.step(0, [Reserved("r", 100.0, 100.0, units=4)])
    early = starts(books.step(1, [Submitted("long", 4, 1000.0)]))
    books.step(100, [])
    clock = books.state.clock[0]
    found = [early, int(clock.reserved), int(clock.owed), starts(books.step(200, []))]
    assert found == [[], 4, 0, ["long"]]


def test_a_reservation_that_holds_broken_units_gives_back_the_others_alone() -> None:
    books = opened(compose(backfill=Conservative()))
    books.step(0, [Reserved("now", 0.0, 100.0, units=6)])
    books.step(1, [NodesDown(5)])
    early = starts(books.step(2, [Submitted("six", 6, 10.0), Submitted("three", 3, 10.0)]))
    found = [early, starts(books.step(100, []))]
    assert found == [[], ["three"]]


@pytest.mark.parametrize("named", [False, True])
def test_nodes_in_order_stay_on_where_others_are_broken(named: bool) -> None:
    """The cap has room for about four busy nodes: four are in order, so none goes off."""
    books, *_ = shutting(named)
    books.step(0, [NodesDown(nodes=(4, 5, 6, 7)) if named else NodesDown(4)])
    seen = told(books.step(1, [Submitted("a", 2, 100.0), Submitted("four", 4, 100.0),
                               Submitted("whole", 8, 100.0)]))
    books.step(2, [Started("a")])
    for now_s, events in ((40, []), (50, [Ended("a")]), (90, []), (200, [])):
        seen += told(books.step(now_s, events))
    found = [seen, int(books.state.clock[0].off)]
    assert found == [[["start", "a"], ["start", "four"]], 0]


def test_the_job_that_nodes_are_switched_off_for_is_one_that_can_start() -> None:
    """`whole` waits for the repair; `three` has its watts once the other nodes are off."""
    shut = adaptive(machine, strategy=Strategy.SHUT, jobs=jobs)
    books = Books.open(machine, compose(admission=shut), cap_w=1000.0, cap_w_max=2400.0)
    books.step(0, [NodesDown(1)])
    seen = told(books.step(1, [Submitted("whole", 8, 100.0), Submitted("three", 3, 100.0)]))
    seen += told(books.step(40, []))
    assert seen == [["down", None], ["start", "three"]]


def test_a_configuration_is_chosen_among_those_that_the_nodes_in_order_can_run() -> None:
    machine = wl.Machine(nodes=10, node_idle_w=80, node_active_w=300)
    result = []
    for down in (0, 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            books = wl.open_books(machine=machine, configure="naive", power="watts", cap="20kW")
        if down:
            books.step(0.0, [NodesDown(down)])
        [start] = books.step(1.0, [Submitted("a", 10, 36000.0, application="BT-MZ")])
        result.append(start.control.units)
    assert result == [10, 8]
