"""Nodes that are switched off and on: which ones, and that no job is on them meanwhile."""

from __future__ import annotations

import pytest
from tests.support.choices import planned
from tests.support.plain_process import PlainProcess
from tests.support.told_books import told
from tests.support.workloads import compose

import wattline as wl
from wattline.books import (
    Books,
    CapChanged,
    Ended,
    NodesDown,
    Started,
    Submitted,
    Terms,
    read_journal,
)
from wattline.engine.telling import Teller
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.placement.first_fit import FirstFit

node = NodeClass(power_w_idle=90.0, power_w_active=300.0, power_w_off=5.0, boot_s=60.0,
                 shutdown_s=30.0, boot_power_w=120.0, shutdown_power_w=100.0)
machine = Machine.uniform(8, node)
jobs = JobTable.build(submit_s=[0.0], run_s=[100.0], procs=[1])  # such as will come


def shutting(named):
    axes = {"placement": FirstFit()} if named else {}
    shut = adaptive(machine, strategy=Strategy.SHUT, jobs=jobs)
    policy = compose(admission=shut, **axes)
    terms = Terms(choose_nodes=named)
    return Books.open(machine, policy, terms, cap_w=1400.0, cap_w_max=2400.0), policy, terms


def switched(decisions):
    return [[each.kind, each.control.units, list(each.control.nodes)] for each in decisions
            if each.kind in ("down", "up")]


wave = [Submitted("a", 2, 100.0), Submitted("b", 2, 500.0), Submitted("c", 4, 100.0)]


def test_a_decision_names_the_nodes_that_go_down_and_come_up() -> None:
    """The cap has room for four busy nodes with the others off; when it rises they come back."""
    books, policy, terms = shutting(True)
    down = switched(books.step(0, wave))
    asked = [list(each.control.nodes) for each in books.step(40, [Ended("a")])
             if each.kind == "start"]
    loaded = Books.load(books.save(), machine, policy, terms)
    up = [switched(each.step(50, [CapChanged(2400.0)])) for each in (books, loaded)]
    counted, *_ = shutting(False)
    found = [down, asked, up, switched(counted.step(0, wave)),
             [int(power) for power in books.state.nodes.power]]
    down, _, up, counted, power = found
    assert len(down) == 1
    kind, units, nodes = down[0]
    assert kind == "down"
    assert units == len(nodes) > 0
    assert nodes == list(range(8 - units, 8))
    assert up == [[["up", units, nodes]]] * 2
    assert counted == [["down", units, []]]
    assert power == [0] * (8 - units) + [nodes[0] + 1] * units


def test_no_job_is_placed_on_a_node_that_is_off_or_changing() -> None:
    """Node by node through a simulation that switches nodes under a cap."""
    plain = PlainProcess()
    try:
        found = plain.call("tests.unit.books.test_power_states", "on_dark_nodes")
    finally:
        plain.close()
    jobs, switched, dark = found
    assert jobs > 15
    assert switched > 0
    assert dark == []


def on_dark_nodes() -> list[object]:
    """Jobs that ran, nodes that were switched, and starts on nodes that were not on."""
    ready = planned("power.adaptive, shut", **{"policy.placement": "first-fit"})
    teller = Teller(ready.jobs, ready.machine, ready.policy, ready.rules)
    dark, switched = [], 0

    def watch(now_s, events, decisions, answers) -> None:
        nonlocal switched
        power = teller.books.state.nodes.power
        for each in decisions:
            if each.kind == "start":
                dark.extend([each.job, node] for node in each.control.nodes if power[node])
            elif each.kind in ("down", "up"):
                switched += len(each.control.nodes)

    teller.run(watch)
    return [int((teller.books.state.live.end_s > 0).sum()), switched, dark]


def test_a_node_that_fails_while_it_is_off_is_not_given_to_a_job_when_it_has_booted() -> None:
    books, *_ = shutting(True)
    dark = switched(books.step(0, wave))[0][2]
    books.step(40, [NodesDown(nodes=(dark[0],))])
    books.step(50, [CapChanged(2400.0), Ended("a")])
    books.step(120, [Ended("b")])
    started = [list(each.control.nodes) for each in books.step(130, [Submitted("d", 3, 10.0)])
               if each.kind == "start"]
    clock = books.state.clock[0]
    found = [dark, started, [int(clock.down), int(clock.down_owed), int(clock.changing)]]
    dark, started, counts = found
    assert started
    assert dark[0] not in started[0]
    assert counts == [1, 0, 0]


def test_a_policy_that_takes_over_says_which_nodes_it_switches_on() -> None:
    books, *_ = shutting(True)
    down = switched(books.step(0, wave))
    books.step(40, [])
    other = books.with_policy(compose(placement=FirstFit()))
    found = [down[0][2], switched(other.step(41, [])), switched(other.step(42, []))]
    dark, up, later = found
    assert up == [["up", len(dark), dark]]
    assert later == []


@pytest.mark.parametrize("named", [True, False])
def test_nodes_that_shut_down_while_another_policy_takes_over_boot_again(named: bool) -> None:
    """They are on the way down until 30 s; then they boot, and `c` has room."""
    books, *_ = shutting(named)
    down = switched(books.step(0, wave))
    books.step(1, [Started("a"), Started("b")])
    axes = {"placement": FirstFit()} if named else {}
    other = books.with_policy(compose(**axes))
    kept = Books.load(other.save(), machine, compose(**axes), other.terms)
    seen = []
    for each in (other, kept.with_policy(compose(**axes))):
        steps = [[each.next_s(), each.step(each.next_s(), [])] for _ in range(2)]
        seen.append([steps[0][0], switched(steps[0][1]), steps[1][0], told(steps[1][1])])
    found = [down, seen]
    [[_, units, nodes]], seen = found
    assert seen[0] == [30.0, [["up", units, nodes]], 90.0, [["start", "c"]]]
    assert seen[1] == seen[0]


@pytest.mark.parametrize("strategy", ["shut", "mix"])
def test_books_that_know_no_jobs_beforehand_switch_as_many_nodes_off_as_a_simulation(
    strategy: str, tmp_path
) -> None:
    asked = {"machine": wl.Machine(nodes=16, node_idle_w=90, node_active_w=300),
             "power": wl.Adaptive(strategy=strategy), "cap": "3kW"}
    jobs = JobTable.build(submit_s=[0.0] * 3, run_s=[600.0] * 3, procs=[8] * 3)
    wl.simulate(jobs, **asked, journal=tmp_path / "journal")
    journal = read_journal((tmp_path / "journal").read_text(), "journal")
    simulated = next(entry.decisions for entry in journal.entries() if entry.decisions)
    told = [Submitted(row, 8, 600.0) for row in range(3)]
    decided = wl.open_books(**asked).step(0.0, told)
    assert decided == simulated
    assert any(decision.kind == "down" for decision in decided)
