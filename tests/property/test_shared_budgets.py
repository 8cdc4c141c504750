"""Energy budgets of random machines with shared nodes are kept, by sums from the schedule alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.examples import costing, seeds
from tests.support.shared import machine, requests
from tests.support.shared_budgeted import budgeted_columns, budgeted_run, joules, random_budget
from tests.support.shared_judged import findings
from tests.support.shared_random import RULES, random_machine, random_requests
from tests.support.workloads import compose

from wattline.engine.prepare import Rules as EngineRules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.signal import Signal
from wattline.physics.budget import EnergyBudget
from wattline.physics.budget_terms import BudgetTerms
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.admission.budget_setup import budgeted
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order.fcfs import Fcfs
from wattline.shared_nodes.bound_sums import stays_of
from wattline.shared_nodes.joule_budget import JouleBudget
from wattline.shared_nodes.joules_alone import NO_JOULES
from wattline.shared_nodes.outcome import NEVER, REFUSED, Schedule
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared


def edges_of(budget: JouleBudget, found: Schedule) -> Any:
    last_s = max(float(np.nanmax(found.end_s, initial=budget.start_s)),
                 float(found.event_time_s.max(initial=budget.start_s)))
    count = int((last_s - budget.start_s) // budget.length_s) + 1
    return budget.start_s + budget.length_s * np.arange(count + 1)


def logged_j(found: Schedule, edge_s: Any) -> Any:
    """Return what the machine drew in each period by its power after each event."""
    until_s = edge_s[-1]
    times = np.append(found.event_time_s, until_s)
    total_j = np.append(0.0, np.cumsum(found.event_power_w * np.diff(times)))
    return np.diff(np.interp(edge_s, times, total_j))


def held_j(on: Any, found: Schedule, edge_s: Any) -> Any:
    """The same from who drew what on which node from when to when, beside idle nodes."""
    held = stays_of(found)
    watts, begin_s, end_s = held.watts_w, held.from_s, held.to_s
    drawn_j = []
    for from_s, until_s in pairwise(edge_s):
        shared_s = np.clip(np.minimum(end_s, until_s) - np.maximum(begin_s, from_s), 0.0, None)
        drawn_j.append(float(on.nodes.idle_w.sum()) * (until_s - from_s)
                       + float(np.dot(watts, shared_s)))
    return np.array(drawn_j)


def given_j(budget: JouleBudget, drawn_j: Any) -> Any:
    allowed_j = np.full(len(drawn_j), budget.energy_j)
    if budget.unspent:
        for at in range(1, len(drawn_j)):
            allowed_j[at] += max(allowed_j[at - 1] - drawn_j[at - 1], 0.0)
    return allowed_j


@costing(400)
@given(seed=st.integers(0, 10_000))
@example(seed=12)  # requeues
@example(seed=52)  # the same, and nodes that sleep
@example(seed=7)  # suspensions, and nodes that sleep
def test_no_period_draws_more_and_nothing_is_lost(seed: int) -> None:
    on, asked, rules, budget, cap, found = budgeted_run(seed)
    assert findings(on, asked, rules, found, cap, budget=budget) == []
    edge_s = edges_of(budget, found)
    drawn_j = logged_j(found, edge_s)
    assert np.all(drawn_j <= given_j(budget, drawn_j) * (1 + 1e-9) + 1e-6)
    sleeps = rules.suspend_time_s >= 0.0
    if not sleeps:
        assert np.allclose(held_j(on, found, edge_s), drawn_j)
    # Joules of jobs and of idle nodes make up those of the machine.
    idle_j = float(on.nodes.idle_w.sum()) * (edge_s[-1] - edge_s[0])
    if not (sleeps or found.requeues.any() or found.gap_job.size):
        node = found.allocation_node
        part_w = found.allocation_cpus / on.nodes.cpus[node] * on.nodes.idle_w[node]
        own_w = np.bincount(found.allocation_job, part_w, len(found.start_s))
        run_s = np.nan_to_num(found.end_s - found.start_s)
        above_j = found.energy_j - own_w * run_s
        assert np.isclose(drawn_j.sum(), idle_j + above_j.sum())
    # Every job that would run without a budget runs, or waits for one that has no room in it.
    free = simulate_shared(on, asked, rules, cap=cap)
    missing = np.isfinite(free.end_s) & ~np.isfinite(found.end_s)
    waits = np.zeros(len(missing), bool)
    if asked.dependencies is not None:
        waits[asked.dependencies.job] = True
    assert np.all(np.isin(found.state[missing], (REFUSED, NEVER)))
    assert np.all((found.reason[missing] == NO_JOULES) | waits[missing])


@costing(450)
@given(seed=st.integers(0, 10_000))
def test_periods_that_pay_for_what_starts_in_them_pay_no_more_than_they_have(seed: int) -> None:
    on, asked, rules, budget, cap, found = budgeted_run(seed, "charge-now")
    assert findings(on, asked, rules, found, cap, budget=budget) == []
    charged_j = np.full(len(edges_of(budget, found)), budget.min_w * budget.length_s)
    charged_j[found.charged_period] += found.charged_j
    assert np.all(charged_j <= given_j(budget, charged_j) * (1 + 1e-9))
    if np.isfinite(found.start_s).any():
        assert found.charged_j.sum() > 0.0


@costing(330)
@given(seed=st.integers(0, 10_000))
def test_a_budget_without_end_changes_nothing(seed: int) -> None:
    on = random_machine(seed)
    asked = random_requests(on, seed)
    rules = list(RULES.values())[seed % len(RULES)]
    endless = joules(on, 1e15, 3000.0, start_s=float(asked.submit_s[0]))
    free = simulate_shared(on, asked, rules)
    found = simulate_shared(on, asked, rules, budget=endless)
    assert np.array_equal(found.start_s, free.start_s, equal_nan=True)
    assert np.array_equal(found.end_s, free.end_s, equal_nan=True)
    assert np.array_equal(found.allocation_node, free.allocation_node)


def test_budgets_of_these_tests_hold_jobs_back() -> None:
    """Without one some period draws more than the budget allows."""
    over = 0
    drawn = seeds(4)
    for seed in drawn:
        on = random_machine(seed)
        asked = random_requests(on, seed)
        rules = list(RULES.values())[seed % len(RULES)]
        budget = random_budget(on, asked, seed)
        free = simulate_shared(on, asked, replace(rules, suspend_time_s=-1.0))
        drawn_j = logged_j(free, edges_of(budget, free))
        over += bool(np.any(drawn_j > given_j(budget, drawn_j) * (1 + 1e-9)))
    assert over > len(drawn) / 2


@pytest.mark.compiled
def test_compiled_and_plain_schedules_are_equal(plain: Any) -> None:
    for seed in range(10):
        carry = ("forbid", "charge-now", "allow")[seed % 3]
        assert budgeted_columns(seed, carry) == plain.call(
            "tests.support.shared_budgeted", "budgeted_columns", seed, carry)


class WholeNodes(NamedTuple):
    """Starts of the same jobs first come, first served: by the engine of whole nodes, by the rules
    for shared nodes where each job takes whole ones, and by these without a budget."""

    whole_s: Any
    shared_s: Any
    free_s: Any
    refused: Any
    """Jobs that no period has room for, by the engine."""


def whole_node_starts(seed: int, carry: str, unspent: str) -> WholeNodes:
    """Of jobs that some period has room for: the engine tries its queue also when it refuses one,
    which is nothing that Slurm would be told of."""
    everyone = _whole_node_starts(seed, carry, unspent, np.arange(18))
    assert np.array_equal(everyone.refused, np.isnan(everyone.shared_s))
    return _whole_node_starts(seed, carry, unspent, np.flatnonzero(~everyone.refused))


def _whole_node_starts(seed: int, carry: str, unspent: str, kept: Any) -> WholeNodes:
    draw = np.random.default_rng(seed)
    units, count = 6, 18
    nodes = draw.integers(1, units + 1, count)
    limit_s = 60.0 * draw.integers(1, 16, count)
    run_s = np.ceil(limit_s * draw.choice([0.4, 1.0], count))
    submit_s = np.sort(draw.integers(0, 3000, count)).astype(float)
    submit_s -= submit_s[kept[0]] if kept.size else 0.0
    length_s = float(draw.choice([900.0, 1800.0, 9000.0]))
    steps_s = np.arange(0.0, length_s, length_s / draw.integers(1, 5))
    cost = Signal(steps_s, draw.integers(1, 6, steps_s.size).astype(float))
    above_j = length_s * units * 40.0 * float(draw.uniform(0.3, 0.9))
    on = machine(units)
    asked = requests(on, *[
        {"tasks": 4 * int(nodes[row]), "min_nodes": int(nodes[row]), "max_nodes": int(nodes[row]),
         "submit_s": submit_s[row], "run_s": run_s[row], "limit_s": limit_s[row]}
        for row in kept.tolist()])
    budget = joules(on, above_j, length_s, cost=cost, carry=carry, unspent=unspent)
    # The queue is looked at when something happens, as by the engine, and at no other times.
    rules = Rules(scheduler="builtin", kill_late_s=0.0, batch_sched_delay_s=0.0,
                  sched_interval_s=1e6)
    shared = simulate_shared(on, asked, rules, budget=budget)
    whole = Machine.uniform(units, NodeClass(power_w_idle=100.0, power_w_active=140.0))
    jobs = JobTable.build(submit_s=submit_s, run_s=run_s, requested_s=limit_s,
                          procs=nodes).take(kept)
    period = EnergyBudget(budget.energy_j, 0.0, length_s, cost)
    admission = budgeted(whole, period, adaptive(whole, strategy=Strategy.IDLE, jobs=jobs), 1,
                         BudgetTerms(carry, unspent))
    run = simulate(jobs, whole, compose(order=Fcfs(), backfill=NoBackfill(), admission=admission),
                   EngineRules(overrun="kill"))
    return WholeNodes(run.schedule.start_s, shared.start_s,
                      simulate_shared(on, asked, rules).start_s, run.refused)


@costing(60)
@example(seed=1881, unspent="expire", carry="forbid")  # slots begin while a job waits for nodes
@given(seed=st.integers(0, 10_000), unspent=st.sampled_from(["expire", "carry"]),
       carry=st.sampled_from(["forbid", "charge-now", "allow"]))
def test_whole_nodes_start_jobs_as_their_own_engine_does(
    seed: int, carry: str, unspent: str
) -> None:
    found = whole_node_starts(seed, carry, unspent)
    assert np.array_equal(found.whole_s, found.shared_s)


def test_budgets_of_whole_nodes_hold_jobs_back() -> None:
    held = [not np.array_equal(found.shared_s, found.free_s) for found in (
        whole_node_starts(seed, "forbid", "expire") for seed in range(8))]
    assert sum(held) > 4
