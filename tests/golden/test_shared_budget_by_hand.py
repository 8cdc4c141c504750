"""Energy budgets of a machine with shared nodes, worked out by hand.

Nodes of 4 CPUs draw 100 W each and each CPU in use 10 W more; loops begin at 0 s. Budgets are given
as joules above idle power for each period.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from tests.support.shared_budgeted import joules
from tests.support.shared_judged import findings
from wattline.model.signal import Signal
from wattline.shared_nodes.joule_budget import JouleBudget
from wattline.shared_nodes.machine import REQUEUE, SUSPEND, SharedMachine
from wattline.shared_nodes.outages import Outages
from wattline.shared_nodes.outcome import NEVER, RAN, REASONS, REFUSED, Schedule
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

PROMPT = Rules(kill_late_s=0.0)
FULL: dict[str, Any] = {"tasks": 4, "min_nodes": 1}
"""A node for 600 s: 40 W, 24,000 J above idle power."""


def schedule(on: SharedMachine, budget: JouleBudget, *jobs: dict[str, Any], rules: Rules = PROMPT,
             cap: Signal | None = None) -> Schedule:
    asked = requests(on, *jobs)
    found = simulate_shared(on, asked, rules, budget=budget, cap=cap)
    assert findings(on, asked, rules, found, cap, budget=budget) == []
    return found


@pytest.mark.parametrize("scheduler", ["builtin", "backfill"])
def test_a_job_waits_for_the_joules_of_the_next_period(scheduler: str) -> None:
    """Of 30,000 J the first job may draw 24,000: the second waits for the next period at 1,000 s,
    the third for the one after it."""
    on = machine(2)
    found = schedule(on, joules(on, 30_000.0, 1000.0), FULL, FULL, FULL,
                     rules=replace(PROMPT, scheduler=scheduler))
    assert found.start_s.tolist() == [0.0, 1000.0, 2000.0]


def test_joules_that_a_job_did_not_draw_are_there_again_when_it_ends() -> None:
    """It asked for 24,000 J and drew 4,000 of them in 100 s."""
    on = machine(2)
    found = schedule(on, joules(on, 30_000.0, 1000.0), {**FULL, "run_s": 100.0}, FULL)
    assert 100.0 <= found.start_s[1] <= 102.0


def test_a_job_across_periods_needs_joules_of_both() -> None:
    """At 400 s: 40 W for 780 s are 24,000 J in this period and 7,200 J in the next, 20 W for 900 s
    are 12,000 J and 6,000 J. A job before them drew 100 J. With 33,000 J, 8,900 J are left for the
    second job: enough for what is left of the period from 555 s on."""
    on = machine(2)
    jobs = [{**FULL, "submit_s": 400.0, "run_s": 780.0, "limit_s": 780.0},
            {"tasks": 2, "submit_s": 400.0, "run_s": 900.0, "limit_s": 900.0}]
    first = {"tasks": 1, "run_s": 10.0, "limit_s": 60.0}
    enough = schedule(on, joules(on, 36_200.0, 1000.0), first, *jobs)
    assert enough.start_s[1:].tolist() == [400.0, 400.0]
    scarce = schedule(on, joules(on, 33_000.0, 1000.0), first, *jobs)
    assert scarce.start_s[1] == 400.0
    assert scarce.start_s[2] >= 555.0


def test_devices_and_measured_watts_count() -> None:
    """A GPU draws 50 W beside a CPU of 10 W: 36,000 J in 600 s. 175 W as measured contain the 100 W
    of the idle node: 45,000 J."""
    on = machine(2, gpus=1)
    gpu, measured = {"tasks": 1, "gpus": 1}, {"tasks": 1, "power_per_node_w": 175.0}
    for job, needs_j in ((gpu, 36_000.0), (measured, 45_000.0)):
        found = schedule(on, joules(on, needs_j + 1.0, 1000.0), job)
        assert found.state.tolist() == [RAN]
        found = schedule(on, joules(on, needs_j - 1.0, 1000.0, carry="charge-now"), job)
        assert found.state.tolist() == [REFUSED]
        assert found.alone_w.tolist() == [needs_j / 600.0]


def test_a_job_that_no_period_has_room_for_is_refused_or_held_and_blocks_nobody() -> None:
    """1,980 s at 80 W fill a whole period with 80,000 J."""
    on = machine(2)
    large = {"tasks": 8, "min_nodes": 2, "run_s": 1980.0, "limit_s": 1980.0}
    for hold, state in ((False, REFUSED), (True, NEVER)):
        found = schedule(on, joules(on, 50_000.0, 1000.0, hold=hold), large,
                         {**FULL, "submit_s": 1.0})
        assert found.state.tolist() == [state, RAN]
        assert REASONS[found.reason[0]] == "no period of the energy budget has the joules for it"
        assert found.start_s[1] == 1.0
        assert found.alone_w.tolist() == [80.0, 40.0]
        assert found.alone_s.tolist() == [1980.0, 600.0]


def test_a_job_that_is_put_on_dear_nodes_alone_is_told_so() -> None:
    """The small node comes first by its weight, and is down for good: a job that takes a whole node
    would draw 24,000 J on it, and draws 48,000 J on the large one."""
    on = machine(2, cpus=np.array([4, 8]), weight=np.array([1, 2]))
    asked = requests(on, {"tasks": 1},
                     {"tasks": 1, "min_nodes": 1, "exclusive": True, "submit_s": 10.0})
    down = Outages(np.array([0]), np.array([0.0]), np.array([np.inf]), np.array([False]))
    found = simulate_shared(on, asked, PROMPT, outages=down,
                            budget=joules(on, 30_000.0, 1000.0, carry="charge-now"))
    assert found.state.tolist() == [RAN, NEVER]
    assert REASONS[found.reason[1]] == (
        "no period of the energy budget has the joules for it on the nodes that it would get")
    assert (found.alone_w[1], found.alone_s[1]) == (80.0, 600.0)


ALONE: dict[str, Any] = {"tasks": 1, "min_nodes": 1, "exclusive": True}
"""Whole nodes for 600 s: 24,000 J on one of 4 CPUs, 48,000 J on one of 8."""
CHARGED_J = 30_000.0
"""Enough for one of 4 CPUs, where the period of the start pays."""


def charged(on: SharedMachine, energy_j: float = CHARGED_J) -> JouleBudget:
    return joules(on, energy_j, 1000.0, carry="charge-now")


def nodes_of(found: Schedule, job: int) -> list[int]:
    return found.allocation_node[found.allocation_job == job].tolist()


@pytest.mark.parametrize("scheduler", ["builtin", "backfill"])
def test_nodes_that_no_period_has_the_joules_for_are_passed_over(scheduler: str) -> None:
    """The large node comes first by its weight. A job that does not need it whole gets it."""
    on = machine(2, cpus=np.array([8, 4]), weight=np.array([1, 2]))
    rules = replace(PROMPT, scheduler=scheduler)
    found = schedule(on, charged(on), ALONE, {"tasks": 1, "submit_s": 1.0}, rules=rules)
    assert found.state.tolist() == [RAN, RAN]
    assert [nodes_of(found, job) for job in (0, 1)] == [[1], [0]]
    assert found.alone_w.tolist() == [40.0, 10.0]
    rich = schedule(on, charged(on, 50_000.0), ALONE, rules=rules)
    assert nodes_of(rich, 0) == [0]


@pytest.mark.parametrize("scheduler", ["builtin", "backfill"])
def test_a_cheap_node_that_sleeps_is_woken_where_those_awake_are_too_dear(scheduler: str) -> None:
    """Nodes sleep after 30 s, but for a large one, which would be taken first for that."""
    on = machine(3, cpus=np.array([4, 8, 8]), weight=np.array([1, 2, 2]))
    rules = replace(PROMPT, scheduler=scheduler, suspend_time_s=30.0, resume_timeout_s=60.0,
                    suspend_excluded=("n2",))
    jobs = ({"tasks": 1, "run_s": 1.0, "limit_s": 60.0}, {**ALONE, "submit_s": 200.0})
    assert nodes_of(simulate_shared(on, requests(on, *jobs), rules), 1) == [2]
    found = schedule(on, charged(on), *jobs, rules=rules)
    assert nodes_of(found, 1) == [0]
    assert 260.0 <= found.start_s[1] <= 264.0


@pytest.mark.parametrize(("scheduler", "start_s"), [("builtin", 500.0), ("backfill", 1000.0)])
def test_a_cheap_node_is_waited_for_while_the_dear_ones_are_free(
    scheduler: str, start_s: float
) -> None:
    """It is taken until 500 s by a job of 5,000 J. Backfill lets one of 12,000 J pass, after which
    the next period has to pay."""
    on = machine(2, cpus=np.array([4, 8]), weight=np.array([1, 2]))
    found = schedule(on, charged(on), {"tasks": 1, "run_s": 500.0, "limit_s": 500.0},
                     {**ALONE, "submit_s": 10.0}, {"tasks": 2, "submit_s": 20.0},
                     rules=replace(PROMPT, scheduler=scheduler, bf_interval_s=30.0))
    assert nodes_of(found, 1) == [0]
    assert start_s <= found.start_s[1] <= start_s + 60.0


def test_of_several_nodes_only_as_many_are_dear_as_a_period_has_joules_for() -> None:
    """Three nodes of 8 CPUs come first, which are 144,000 J, two of them and one of 4 120,000 J,
    one and two 96,000 J."""
    on = machine(5, cpus=np.array([8, 8, 8, 4, 4]), weight=np.array([1, 1, 1, 2, 2]))
    three = {**ALONE, "tasks": 3, "min_nodes": 3, "max_nodes": 3}
    for energy_j, nodes in ((150_000.0, [0, 1, 2]), (130_000.0, [1, 2, 3]), (100_000.0, [2, 3, 4])):
        found = schedule(on, charged(on, energy_j), three)
        assert sorted(nodes_of(found, 0)) == nodes
    assert schedule(on, charged(on, 90_000.0), three).state.tolist() == [REFUSED]


def test_the_cheap_half_of_a_period_is_waited_for() -> None:
    """Slots of an hour at 2 and at 1: what both jobs need fits into the cheap one, so that the dear
    one is planned with idle power alone."""
    on = machine(2)
    cost = Signal(np.array([0.0, 3600.0]), np.array([2.0, 1.0]))
    found = schedule(on, joules(on, 100_000.0, 7200.0, cost=cost), FULL, FULL)
    assert found.start_s.tolist() == [3600.0, 3600.0]


def test_the_last_slot_that_could_have_a_job_does_not_hold_it_back() -> None:
    """100,000 J make 28 W in an hour, and the job draws 40 W: in the first hour it waits for the
    second, and in that one, of whatever price, it starts at once."""
    on = machine(2)
    cost = Signal(np.array([0.0, 3600.0]), np.array([1.0, 2.0]))
    small = {"tasks": 1, "run_s": 10.0, "limit_s": 60.0}
    for submit_s, start_s in ((0.0, 3600.0), (4000.0, 4000.0)):
        found = schedule(on, joules(on, 100_000.0, 7200.0, cost=cost), small,
                         {**FULL, "submit_s": submit_s})
        assert found.start_s.tolist() == [0.0, start_s]


def test_a_slot_has_its_watts_for_as_many_jobs_as_they_are_enough_for() -> None:
    """All of 300,000 J are planned for the cheap first hour, 83 W: two jobs of 40 W at a time."""
    on = machine(3)
    cost = Signal(np.array([0.0, 3600.0]), np.array([1.0, 2.0]))
    found = schedule(on, joules(on, 300_000.0, 7200.0, cost=cost), FULL, FULL, FULL)
    assert found.start_s.tolist() == [0.0, 0.0, 600.0]


@pytest.mark.parametrize("events", [(), (350.0,), (300.0, 350.0, 400.0)])
def test_a_slot_is_planned_as_it_was_when_it_began(events: tuple[float, ...]) -> None:
    """The cheapest of three slots, of 300, 300 and 400 s, comes first. Nothing but 40 J is drawn of
    24,000 J by 300 s: 80 W for 300 s. At 450 s that would be 160 W for the other half of the slot,
    enough for four nodes; they wait for the third slot, the last that could have them."""
    on = machine(4)
    cost = Signal(np.array([0.0, 300.0, 600.0]), np.array([1.0, 2.0, 3.0]))
    short = {"tasks": 1, "run_s": 1.0, "limit_s": 60.0}
    found = schedule(on, joules(on, 24_040.0, 1000.0, cost=cost), short,
                     *({**short, "submit_s": submit_s} for submit_s in events),
                     {"tasks": 16, "min_nodes": 4, "submit_s": 450.0, "run_s": 100.0,
                      "limit_s": 120.0})
    assert found.start_s[-1] == 600.0


def test_unspent_joules_expire_or_are_carried_on() -> None:
    """A job of 80 W for 900 s, 72,000 J, with 40,000 J in a period: two have to be saved up."""
    on = machine(2)
    job = {"tasks": 8, "min_nodes": 2, "run_s": 900.0, "limit_s": 900.0}
    lost = schedule(on, joules(on, 40_000.0, 1000.0, carry="charge-now"), job)
    assert lost.state.tolist() == [REFUSED]
    now = joules(on, 40_000.0, 1000.0, carry="charge-now", unspent="carry")
    kept = schedule(on, now, job)
    assert kept.start_s.tolist() == [1000.0]
    assert kept.charged_period.tolist() == [1]
    assert kept.charged_j.tolist() == [72_000.0]


def test_who_pays_for_a_job_that_runs_on() -> None:
    """Two jobs of 40 W for 1,800 s begin at 500 s: 20,000 J each in the first period, 40,000 J in
    the second, 12,000 J in the third."""
    on = machine(2)
    jobs = [{"tasks": 1, "run_s": 10.0, "limit_s": 60.0}]
    jobs += [{**FULL, "submit_s": 500.0, "run_s": 1800.0, "limit_s": 1800.0}] * 2
    starts = {carry: schedule(on, joules(on, 45_000.0, 1000.0, carry=carry), *jobs).start_s[1:]
              for carry in ("forbid", "allow")}
    assert starts["allow"].tolist() == [500.0, 500.0]
    assert starts["forbid"][0] == 500.0
    assert starts["forbid"][1] >= 2300.0
    charged = schedule(on, joules(on, 80_000.0, 1000.0, carry="charge-now"), *jobs)
    assert charged.start_s[1:].tolist() == [500.0, 1000.0]
    assert charged.charged_period.tolist() == [0, 1]
    assert charged.charged_j.tolist() == [72_000.0 + 600.0, 72_000.0]


def test_a_period_that_drew_more_than_it_had_leaves_no_debt() -> None:
    """Jobs may run on: four of them draw 16,000 J of the first period and 160,000 of the
    second. Nothing is carried on from that one: the third has its 30,000 J, enough for the last."""
    on = machine(4)
    long = {**FULL, "submit_s": 900.0, "run_s": 1100.0, "limit_s": 1100.0}
    found = schedule(on, joules(on, 30_000.0, 1000.0, carry="allow", unspent="carry"),
                     {"tasks": 1, "run_s": 10.0, "limit_s": 60.0}, long, long, long, long,
                     {**FULL, "submit_s": 1500.0})
    assert found.start_s.tolist() == [0.0, 900.0, 900.0, 900.0, 900.0, 2000.0]


@pytest.mark.parametrize("mode", [REQUEUE, SUSPEND])
def test_joules_of_lost_runs_count(mode: int) -> None:
    """The low job drew 40 W for 300 s when the high one took its node. Requeued it asks for all of
    its 600 s again, suspended for the other half."""
    on = machine(1, partitions=[[0], [0]])
    on = replace(on, partitions=replace(on.partitions, tier=np.array([1, 2]),
                                        preempt_mode=np.array([mode, 0])))
    rules = replace(PROMPT, preempt="partition")
    low = {**FULL, "requeue": True}
    high = {**FULL, "partition": 1, "submit_s": 300.0, "run_s": 100.0, "limit_s": 100.0}
    # 12,000 J of the lost run and 4,000 J of the high job leave 12,000 of 28,000 J.
    found = schedule(on, joules(on, 28_000.0, 3600.0), low, high, rules=rules)
    assert found.start_s[1] == 300.0
    assert found.state.tolist() == [RAN, RAN]
    if mode == SUSPEND:
        assert found.gap_to_s.tolist() == [pytest.approx(400.0, abs=2.0)]
    else:
        assert found.start_s[0] >= 3300.0  # from then on half of it is of the next period


def test_a_budget_and_a_cap_hold_together() -> None:
    """Three jobs: joules for two in a period, and watts for one at a time."""
    on = machine(3)
    cap = Signal.constant(345.0, "W")
    found = schedule(on, joules(on, 50_000.0, 2000.0), FULL, FULL, FULL, cap=cap)
    assert found.start_s[0] == 0.0
    assert 600.0 <= found.start_s[1] <= 602.0
    assert found.start_s[2] == 2000.0
    assert found.event_power_w.max() <= 345.0


def test_nodes_are_planned_for_a_job_without_joules_from_the_next_slot_on() -> None:
    """Job 0 draws 60,000 of 73,000 J, so that job 1, of 80 W, has no joules before 837 s, and the
    next slot begins at 1,000 s. Job 2 would keep a node beyond that and waits behind it; job 3 is
    over in time."""
    on = machine(2)
    jobs = [{**FULL, "power_per_node_w": 700.0, "run_s": 100.0, "limit_s": 120.0},
            {"tasks": 8, "min_nodes": 2, "submit_s": 1.0, "run_s": 900.0, "limit_s": 900.0},
            {"tasks": 1, "submit_s": 2.0, "run_s": 1100.0, "limit_s": 1100.0},
            {"tasks": 1, "submit_s": 3.0, "run_s": 300.0, "limit_s": 300.0}]
    found = schedule(on, joules(on, 73_000.0, 1000.0), *jobs)
    assert found.start_s[1] == 1000.0
    assert found.start_s[2] >= 1000.0
    assert found.start_s[3] < 700.0


def test_nobody_waits_for_slots_for_ever() -> None:
    """A job that the cap has no room for, under a budget that has: the simulation ends."""
    on = machine(1)
    found = schedule(on, joules(on, 100_000.0, 1000.0), FULL, cap=Signal.constant(120.0, "W"))
    assert found.state.tolist() == [NEVER]
    assert REASONS[found.reason[0]] == "the power cap leaves no room for it"
