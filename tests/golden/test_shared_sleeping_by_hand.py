"""Nodes that sleep, and which of them are woken, worked out by hand.

Three nodes of 4 CPUs fall asleep after 100 s without a job; jobs run 600 s unless said. A real
Slurm 22.05.8 with a node of Weight 1 powered down and two of Weight 50 awake and idle gave jobs
the two, and woke the one for the next job only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from tests.support.shared_judged import findings
from wattline.shared_nodes.machine import SUSPEND
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

NODE: dict[str, Any] = {"tasks": 4, "min_nodes": 1, "max_nodes": 1}
"""Takes a node."""
AWAKE: dict[str, Any] = {**NODE, "required": 0, "run_s": 300.0}
"""Keeps node 2 awake until 300 s; nodes 0 and 1 sleep from 100 s on."""
SLEEPS = Rules(suspend_time_s=100.0, kill_late_s=0.0)
RULES = {
    "backfill": SLEEPS,
    "in order": replace(SLEEPS, scheduler="builtin"),
    "least loaded": replace(SLEEPS, least_loaded=True),
    "tree": replace(SLEEPS, topology_tree=True),
    "whole nodes": replace(SLEEPS, select="linear"),
}
KEPT = [[False, False, True], [False, True, True]]
"""Nodes that a job must have."""


def _nodes(found: Any, job: int) -> list[int]:
    return sorted(found.allocation_node[found.allocation_job == job].tolist())


def _schedule(on: Any, rules: Rules, *jobs: dict[str, Any]) -> Any:
    return simulate_shared(on, requests(on, *jobs, node_masks=KEPT), rules)


@pytest.mark.parametrize("rules", RULES.values(), ids=list(RULES))
@pytest.mark.parametrize("ask", [NODE, {"tasks": 1}, {**NODE, "exclusive": True},
                                 {"tasks": 4, "min_nodes": 1}], ids=str)
@pytest.mark.parametrize("weight", [1, [1, 1, 50]], ids=["equal", "heavier"])
def test_a_job_gets_a_node_that_is_awake(rules: Rules, ask: dict[str, Any], weight: Any) -> None:
    """Of equal nodes the first would be taken, of others the one with the lowest weight."""
    on = machine(3, weight=weight, leaf=0, switches=1)
    found = _schedule(on, rules, AWAKE, {**ask, "submit_s": 301.0})
    assert _nodes(found, 1) == [2]
    assert found.end_s[1] - found.start_s[1] == 600.0


def test_a_job_of_several_nodes_wakes_no_more_than_it_needs() -> None:
    on = machine(4)
    masks = [[False, True, False, True]]
    jobs = ({"tasks": 8, "min_nodes": 2, "required": 0, "run_s": 300.0},
            {"tasks": 12, "min_nodes": 3, "submit_s": 350.0})
    found = simulate_shared(on, requests(on, *jobs, node_masks=masks), SLEEPS)
    assert _nodes(found, 1) == [0, 1, 3]


def test_weights_do_not_count_among_nodes_that_sleep() -> None:
    """Awake, the second node is the first choice; asleep, all are one set, and its first is."""
    on = machine(3, weight=[9, 1, 5])
    found = _schedule(on, SLEEPS, {"run_s": 10.0}, {**NODE, "submit_s": 500.0})
    assert [_nodes(found, job) for job in range(2)] == [[1], [0]]


def test_a_node_that_was_woken_has_its_weight_again() -> None:
    """Job 1 wakes node 0; when it and job 2 are over, the lighter of two awake nodes is taken."""
    on = machine(3, weight=[1, 9, 9])
    found = _schedule(on, SLEEPS, {**AWAKE, "required": 1, "min_nodes": 2, "max_nodes": 2,
                                   "tasks": 8, "run_s": 600.0},
                      {**NODE, "submit_s": 200.0, "run_s": 500.0}, {**NODE, "submit_s": 800.0})
    assert [_nodes(found, job) for job in range(3)] == [[1, 2], [0], [0]]


def test_backfill_spares_nodes_that_sleep() -> None:
    """Node 2 has a job until 900 s, and job 2 waits for all three nodes until then. Behind it job
    3 may run, beside the first on node 2."""
    found = _schedule(machine(3), SLEEPS, AWAKE, {"submit_s": 301.0, "limit_s": 900.0},
                      {"tasks": 12, "min_nodes": 3, "submit_s": 310.0},
                      {"submit_s": 320.0, "limit_s": 60.0, "run_s": 60.0})
    assert [_nodes(found, job) for job in (1, 3)] == [[2], [2]]
    assert found.end_s[3] < found.end_s[1] <= found.start_s[2]


def test_a_job_starts_when_the_nodes_that_it_woke_are_up() -> None:
    """Woken at 500 s, up at 560 s: from then on 600 s, and its joules are of these."""
    found = _schedule(machine(1), SLEEPS, {"run_s": 10.0}, {**NODE, "submit_s": 500.0})
    assert (found.start_s[1], found.end_s[1]) == (560.0, 1160.0)
    assert found.energy_j[1] == 600.0 * 140.0
    assert found.event_time_s[found.event_busy_cpus == 4].min() == 500.0


def test_that_its_nodes_are_up_is_seen_when_limits_are_looked_at() -> None:
    """Every 30 s: woken at 500 s and up at 560 s it starts at 570 s. Slurm 22.05.8 gave a job its
    node 1 s after its submission; it was up 3 s later, and the job started after another 27 s."""
    rules = replace(SLEEPS, kill_late_s=15.0)
    found = _schedule(machine(1), rules, {"run_s": 10.0}, {**NODE, "submit_s": 500.0})
    assert (found.start_s[1], found.end_s[1]) == (570.0, 1170.0)


def test_a_limit_counts_from_when_the_nodes_are_up() -> None:
    """Job 1 is planned to be over at 1160 s, no longer at 1100 s, so that job 3 may run before job
    2, which waits for both nodes: until 1140 s."""
    found = _schedule(machine(2), SLEEPS, {"run_s": 10.0, "limit_s": 60.0},
                      {**NODE, "submit_s": 500.0, "run_s": 900.0},
                      {"tasks": 8, "min_nodes": 2, "submit_s": 510.0, "limit_s": 60.0},
                      {"submit_s": 580.0, "limit_s": 480.0, "run_s": 480.0})
    assert (found.start_s[1], found.end_s[1]) == (560.0, 1160.0)
    assert found.start_s[3] < 700.0
    assert found.start_s[2] >= 1160.0


def test_a_job_that_goes_on_keeps_its_start() -> None:
    """Suspended at 103 s it wakes the other node, asleep since 100 s, and has 497 s left there."""
    on = machine(2, partitions=[[0, 1], [0]])
    on = replace(on, partitions=replace(
        on.partitions, tier=np.array([1, 2]), preempt_mode=np.array([SUSPEND, 0])))
    rules = replace(SLEEPS, preempt="partition", scheduler="builtin")
    asked = requests(on, NODE, {**NODE, "submit_s": 103.0, "partition": 1})
    found = simulate_shared(on, asked, rules)
    assert (found.start_s[0], found.start_s[1]) == (0.0, 103.0)
    assert found.gap_to_s[0] == 103.0 + 60.0  # when its node is up
    assert found.end_s[0] == found.gap_to_s[0] + 497.0
    assert findings(on, asked, rules, found) == []
