"""A cap on the power of shared nodes, and jobs that give way under it, worked out by hand.

Two nodes of 4 CPUs draw 100 W each and each CPU in use 10 W more; loops begin at 0 s.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from tests.support.shared_judged import findings
from wattline.model.signal import Signal
from wattline.shared_nodes.machine import REQUEUE, SharedMachine
from wattline.shared_nodes.outcome import NEVER, RAN, REASONS, Schedule
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

ALONE: dict[str, Any] = {"tasks": 4, "min_nodes": 1}
"""Takes a node, and 40 W."""
ENDLESS: dict[str, Any] = {**ALONE, "submit_s": 10.0, "run_s": 1e6, "limit_s": 60.0}
"""Is killed at 90 s, when limits are looked at, 20 s after its limit."""
PREEMPT = Rules(preempt="partition")


def tiers(count: int = 2) -> SharedMachine:
    """Jobs of partition 1 send those of partition 0 back into the queue."""
    on = machine(count, partitions=[list(range(count))] * 2)
    return replace(on, partitions=replace(
        on.partitions, tier=np.array([1, 2]), preempt_mode=np.array([REQUEUE, 0])))


def schedule(
    on: SharedMachine, cap: Signal, *jobs: dict[str, Any], rules: Rules = PREEMPT
) -> Schedule:
    asked = requests(on, *jobs)
    found = simulate_shared(on, asked, rules, cap=cap)
    assert findings(on, asked, rules, found, cap) == []
    return found


def steps(*pairs: tuple[float, float]) -> Signal:
    return Signal(np.array([each[0] for each in pairs]), np.array([each[1] for each in pairs]), "W")


@pytest.mark.parametrize("scheduler", ["builtin", "backfill"])
def test_a_job_past_its_limit_draws_power_until_it_is_killed(scheduler: str) -> None:
    """The cap has room for one job. The second comes when the first is past its limit at 70 s, and
    starts when that is killed at 90 s."""
    rules = Rules(scheduler=scheduler, kill_late_s=15.0)
    found = schedule(machine(2), Signal.constant(260.0, "W"), ENDLESS,
                     {**ALONE, "submit_s": 72.0}, rules=rules)
    assert (found.end_s[0], found.start_s[1]) == (90.0, 90.0)
    assert (found.event_power_w.max(), found.above_cap_s) == (240.0, 0.0)


def test_a_planned_start_waits_for_the_kill_and_keeps_its_watts() -> None:
    """Job 1 can start at 90 s. Job 2 adds 10 W, for which there is no room beside
    either of them, and waits for the end of job 1 at 690 s."""
    jobs = (ENDLESS, {**ALONE, "submit_s": 11.0}, {"tasks": 1, "submit_s": 12.0})
    found = schedule(machine(2), Signal.constant(245.0, "W"), *jobs,
                     rules=Rules(kill_late_s=15.0))
    assert (found.start_s[1], found.start_s[2]) == (90.0, 690.0)


def test_who_takes_over_the_nodes_of_a_job_takes_over_its_watts() -> None:
    """Job 0 has a node until 130 s, and is killed at 150 s. Job 1 needs both, and is planned for
    130 s: job 2, which may last until 135 s, does not overtake it. 280 W is all that both nodes can
    draw; the cap counts, as it falls in the end."""
    jobs = ({**ENDLESS, "limit_s": 120.0},
            {"tasks": 8, "min_nodes": 2, "submit_s": 12.0, "run_s": 60.0, "limit_s": 60.0},
            {**ALONE, "submit_s": 15.0, "run_s": 110.0, "limit_s": 120.0})
    rules = Rules(kill_late_s=15.0, bf_interval_s=5.0, bf_resolution_s=1.0)
    found = schedule(machine(2), steps((0.0, 280.0), (1e6, 200.0)), *jobs, rules=rules)
    on = machine(2)
    without = simulate_shared(on, requests(on, *jobs), rules)
    assert found.start_s.tolist() == without.start_s.tolist()
    assert found.end_s[0] == found.start_s[1] == 150.0
    assert found.start_s[2] >= 210.0


def test_a_job_that_may_be_killed_late_does_not_reach_into_a_lower_cap() -> None:
    """From 80 s on there is no room for a job; one that could run until 90 s starts behind it."""
    cap = steps((0.0, 260.0), (80.0, 200.0), (200.0, 260.0))
    found = schedule(machine(2), cap, {**ALONE, "submit_s": 10.0, "run_s": 30.0, "limit_s": 60.0},
                     rules=Rules(kill_late_s=15.0))
    assert found.start_s[0] >= 200.0
    prompt = schedule(machine(2), cap, {**ALONE, "submit_s": 10.0, "run_s": 30.0, "limit_s": 60.0},
                      rules=Rules(kill_late_s=0.0))
    assert prompt.start_s[0] == 10.0


def test_a_node_that_wakes_draws_its_idle_power_under_the_cap_too() -> None:
    """Both nodes sleep at 500 s. Under 200 W there is room for one with 4 CPUs in use (140 W), but
    not for two with 8 (280 W), though these add 80 W only."""
    rules = Rules(suspend_time_s=100.0, suspend_excluded=())
    on = machine(2)
    asked = requests(on, {"run_s": 10.0}, {"tasks": 8, "min_nodes": 2, "submit_s": 500.0},
                     {**ALONE, "submit_s": 501.0, "run_s": 50.0})
    found = simulate_shared(on, asked, rules, cap=steps((0.0, 300.0), (450.0, 200.0)))
    assert list(found.state) == [RAN, NEVER, RAN]
    assert found.above_cap_s == 0.0
    assert found.event_power_w[found.event_time_s >= 500.0].max() == 140.0


def test_a_node_that_goes_to_sleep_leaves_its_watts_to_others() -> None:
    """Of 220 W two idle nodes take 200 W; from 100 s on both sleep, and a job of 40 W can run."""
    rules = Rules(suspend_time_s=100.0, suspend_excluded=())
    found = simulate_shared(machine(2), requests(machine(2), ALONE), rules,
                            cap=Signal.constant(220.0, "W"))
    assert 100.0 <= found.start_s[0] <= 200.0
    assert found.above_cap_s == 0.0


def test_nobody_gives_way_to_a_job_that_the_cap_keeps_out() -> None:
    """Node 1 is free. The high job draws 40 W, and 230 W has no room for it even alone: the low one
    runs on, and the cap is named."""
    found = schedule(tiers(), Signal.constant(230.0, "W"), {"tasks": 2, "requeue": True},
                     {**ALONE, "submit_s": 50.0, "partition": 1})
    assert list(found.state) == [RAN, NEVER]
    assert (found.start_s[0], found.end_s[0], found.requeues[0]) == (0.0, 600.0, 0)
    assert REASONS[found.reason[1]] == "the power cap leaves no room for it"


def test_a_job_gives_way_for_its_watts_where_the_other_then_starts() -> None:
    """Node 1 is free, and 250 W is enough for the high job once the low one (20 W) has left."""
    on = tiers()
    asked = requests(on, {"tasks": 2, "requeue": True},
                     {**ALONE, "submit_s": 50.0, "partition": 1})
    found = simulate_shared(on, asked, PREEMPT, cap=Signal.constant(250.0, "W"))
    assert (found.start_s[1], found.requeues[0]) == (50.0, 1)
    assert found.start_s[0] >= 650.0
    assert found.above_cap_s == 0.0


def test_only_as_many_give_way_as_the_watts_need() -> None:
    """Three low jobs of 10, 20 and 10 W; under 360 W the high one (40 W) needs 20 W of them, which
    the second gives alone: the first, older, need not go for it."""
    on = tiers(3)
    jobs = [{"tasks": count, "requeue": True, "submit_s": float(row)}
            for row, count in enumerate((1, 2, 1))]
    found = simulate_shared(
        on, requests(on, *jobs, {**ALONE, "submit_s": 50.0, "partition": 1}), PREEMPT,
        cap=Signal.constant(360.0, "W"))
    assert list(found.requeues) == [0, 1, 0, 0]
    assert found.above_cap_s == 0.0


def test_a_lower_cap_to_come_keeps_the_victim_running() -> None:
    """From 40 s to 900 s the cap has room for the low job alone: the high one starts at 900 s."""
    cap = steps((0.0, 400.0), (40.0, 230.0), (900.0, 400.0))
    found = schedule(tiers(), cap, {"tasks": 2, "requeue": True},
                     {**ALONE, "submit_s": 50.0, "partition": 1})
    assert (found.end_s[0], found.requeues[0], found.start_s[1]) == (600.0, 0, 900.0)


def test_the_checker_finds_a_cap_that_is_broken() -> None:
    on = machine(2)
    asked = requests(on, ALONE, ALONE)
    found = simulate_shared(on, asked, Rules())
    assert findings(on, asked, Rules(), found, Signal.constant(280.0, "W")) == []
    said = findings(on, asked, Rules(), found, Signal.constant(270.0, "W"))
    assert said == ["the machine draws 280 W at 0 s, where the cap is 270 W"]


def test_a_cap_that_is_in_force_from_the_beginning_is_no_change() -> None:
    """The first job is refused. Ticks are 1.006 s apart, and with nobody in the queue backfill
    looks on every one from 0 s on. Did the first step of the cap ask for a cycle, the next would
    come 5 s later, and its ticks lie elsewhere: at 5 + 35 x 1.006 = 40.21 s, before the main pass
    at 40 x 1.006 = 40.24 s."""
    rules = Rules(tick_s=1.006, bf_interval_s=5.0)
    jobs = ({"tasks": 99}, {**ALONE, "submit_s": 40.0})
    free = simulate_shared(machine(2), requests(machine(2), *jobs), rules)
    assert free.start_s[1] == pytest.approx(40.24)
    for first_s in (0.0, -3600.0):
        found = schedule(machine(2), steps((first_s, 1000.0), (1e9, 210.0)), *jobs, rules=rules)
        assert found.start_s[1] == free.start_s[1]
