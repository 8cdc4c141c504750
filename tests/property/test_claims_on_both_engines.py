"""Claims on a machine of whole nodes: the rules for shared nodes choose as those for whole nodes.

Both take jobs as they come, and none passes another: on the one side a queue without backfill, on
the other Slurm's main pass, which looks at every submission and every end at once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.shared import machine, requests
from tests.support.shared_judged import findings

from wattline.engine.prepare import Rules as EngineRules
from wattline.engine.simulate import simulate
from wattline.engine.truth import TrueClaims
from wattline.engine.world import Nature
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.run import Run
from wattline.physics.claims import ClaimBook, Objective, npb_claims
from wattline.policies.admission.none import NoLimit
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.configuration.claimed import Claimed
from wattline.policies.configuration.claimed_setup import Options, options_of
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.claimed import ClaimedNodes
from wattline.policies.regulation.none import NoRegulation
from wattline.shared_nodes.class_options import ClassOptions
from wattline.shared_nodes.outcome import Schedule
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

COUNTS = {"odroid-c1": 2, "odroid-c2": 2, "xeon": 3}
IDLE_W = 2.0
KIND = np.repeat(np.arange(3), list(COUNTS.values()))
PROMPT = Rules(scheduler="builtin", select="linear")


def book() -> ClaimBook:
    """The shipped claims, made longer: a pass of Slurm's comes 3 s after another at the soonest,
    so everything happens at multiples of 10 s."""
    return ClaimBook(replace(claim, time_s=10.0 * round(10 * claim.time_s) + 10.0,
                             energy_j=100 * claim.energy_j) for claim in npb_claims())


def drawn(seed: int, count: int = 40) -> tuple[JobTable, list[str], list[int]]:
    draw = np.random.default_rng(seed)
    names = book().applications
    code = draw.integers(0, len(names), count)
    nodes = draw.integers(1, 3, count).tolist()
    submit_s = 10.0 * np.cumsum(draw.integers(1, 60, count))
    return JobTable.build(submit_s=submit_s, run_s=np.ones(count), requested_s=np.full(count, 1e6),
                          procs=nodes, application=code, names={"application": names}), [
                              names[row] for row in code], nodes


def on_whole_nodes(jobs: JobTable, options: Options, rule: Objective, patience: float) -> Run:
    groups = tuple(NodeGroup(NodeClass(name, 1, 1, IDLE_W, 100.0), count)
                   for name, count in COUNTS.items())
    claims = Claimed(options.memory, rule.time_weight, rule.energy_weight, learn=0,
                     patience=patience)
    truth = TrueClaims(options.true_s, options.true_w, np.ones(1))
    policy = Composition(Fcfs(), NoBackfill(), NoLimit(), claims, ClaimedNodes(claims),
                         NoRegulation())
    return simulate(jobs, Machine(groups), policy,
                    EngineRules(choose_nodes=True, nature=Nature(work=truth, answers=truth)))


def on_shared_nodes(
    jobs: JobTable, options: Options, rule: Objective, patience: float, nodes: list[int]
) -> Schedule:
    on = machine(len(KIND), cpus=1)
    on = replace(on, nodes=replace(on.nodes, idle_w=np.full(len(KIND), IDLE_W)))
    asked = requests(on, *({"submit_s": float(submit_s), "limit_s": 1e6, "min_nodes": number,
                            "tasks": number} for submit_s, number in zip(
                                jobs.submit_s, nodes, strict=True)))
    table, rows, first = options.memory.options, [], [0]
    for begin, count in zip(options.memory.first, options.memory.count, strict=True):
        own = range(begin, begin + count)
        scores = {row: rule.time_weight * np.log(table[row].claimed_s)
                  + rule.energy_weight * np.log(table[row].claimed_j) for row in own}
        rows += [(row, scores[row]) for row in sorted(own, key=scores.__getitem__)]
        first.append(len(rows))
    at = np.array([row for row, _ in rows])
    asked = replace(asked, options=ClassOptions(
        class_of_node=KIND, first=np.array(first), kind=np.asarray(table.kind)[at],
        score=np.array([score for _, score in rows]), claimed_s=np.asarray(table.claimed_s)[at],
        run_s=options.true_s[at],
        power_per_node_w=options.true_w[at] / np.asarray(table.units)[at], patience=patience))
    found = simulate_shared(on, asked, PROMPT)
    assert findings(on, asked, PROMPT, found) == []
    return found


@costing(45)
@given(seed=st.integers(0, 10_000), rule=st.sampled_from(["energy", "time", "edp:2"]),
       patience=st.sampled_from([0.0, 1.5]))
def test_both_engines_choose_the_same_classes(seed: int, rule: str, patience: float) -> None:
    jobs, applications, nodes = drawn(seed)
    groups = tuple(NodeGroup(NodeClass(name, 1, 1, IDLE_W, 100.0), count)
                   for name, count in COUNTS.items())
    options = options_of(book(), book(), Machine(groups), applications, nodes)
    objective = Objective.parse(rule)
    whole = on_whole_nodes(jobs, options, objective, patience)
    shared = on_shared_nodes(jobs, options, objective, patience, nodes)
    assert whole.placement is not None
    kinds = {int(job): int(KIND[unit]) for job, unit in zip(
        whole.placement.job, whole.placement.first, strict=True)}
    assert [kinds[job] for job in range(len(jobs))] == [
        int(KIND[shared.allocation_node[shared.allocation_job == job][0]])
        for job in range(len(jobs))]
    assert np.allclose(whole.schedule.start_s, shared.start_s, rtol=1e-9, atol=1e-6)
    assert np.allclose(whole.schedule.energy_j, shared.energy_j)
