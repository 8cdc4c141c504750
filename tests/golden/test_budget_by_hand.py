"""Energy budgets of whole nodes, worked out by hand.

Nodes draw 100 W idle and 300 W busy, so that a busy node costs 200 J a second above idle. Budgets
are given as joules above idle for each period of 1,000 s; the first begins at 0 s.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.golden.lab import NODE, joules, spans, table
from tests.support.workloads import compose
from wattline.analysis.series import power_steps
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.model.views.build import power_view
from wattline.physics.budget import EnergyBudget
from wattline.physics.budget_terms import BudgetTerms
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.admission.budget import Budget
from wattline.policies.admission.budget_setup import budgeted
from wattline.policies.placement.bounded_setup import bounded

PERIOD_S = 1000.0
FOUR = Machine.uniform(4, NODE, nodes_per_rack=2)


def budget_of(above_j: float, jobs: JobTable, machine: Machine = FOUR,
              cost: Signal | None = None, **terms: str) -> Budget:
    """Jobs run at full speed; a period is one slot, unless the cost has steps."""
    asked = EnergyBudget(machine.power_w_idle * PERIOD_S + above_j, 0.0, PERIOD_S,
                         cost or Signal.constant(1.0))
    return budgeted(machine, asked, adaptive(machine, strategy=Strategy.IDLE, jobs=jobs), 1,
                    BudgetTerms(**terms))


def play(above_j: float, *rows: tuple, machine: Machine = FOUR, **terms: str) -> Run:
    jobs = table(*rows)
    return simulate(jobs, machine, compose(admission=budget_of(above_j, jobs, machine, **terms)))


def starts(run: Run) -> list[float]:
    return [start_s for start_s, _ in spans(run)]


def above_idle_j(run: Run, periods: int) -> list[float]:
    """Return what each period drew above the 400 W of the idle machine."""
    steps = power_steps(run)
    total_j = np.append(0.0, np.cumsum((steps.value - 400.0) * np.diff(steps.edge_s)))
    edges = PERIOD_S * np.arange(periods + 1)
    return np.diff(np.interp(edges, steps.edge_s, total_j)).round(6).tolist()


def test_three_periods_have_the_joules_for_one_job_each() -> None:
    """A node for 600 s is 120,000 J; 150,000 J have room for one of them, whatever is free."""
    run = play(150_000.0, (0, 1, 600), (1, 1, 600), (2, 1, 600))
    assert starts(run) == [0, 1000, 2000]
    assert joules(run) == [180_000.0] * 3
    assert above_idle_j(run, 3) == [120_000.0] * 3


@pytest.mark.parametrize(("above_j", "second_s"), [(239_999.0, 600), (240_000.0, 1)])
def test_a_period_may_be_used_to_its_last_joule(above_j: float, second_s: float) -> None:
    """Two jobs of 120,000 J; with a joule less the second runs on into the next period."""
    assert starts(play(above_j, (0, 1, 600), (1, 1, 600))) == [0, second_s]


@pytest.mark.parametrize(("above_j", "start_s"), [(219_999.0, 500), (220_000.0, 400)])
def test_a_job_over_the_edge_of_periods_needs_the_joules_of_both(
    above_j: float, start_s: float
) -> None:
    """A draws 100,000 J until 500 s. From 400 s to 1,300 s B needs 120,000 J of the first period
    and 60,000 J of the second; from 500 s on it needs 100,000 and 80,000 J."""
    assert starts(play(above_j, (0, 1, 500), (400, 1, 900))) == [0, start_s]


@pytest.mark.parametrize(("run_s", "start_s"), [(600, 900), (601, 1500)])
def test_what_a_running_job_is_promised_in_the_next_period_is_missing_there(
    run_s: float, start_s: float
) -> None:
    """Of 200,000 J each A, from 400 s to 1,500 s, is promised 120,000 J of the first period and
    100,000 J of the second. B at 900 s needs 20,000 J of the first and, for 600 s, the other
    100,000 J of the second. A second longer it waits for A's end: then 100,000 J are left in the
    second period for its 500 s there."""
    assert starts(play(200_000.0, (400, 1, 1100), (900, 1, run_s))) == [400, start_s]


def test_the_period_of_a_start_may_be_charged_with_all_of_a_job() -> None:
    """A, B and C start in the first period for 100,000, 100,000 and 60,000 J. D, of 100,000 J,
    finds 40,000 of 300,000 J left, although the others run on into the second period; that one has
    all of its joules."""
    run = play(300_000.0, (900, 1, 500), (901, 1, 500), (902, 1, 300), (903, 1, 500),
               carry="charge-now")
    assert starts(run) == [900, 901, 902, 1000]


def test_a_job_that_finds_no_nodes_is_charged_nothing() -> None:
    """Each rack of two nodes may have one busy. A holds rack 0 until 600 s; B, of two nodes, has
    its joules (240,000 of the 280,000 left) and finds one node: it waits. C, of 119,600 J, starts
    on the other rack at once; had B been charged, 40,000 J would be left for it. At 600 s B has its
    nodes, but 160,400 J: it starts with the next period."""
    jobs = table((0, 1, 600), (1, 2, 600), (2, 1, 598))
    racks = bounded(power_view(FOUR, limits_w={"rack0": 400.0, "rack1": 400.0}), FOUR)
    policy = compose(admission=budget_of(400_000.0, jobs, carry="charge-now"), placement=racks)
    assert starts(simulate(jobs, FOUR, policy, Rules(choose_nodes=True))) == [0, 1000, 2]


def test_a_period_that_drew_more_than_it_had_leaves_no_debt() -> None:
    """Four nodes busy from 900 s to 2,000 s draw 80,000 J of the first
    period and 800,000 J of the second. 70,000 J are carried on from the first, and nothing from
    the second: the third has its 150,000 J, enough for E's 120,000 J."""
    run = play(150_000.0, (0, 1, 1), *((900, 1, 1100),) * 4, (1500, 1, 600),
               carry="allow", unspent="carry")
    assert starts(run) == [0, 900, 900, 900, 900, 2000]
    assert above_idle_j(run, 3) == [80_200.0, 800_000.0, 120_000.0]


def test_what_a_period_leaves_is_carried_on_once() -> None:
    """A draws 40,000 of 100,000 J in the first period, which leaves 60,000 J. B needs 160,000 J in
    the second: it has just as much. C, of 100,000 J, has those of the third."""
    run = play(100_000.0, (0, 1, 200), (300, 1, 800), (301, 1, 500), unspent="carry")
    assert starts(run) == [0, 1000, 2000]
    assert above_idle_j(run, 3) == [40_000.0, 160_000.0, 100_000.0]


def test_joules_are_saved_up_over_several_periods() -> None:
    """Two nodes for 600 s are 240,000 J: of 100,000 J each, the third period is the first with so
    many."""
    run = play(100_000.0, (0, 2, 600), unspent="carry")
    assert starts(run) == [2000]


def test_what_a_period_leaves_expires_unless_it_is_carried_on() -> None:
    """B needs 120,000 J, of which no period has more than 100,000 J."""
    run = play(100_000.0, (0, 1, 200), (300, 1, 600))
    assert run.refused.tolist() == [False, True]


def test_a_level_above_the_chosen_one_is_taken_where_it_alone_has_the_joules() -> None:
    """Two nodes under 390 W, 190 W above idle. At half speed a node draws 160 W more, at 0.8 170 W
    and at full speed 200 W, which does not fit: the rule says half speed, 192,000 J in 1,200 s,
    where the period has 150,000 J. At 0.8 it is 170 W for 750 s, 127,500 J: it runs at that."""
    two = Machine.uniform(2, NODE)
    jobs = table((0, 1, 600))
    asked = EnergyBudget(two.power_w_idle * PERIOD_S + 150_000.0, 0.0, PERIOD_S,
                         Signal.constant(1.0))
    levels = adaptive(two, strategy=Strategy.DVFS)
    last = levels.speed.size - 1
    levels = levels._replace(
        speed=np.concatenate([np.full(last - 1, 0.5), [0.8, 1.0]]),
        dynamic=np.concatenate([np.full(last - 1, 0.8), [0.85, 1.0]]))
    policy = compose(admission=budgeted(two, asked, levels))
    run = simulate(jobs, two, policy, Rules(cap_w=Signal.constant(390.0, "W")))
    assert spans(run) == [(0, pytest.approx(750.0))]
    assert joules(run) == [pytest.approx(750.0 * 270.0)]


@pytest.mark.parametrize(("costs", "submit_s", "start_s"), [
    ((2.0, 1.0), 0, 500), ((2.0, 1.0), 499, 500), ((2.0, 1.0), 500, 500), ((1.0, 2.0), 0, 0),
    ((1.0, 2.0), 600, 600)])
def test_a_dear_slot_is_left_to_who_finds_no_other(
    costs: tuple[float, float], submit_s: float, start_s: float
) -> None:
    """Two slots of 500 s. 100,000 J fit into the cheap one, so that the dear one has idle power
    alone: a job of 80,000 J waits for the cheap one, unless that is over. One of no joules at 0 s
    lets the period begin."""
    jobs = table((0, 1, 0), (submit_s, 1, 400))
    cost = Signal.from_steps([(0, costs[0]), (500, costs[1])], "EUR")
    run = simulate(jobs, FOUR, compose(admission=budget_of(100_000.0, jobs, cost=cost)))
    assert starts(run)[1] == start_s


THIRDS = Signal.from_steps([(0, 1.0), (300, 2.0), (600, 3.0)], "EUR")
"""Three slots, of 300, 300 and 400 s, the cheapest first: each may have what it can draw."""


@pytest.mark.parametrize("events", [(), (350,), (300, 350, 400)])
def test_a_slot_is_planned_as_it_was_when_it_began(events: tuple[float, ...]) -> None:
    """Nothing is drawn of 120,000 J by 300 s: 400 W for 300 s. At 450 s that would be 800 W for
    the other half of the slot, enough for four nodes; they wait for the third slot, the last that
    could have them, whatever else was asked for in the second."""
    jobs = table((0, 1, 0), *((submit_s, 1, 0) for submit_s in events), (450, 4, 140))
    run = simulate(jobs, FOUR, compose(admission=budget_of(120_000.0, jobs, cost=THIRDS)))
    assert starts(run)[-1] == 600


def test_what_was_drawn_since_a_slot_began_is_not_missing_in_its_plan() -> None:
    """A node draws 60,000 J until 300 s and 30,000 J more until 450 s, when it ends early. Of
    180,000 J the second slot began with 120,000: 400 W, in which B's two nodes start at 450 s.
    By 450 s 90,000 J were left for 150 s, 600 W, in which three would: C waits."""
    jobs = JobTable.build(submit_s=[0, 450, 451], run_s=[450, 100, 10], procs=[1, 2, 1],
                          requested_s=[450, 100, 10])
    run = simulate(jobs, FOUR, compose(admission=budget_of(180_000.0, jobs, cost=THIRDS)))
    assert starts(run) == [0, 450, 550]


def test_a_slot_at_full_power_holds_no_job_back_that_draws_more_than_its_nodes_are_made_for(
) -> None:
    """Four busy nodes draw 800 W above idle, for which both slots have their 400,000 J. A job that
    was measured at 1,600 W finds 160,000 J for its 100 s, and does not wait for the cheap slot."""
    jobs = JobTable.build(submit_s=[0], run_s=[100], procs=[4], power_w=[2000.0])
    cost = Signal.from_steps([(0, 2.0), (500, 1.0)], "EUR")
    run = simulate(jobs, FOUR, compose(admission=budget_of(900_000.0, jobs, cost=cost)))
    assert starts(run) == [0]


def test_a_job_that_may_pass_is_tried_again_when_time_has_moved_its_joules() -> None:
    """400,000 J, of which A's two nodes are promised 360,000 until 900 s. B, of three nodes, waits
    for them, and C may pass it on the fourth: from 800 s on, when no more than 40,000 J of its
    1,000 s at 200 W are of this period. At 850 s something happens that gives nothing back."""
    jobs = table((0, 2, 900), (1, 3, 10), (2, 1, 1000), (850, 1, 0))
    run = simulate(jobs, FOUR, compose(admission=budget_of(400_000.0, jobs)))
    assert starts(run) == [0, 900, 850, 850]


def test_the_first_that_waits_is_expected_when_a_slot_begins_that_may_have_its_watts() -> None:
    """Of 450,000 J the second slot, the cheap one, gets the 400,000 that it can draw, and the first
    100 W, which A draws until 400 s. B, of four nodes, can have its 800 W in the second slot, from
    500 s on. C draws nothing above idle, but would hold one of the four from 2 s to 702 s."""
    jobs = JobTable.build(submit_s=[0, 1, 2], run_s=[400, 100, 700], procs=[1, 4, 1],
                          power_w=[200.0, 1200.0, 100.0])
    cost = Signal.from_steps([(0, 2.0), (500, 1.0)], "EUR")
    run = simulate(jobs, FOUR, compose(admission=budget_of(450_000.0, jobs, cost=cost)))
    assert starts(run) == [0, 500, 600]
