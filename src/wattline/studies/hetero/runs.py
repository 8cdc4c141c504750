"""From claims to runs of the one engine: the policies that choose, and an order by claims."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.engine.truth import TrueClaims
from wattline.engine.world import Nature
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.run import Run
from wattline.physics.claims import Objective
from wattline.policies.admission.none import NoLimit
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.claimed import Claimed
from wattline.policies.configuration.claimed_setup import Options
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.claimed import ClaimedNodes
from wattline.policies.regulation.none import NoRegulation

FIXED = "default"
"""The rule of a manager that knows no claims: classes in a fixed order, no cap."""


def claimed_run(
    jobs: JobTable, machine: Machine, options: Options, rule: str | Objective,
    *, order: Any = None, learn: bool = True, noise: Any = None, patience: float = 0.0,
) -> tuple[Run, Any]:
    """A run under a rule; the options come back as the runs corrected them."""
    fixed = rule == FIXED
    objective = Objective.parse(rule) if isinstance(rule, str) and not fixed else rule
    weights = (0.0, 0.0, 1.0, 0.0) if fixed else (
        objective.time_weight, objective.energy_weight, 0.0, objective.caution)  # type: ignore[union-attr]
    claims = Claimed(options.memory, *weights, learn=int(learn), patience=patience)
    away = np.ones(1) if noise is None else np.ascontiguousarray(noise, dtype=np.float64)
    truth = TrueClaims(options.true_s, options.true_w, away)
    policy = Composition(order or Fcfs(), Easy(), NoLimit(), claims, ClaimedNodes(claims),
                         NoRegulation())
    rules = Rules(choose_nodes=True, nature=Nature(work=truth, answers=truth))
    run = simulate(jobs, machine, policy, rules)
    return run, run.memories["configuration.memory"].options


def regret_order(options: Options, score: Callable[[Any], float]) -> Any:
    """Keys by what a job loses without its best class: the most to lose goes first."""
    table, first, count = options.memory.options, options.memory.first, options.memory.count
    keys = np.zeros(len(first))
    for job in range(len(first)):
        rows = table[first[job] : first[job] + count[job]]
        best: dict[int, float] = {}
        for row in rows:
            best[int(row.kind)] = min(best.get(int(row.kind), math.inf), score(row))
        ranked = sorted(best.values())
        keys[job] = -(ranked[1] - ranked[0]) if len(ranked) > 1 else -math.inf
    return keys

