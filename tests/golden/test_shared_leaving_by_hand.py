"""Jobs on shared nodes that leave, boot or go on: what they give back and hold, by hand.

Nodes of 4 CPUs draw 100 W each and each CPU in use 10 W more; loops begin at 0 s.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from tests.support.shared_budgeted import joules
from tests.support.shared_judged import findings
from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.shared_nodes.bound_sums import over_bounds
from wattline.shared_nodes.machine import REQUEUE, SUSPEND, SharedMachine
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

ALONE: dict[str, Any] = {"tasks": 4, "min_nodes": 1}
"""Takes a node, and 40 W, for 600 s."""
PROMPT = Rules(kill_late_s=0.0)
SLEEPS = Rules(suspend_time_s=100.0, resume_timeout_s=60.0, kill_late_s=0.0)


def preempting(on: SharedMachine, mode: int) -> SharedMachine:
    """The second partition takes nodes from the first."""
    return replace(on, partitions=replace(
        on.partitions, tier=np.array([1, 2]), preempt_mode=np.array([mode, 0])))


@pytest.mark.parametrize("scheduler", ["builtin", "backfill"])
def test_a_job_that_leaves_gives_a_feed_its_share_of_its_watts_back(scheduler: str) -> None:
    """Each of two feeds carries half of each watt: 200 W idle, and 20 W of each job. 240 W are two
    jobs: when the first ends at 300 s, one of those that wait may start, and the last at 600 s."""
    on = machine(4)
    feeds = [PowerBound(name, 240.0, 200.0, np.arange(4), np.full(4, 0.5)) for name in "ab"]
    rules = replace(PROMPT, scheduler=scheduler)
    asked = requests(on, {**ALONE, "run_s": 300.0, "limit_s": 300.0}, ALONE, ALONE, ALONE)
    found = simulate_shared(on, asked, rules, bounds=feeds)
    assert list(over_bounds(on, found, feeds)) == []
    assert found.start_s.tolist() == [0.0, 0.0, 300.0, 600.0]


def test_a_job_whose_nodes_boot_is_promised_joules_from_when_they_are_up() -> None:
    """Two jobs wake a node each when the second period begins, at 1,000 s, up at 1,060 s. The first
    is promised 40 W for 600 s from then on, 24,000 J, and the second asks for 40 W for the 660 s
    until then, 26,400 J. That is within 51,000 J; 26,400 J for both would not be."""
    on = machine(2)
    jobs = ({"tasks": 1, "run_s": 10.0, "limit_s": 60.0}, {**ALONE, "submit_s": 1000.0},
            {**ALONE, "submit_s": 1000.0})
    asked = requests(on, *jobs)
    budget = joules(on, 51_000.0, 1000.0)
    found = simulate_shared(on, asked, SLEEPS, budget=budget)
    assert findings(on, asked, SLEEPS, found, budget=budget) == []
    assert found.start_s.tolist() == [0.0, 1060.0, 1060.0]


def test_the_watts_of_a_job_whose_nodes_are_up_count_once() -> None:
    """From 400 s on 280 W, enough for two of three nodes with a job each while the third sleeps.
    Job 1 wakes its node at 500 s and draws 40 W from 560 s on; at 700 s job 2 wakes another."""
    jobs = ({"tasks": 1, "run_s": 10.0, "limit_s": 60.0}, {**ALONE, "submit_s": 500.0},
            {**ALONE, "submit_s": 700.0})
    cap = Signal.from_steps([(0, 400.0), (400, 280.0)], "W")
    found = simulate_shared(machine(3), requests(machine(3), *jobs), SLEEPS, cap=cap)
    assert found.start_s.tolist() == [0.0, 560.0, 760.0]
    assert found.event_power_w[found.event_time_s >= 400.0].max() == 280.0


def test_a_job_that_leaves_while_its_nodes_boot_takes_nothing_from_what_is_drawn() -> None:
    """Job 0 draws 40 W on node 0. Job 1 wakes node 1 at 500 s and gives way to job 2 at 510 s, when
    none of its 40 W is drawn yet: the machine goes on with 240 W, and with 280 W from 560 s on."""
    on = preempting(machine(2, partitions=[[0, 1]] * 2), REQUEUE)
    rules = replace(SLEEPS, preempt="partition")
    jobs = ({**ALONE, "partition": 1, "run_s": 3000.0, "limit_s": 3000.0},
            {**ALONE, "submit_s": 500.0, "requeue": True},
            {**ALONE, "partition": 1, "submit_s": 510.0})
    asked = requests(on, *jobs)
    found = simulate_shared(on, asked, rules)
    assert (found.requeues[1], found.start_s[2]) == (1, 560.0)
    drawn_w = dict(zip(found.event_time_s.tolist(), found.event_power_w.tolist(), strict=True))
    assert drawn_w[500.0] == drawn_w[510.0] == 240.0
    assert drawn_w[560.0] == 280.0


def test_of_the_jobs_that_could_give_way_those_that_are_not_needed_stay() -> None:
    """Job 0, which gives way to nobody, has three CPUs of node 0 and job 1 the fourth; job 2 has
    node 1. Job 3 needs a whole node. Job 1 is asked first, and its CPU does not help: job 2 goes
    alone."""
    on = preempting(machine(2, partitions=[[0, 1]] * 2), REQUEUE)
    jobs = ({"tasks": 3, "min_nodes": 1, "partition": 1}, {"tasks": 1, "requeue": True},
            {**ALONE, "requeue": True}, {**ALONE, "partition": 1, "submit_s": 10.0})
    found = simulate_shared(on, requests(on, *jobs), replace(PROMPT, preempt="partition"))
    assert found.requeues.tolist() == [0, 0, 1, 0]
    assert found.start_s[[0, 1, 3]].tolist() == [0.0, 0.0, 10.0]


def test_a_suspended_job_that_goes_on_has_what_is_left_of_its_limit() -> None:
    """Job 0 has two CPUs for 600 s and is suspended from 300 s to 400 s: it is over at 700 s, which
    is when job 2, of four CPUs, is planned. Job 3 would last beyond 700 s and waits behind it; job
    4 is over before, and starts beside job 0."""
    on = preempting(machine(1, partitions=[[0]] * 2), SUSPEND)
    rules = replace(PROMPT, preempt="partition")
    two = {"tasks": 2, "min_nodes": 1}
    jobs = (two, {**ALONE, "partition": 1, "submit_s": 300.0, "run_s": 100.0, "limit_s": 100.0},
            {**ALONE, "submit_s": 410.0, "run_s": 60.0, "limit_s": 60.0},
            {**two, "submit_s": 420.0, "run_s": 350.0, "limit_s": 350.0},
            {**two, "submit_s": 430.0, "run_s": 120.0, "limit_s": 120.0})
    asked = requests(on, *jobs)
    found = simulate_shared(on, asked, rules)
    assert findings(on, asked, rules, found) == []
    assert found.suspended_s[0] == pytest.approx(100.0, abs=2.0)
    assert found.end_s[0] == pytest.approx(700.0, abs=2.0)
    assert 0.0 <= found.start_s[2] - found.end_s[0] <= 2.0
    assert found.start_s[3] >= found.end_s[2]
    assert found.start_s[4] < 500.0


def test_a_suspended_job_is_killed_when_its_limit_without_the_suspension_is_over() -> None:
    """It would go on for ever: of its 600 s it had 300 before it was suspended for 100."""
    on = preempting(machine(1, partitions=[[0]] * 2), SUSPEND)
    rules = replace(PROMPT, preempt="partition")
    asked = requests(on, {**ALONE, "run_s": 1e6}, {
        **ALONE, "partition": 1, "submit_s": 300.0, "run_s": 100.0, "limit_s": 100.0})
    found = simulate_shared(on, asked, rules)
    assert found.end_s[0] == pytest.approx(700.0, abs=2.0)
