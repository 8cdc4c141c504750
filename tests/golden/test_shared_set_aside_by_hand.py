"""Jobs on shared nodes that a cap has no room for, even alone: nobody waits behind them.

Nodes of 4 CPUs draw 100 W each and each CPU in use 10 W more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from tests.support.shared_judged import findings
from wattline.model.signal import Signal
from wattline.shared_nodes.instant import Placed, starts_now
from wattline.shared_nodes.machine import SharedMachine
from wattline.shared_nodes.outcome import NEVER, Schedule
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

BUILTIN, BACKFILL = Rules(scheduler="builtin"), Rules(scheduler="backfill")
BOTH = pytest.mark.parametrize("rules", [BUILTIN, BACKFILL], ids=["builtin", "backfill"])
ALONE: dict[str, Any] = {"tasks": 4, "min_nodes": 1}
"""Takes a node, and 40 W."""
LARGE: dict[str, Any] = {"tasks": 12, "min_nodes": 3}
"""Takes three nodes, and 120 W."""


def schedule(on: SharedMachine, cap: Signal, *jobs: dict[str, Any], rules: Rules) -> Schedule:
    asked = requests(on, *jobs)
    found = simulate_shared(on, asked, rules, cap=cap)
    assert findings(on, asked, rules, found, cap) == []
    assert found.above_cap_s == 0.0
    return found


def steps(*pairs: tuple[float, float]) -> Signal:
    return Signal(np.array([each[0] for each in pairs]), np.array([each[1] for each in pairs]), "W")


def sixty_jobs() -> list[dict[str, Any]]:
    """Jobs of whole nodes, within a minute."""
    random = np.random.default_rng(5)
    nodes = random.choice([1, 2, 3, 4, 8], 60, p=[0.3, 0.25, 0.15, 0.12, 0.18])
    run_s = random.integers(10, 40, 60).astype(float)
    submit_s = np.concatenate([[0.0], np.cumsum(random.exponential(1.0, 59))])
    return [{"tasks": 4 * int(count), "min_nodes": int(count), "run_s": float(run),
             "limit_s": 60.0, "submit_s": float(at)}
            for count, run, at in zip(nodes, run_s, submit_s, strict=True)]


@BOTH
def test_all_jobs_that_fit_under_a_cap_that_fell_run(rules: Rules) -> None:
    """Sixteen nodes draw 1,440 W idle, and each node in use 210 W more: eight are over 2,400 W."""
    on = machine(16)
    on = replace(on, nodes=replace(on.nodes, idle_w=np.full(16, 90.0), cpu_w=np.full(16, 52.5)))
    jobs = sixty_jobs()
    found = schedule(on, steps((0.0, 3200.0), (40.0, 2400.0)), *jobs, rules=rules)
    ran = np.isfinite(found.start_s)
    assert ran[[job["min_nodes"] <= 4 for job in jobs]].all()
    assert (~ran).sum() == 12
    again = schedule(on, steps((0.0, 3200.0), (40.0, 2400.0), (400.0, 3200.0)), *jobs, rules=rules)
    assert np.isfinite(again.start_s).all()


@BOTH
def test_who_waits_for_ever_changes_nothing_for_all_others(rules: Rules) -> None:
    """For the large job nothing is reserved: the others start as if it had never come, but for the
    seconds by which a pass that it asked for moves others."""
    on, cap = machine(4), Signal.constant(490.0, "W")
    others = [{**ALONE, "submit_s": float(at), "limit_s": limit_s, "run_s": limit_s}
              for at, limit_s in ((1, 3600.0), (2, 600.0), (3, 600.0), (4, 60.0), (5, 6000.0))]
    found = schedule(on, cap, LARGE, *others, rules=rules)
    without = schedule(on, cap, *others, rules=rules)
    assert found.state[0] == NEVER
    assert found.start_s[1:] == pytest.approx(without.start_s, abs=3.0)


def test_without_backfill_a_job_has_its_place_when_the_cap_rises() -> None:
    """Beside two small jobs there is no room for the large one until 700 s, under any cap; a third
    of the same size, which came later, waits behind it."""
    on = machine(4)
    small = {**ALONE, "run_s": 600.0, "limit_s": 600.0}
    found = schedule(on, steps((0.0, 490.0), (300.0, 540.0)), {**LARGE, "run_s": 60.0},
                     {**small, "submit_s": 100.0}, {**small, "submit_s": 110.0},
                     {**small, "submit_s": 320.0}, rules=replace(BUILTIN, kill_late_s=0.0))
    assert found.start_s[1:3].tolist() == pytest.approx([102.0, 112.0], abs=3.0)
    assert found.start_s[0] == pytest.approx(712.0, abs=6.0)
    assert found.start_s[3] >= found.end_s[0]


def test_backfill_plans_for_the_step_that_has_room() -> None:
    """The cap rises at 900 s, and at 960 s the first job ends: the job of 1,200 s would delay the
    large one then, that of 600 s not."""
    long = {**ALONE, "limit_s": 960.0, "run_s": 960.0}
    found = schedule(
        machine(4), steps((0.0, 490.0), (900.0, 540.0)), long, {**LARGE, "submit_s": 1.0},
        {**long, "submit_s": 2.0, "limit_s": 1200.0, "run_s": 1200.0},
        {**ALONE, "submit_s": 3.0}, rules=BACKFILL)
    assert found.start_s[1] == found.end_s[0] == 960.0
    assert found.start_s[3] < 40.0
    assert found.start_s[2] >= found.end_s[1]


@pytest.mark.parametrize("room_w", [60.0, 95.0])
def test_what_counts_is_what_the_job_draws_where_it_would_run(room_w: float) -> None:
    """Both nodes of the lower weight draw twice as much per CPU: the job of two nodes, 40 W on the
    others, gets these, with 80 W. Where it fits alone, but not beside the first job, the third
    waits behind it."""
    on = machine(4, weight=np.array([1, 1, 2, 2]))
    on = replace(on, nodes=replace(on.nodes, cpu_w=np.array([20.0, 20.0, 10.0, 10.0])))
    wide = {"tasks": 4, "min_nodes": 2, "max_nodes": 2, "tasks_per_node": 2}
    found = schedule(on, Signal.constant(400.0 + room_w, "W"),
                     {"tasks": 1, "run_s": 60.0}, {**wide, "submit_s": 10.0},
                     {"tasks": 1, "submit_s": 20.0, "run_s": 60.0}, rules=BUILTIN)
    assert np.isfinite(found.start_s).tolist() == [True, room_w > 80.0, True]
    assert (found.start_s[2] < 30.0) if room_w < 80.0 else (found.start_s[2] >= found.end_s[1])


def test_jobs_that_are_set_aside_do_not_use_up_the_depth_of_a_pass() -> None:
    found = schedule(machine(4), Signal.constant(490.0, "W"), *[LARGE] * 5,
                     {**ALONE, "submit_s": 61.0}, rules=replace(BUILTIN, default_queue_depth=1))
    assert found.start_s[5] < 70.0


def test_a_job_that_only_sleeping_nodes_leave_watts_for_is_waited_for() -> None:
    """Four idle nodes leave 30 W of 430, and the first job takes 60 W: it has them when nodes go to
    sleep, from 100 s on."""
    rules = replace(BUILTIN, suspend_time_s=100.0, suspend_excluded=())
    found = simulate_shared(
        machine(4), requests(machine(4), {**LARGE, "tasks": 6},
                             {"tasks": 1, "submit_s": 10.0, "run_s": 60.0}),
        rules, cap=Signal.constant(430.0, "W"))
    assert 100.0 <= found.start_s[0] <= found.start_s[1]
    assert found.above_cap_s == 0.0


@pytest.mark.parametrize("drawn_w", [440.0, 460.0])
def test_a_real_scheduler_passes_who_does_not_fit_alone_and_nobody_else(drawn_w: float) -> None:
    """A small job runs, and draws 20 W more than it should in the second case. The large one fits
    alone under 530 W, not under 510 W: only there others start before it."""
    on = machine(4)
    asked = requests(on, ALONE, {**LARGE, "submit_s": 1.0}, {"tasks": 1, "submit_s": 2.0})
    placed = {0: Placed((0,), (4,), 0.0)}
    for cap_w, begun in ((530.0, []), (510.0, [2])):
        found = starts_now(on, asked, BUILTIN, placed, 10.0, cap_w=cap_w, drawn_w=drawn_w)
        assert [each.job for each in found] == begun
