"""Books that count cores: jobs share nodes, and units, power and ends add up all the same."""

from __future__ import annotations

import pytest
from tests.support.told_books import told
from tests.support.workloads import compose

from wattline.books import Books, Ended, NodesDown, Submitted, Terms
from wattline.model.machine import Machine, NodeClass
from wattline.policies.placement.first_fit import FirstFit

node = NodeClass(cores=4, power_w_idle=80.0, power_w_active=280.0, power_w_off=4.0)
machine = Machine.uniform(2, node)


def sharing(named):
    axes = {"placement": FirstFit()} if named else {}
    return Books.open(machine, compose(**axes), Terms(granularity="core", choose_nodes=named))


@pytest.mark.parametrize("named", [False, True])
def test_jobs_that_share_a_node_have_their_part_of_its_power(named: bool) -> None:
    """Three jobs on two nodes of four cores: one of them is on both."""
    books = sharing(named)
    decided = books.step(0, [Submitted("a", 3, 100.0), Submitted("b", 2, 100.0),
                             Submitted("c", 1, 100.0), Submitted("d", 5, 100.0)])
    busy_w = books.power_w
    later = books.step(10, [Ended("b")])
    found = [[each.job for each in decided], [list(each.control.nodes) for each in decided],
             busy_w, books.power_w, told(books.step(20, [Ended("a")]))]
    started, units, busy_w, after_w, later = found
    assert started == ["a", "b", "c"]
    assert units == ([[0, 1, 2], [3, 4], [5]] if named else [[], [], []])
    assert busy_w == 2 * 80.0 + 6 * 50.0
    assert after_w == 2 * 80.0 + 4 * 50.0
    assert later == [["start", "d"]]


def test_a_core_out_of_order_does_not_take_its_neighbours_with_it() -> None:
    """Of the first node one core fails under a job; the other three go on and are given again."""
    books = sharing(True)
    books.step(0, [Submitted("a", 2, 100.0), Submitted("b", 2, 100.0)])
    books.step(1, [NodesDown(nodes=(1,))])
    books.step(2, [Ended("a")])
    decided = books.step(3, [Submitted("c", 2, 10.0)])
    found = [list(decided[0].control.nodes), int(books.state.clock[0].down)]
    assert found == [[0, 4], 1]
