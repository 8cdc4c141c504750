"""Which jobs give way, which set of nodes is taken and when a node is back, worked out by hand.

Nodes have 4 CPUs; jobs run 600 s unless said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from wattline.shared_nodes.licence_plan import _held, hold_licences
from wattline.shared_nodes.machine import CANCEL, SUSPEND
from wattline.shared_nodes.outages import Outages
from wattline.shared_nodes.outcome import KILLED, NEVER, PREEMPTED, RAN, REASONS
from wattline.shared_nodes.prepare import make_books
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

BUILTIN = Rules(scheduler="builtin")


def whole(nodes: int, **more: Any) -> dict[str, Any]:
    return {"tasks": 4 * nodes, "min_nodes": nodes, **more}


def tiers(nodes: int) -> Any:
    """Jobs of the first partition are cancelled for those of the second."""
    every = list(range(nodes))
    on = machine(nodes, partitions=[every, every])
    return replace(on, partitions=replace(on.partitions, tier=np.array([1, 2]),
                                          preempt_mode=np.array([CANCEL, 0])))


@pytest.mark.parametrize("sizes", [(2, 1), (1, 2)])
def test_of_jobs_of_one_rank_the_one_on_fewer_nodes_gives_way(sizes: tuple[int, int]) -> None:
    """One has two nodes and one has the third; a job of a higher tier comes for a node."""
    on = tiers(3)
    asked = requests(on, *(whole(size) for size in sizes), whole(1, submit_s=103.0, partition=1))
    found = simulate_shared(on, asked, replace(BUILTIN, preempt="partition"))
    assert found.start_s[2] == 103.0
    assert list(found.state[:2]) == [RAN if size == 2 else PREEMPTED for size in sizes]


def test_jobs_of_partitions_of_one_tier_do_not_give_way_to_each_other() -> None:
    """There is a third partition below both, in which nothing runs."""
    on = machine(1, partitions=[[0], [0], [0]])
    on = replace(on, partitions=replace(on.partitions, tier=np.array([1, 2, 2]),
                                        preempt_mode=np.array([CANCEL, CANCEL, CANCEL])))
    asked = requests(on, whole(1, partition=1), whole(1, submit_s=103.0, partition=2))
    found = simulate_shared(on, asked, replace(BUILTIN, preempt="partition"))
    assert list(found.start_s) == [0.0, 600.0]


@pytest.mark.parametrize(("run_s", "state"), [(599.0, RAN), (600.0, RAN), (601.0, KILLED)])
def test_a_job_that_ends_at_its_limit_is_not_killed(run_s: float, state: int) -> None:
    """Limits are looked at as they pass."""
    on = machine(1)
    found = simulate_shared(on, requests(on, whole(1, run_s=run_s)),
                            replace(BUILTIN, kill_late_s=0.0))
    assert (found.state[0], found.end_s[0]) == (state, min(run_s, 600.0))


def test_all_stretches_of_a_job_that_is_suspended_twice_count_towards_its_limit() -> None:
    """It has the node until 103 s, from 703 to 803 s and from 1,403 s on: of 900 s 697 s are left
    then."""
    on = tiers(1)
    on = replace(on, partitions=replace(on.partitions, preempt_mode=np.array([SUSPEND, 0])))
    asked = requests(on, whole(1, run_s=5000.0, limit_s=900.0), *(
        whole(1, submit_s=at_s, partition=1) for at_s in (103.0, 803.0)))
    found = simulate_shared(on, asked, replace(BUILTIN, preempt="partition"))
    assert found.gap_from_s.tolist() == [103.0, 803.0]
    assert (found.state[0], found.end_s[0]) == (KILLED, 2100.0)


@pytest.mark.parametrize(("nodes", "taken"), [(1, [4]), (2, [4, 5]), (3, [0, 1, 2]),
                                              (4, [0, 1, 2, 4]), (5, [0, 1, 2, 4, 5])])
def test_the_smallest_set_of_nodes_that_suffices_is_taken_and_else_the_largest_first(
    nodes: int, taken: list[int]
) -> None:
    """Node 3 is in use: nodes 0 to 2 and nodes 4 and 5 are two sets."""
    on = machine(6)
    asked = requests(on, whole(1, required=0), whole(nodes, submit_s=1.0),
                     node_masks=[[node == 3 for node in range(6)]])
    found = simulate_shared(on, asked, BUILTIN)
    assert sorted(found.allocation_node[found.allocation_job == 1].tolist()) == taken


def test_a_node_is_back_when_the_last_of_its_outages_is_over() -> None:
    """Down from 100 to 900 s, and drained from 500 to 1,500 s."""
    on = machine(1)
    outages = Outages(np.array([0, 0]), np.array([100.0, 500.0]), np.array([900.0, 1500.0]),
                      np.array([False, True]))
    found = simulate_shared(on, requests(on, whole(1, submit_s=200.0)), BUILTIN, outages=outages)
    assert found.start_s[0] == 1500.0


@pytest.mark.parametrize("nodes", [[[0]], [[0], [0]]])
def test_of_a_job_whose_nodes_never_come_back_that_is_said(nodes: list[list[int]]) -> None:
    """Also of one that may run in either of two partitions."""
    on = machine(1, partitions=nodes)
    outages = Outages(np.zeros(1, np.int64), np.zeros(1), np.full(1, np.inf), np.array([True]))
    asked = requests(on, whole(1, submit_s=10.0, partition=list(range(len(nodes)))))
    found = simulate_shared(on, asked, BUILTIN, outages=outages)
    assert found.state[0] == NEVER
    assert REASONS[found.reason[0]] == "its nodes are down, drained or reserved"


@pytest.mark.parametrize(("time_s", "held"), [(599.0, 0), (600.0, 2), (1199.0, 2), (1200.0, 0)])
def test_a_planned_job_holds_its_licences_from_its_begin_to_before_its_end(
    time_s: float, held: int
) -> None:
    on = machine(1, licence_names=("l",), licences=np.array([3]))
    st = make_books(on, requests(on, {"licences": [2]}), Rules(bf_licences=True), None, None, 0.0)
    hold_licences(st, 0, 600.0, 1200.0)
    assert _held(st, 0, time_s) == held
