"""From claims to runs of the one engine: options of jobs, and the policies that choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.run import Run
from wattline.physics.claims import Claim, ClaimBook, Objective
from wattline.policies.admission.none import NoLimit
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.claimed import OPTION, Claimed
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.claimed import ClaimedNodes
from wattline.policies.regulation.none import NoRegulation

FIXED = "default"
"""The rule of a manager that knows no claims: classes in a fixed order, no cap."""


def options_of(
    book: ClaimBook, truth: ClaimBook, machine: Machine, applications: Sequence[str],
    nodes: Sequence[int], *, capped: bool = True,
) -> tuple[Any, Any, Any]:
    """Options of each job: what `book` claims, and what is true in `truth`.

    Jobs of one application and size share their options, so that one run teaches the next.
    """
    classes = [group.node_class.name for group in machine.groups]
    rows: list[tuple[Any, ...]] = []
    spans: dict[tuple[str, int], tuple[int, int]] = {}
    for application, count in dict.fromkeys(zip(applications, nodes, strict=True)):
        found = _known(book, truth, application, classes, count)
        if not capped:
            found = [pair for pair in found if math.isinf(pair[0].setting.cap_w)]
        if not found:
            raise InputError(f"nothing is known to run '{application}' on {', '.join(classes)}")
        spans[application, count] = (len(rows), len(found))
        for claim, real in found:
            rows.append((
                classes.index(claim.node_class), count, claim.time_s, claim.energy_j, real.time_s,
                real.power_w, float(claim.runs), _zero(claim.time_error),
                _zero(claim.energy_error), 0.0, float(classes.index(claim.node_class)),
            ))
    options = np.array(rows, dtype=OPTION).view(np.recarray)
    own = [spans[key] for key in zip(applications, nodes, strict=True)]
    return (options, np.array([a for a, _ in own], dtype=np.int64),
            np.array([n for _, n in own], dtype=np.int64))


def _known(
    book: ClaimBook, truth: ClaimBook, application: str, classes: Sequence[str], nodes: int
) -> list[tuple[Claim, Claim]]:
    """What is claimed, each with what is true of the same class and setting."""
    real = {(c.node_class, c.setting): c for c in truth.candidates(application, classes, nodes,
                                                                   unknown=False)}
    claimed = {(c.node_class, c.setting): c for c in book.candidates(application, classes, nodes)}
    return [(claimed[place], real[place]) for place in real if place in claimed]


def claimed_run(
    jobs: JobTable, machine: Machine, options: tuple[Any, Any, Any], rule: str | Objective,
    *, order: Any = None, learn: bool = True, noise: Any = None, patience: float = 0.0,
) -> tuple[Run, Any]:
    """A run under a rule; the options come back as the runs corrected them."""
    table, first, count = options[0].copy(), options[1], options[2]
    fixed = rule == FIXED
    objective = Objective.parse(rule) if isinstance(rule, str) and not fixed else rule
    weights = (0.0, 0.0, 1.0, 0.0) if fixed else (
        objective.time_weight, objective.energy_weight, 0.0, objective.caution)  # type: ignore[union-attr]
    claims = Claimed(
        table.view(np.recarray), first, count,
        np.ones(1) if noise is None else np.ascontiguousarray(noise, dtype=np.float64),
        *weights, learn=int(learn), patience=patience,
    )
    policy = Composition(order or Fcfs(), Easy(), NoLimit(), claims, ClaimedNodes(claims),
                         NoRegulation())
    return simulate(jobs, machine, policy, Rules(choose_nodes=True)), table


def regret_order(options: tuple[Any, Any, Any], score: Callable[[Any], float]) -> Any:
    """Keys by what a job loses without its best class: the most to lose goes first."""
    table, first, count = options
    keys = np.zeros(len(first))
    for job in range(len(first)):
        rows = table[first[job] : first[job] + count[job]]
        best: dict[int, float] = {}
        for row in rows:
            best[int(row.kind)] = min(best.get(int(row.kind), math.inf), score(row))
        ranked = sorted(best.values())
        keys[job] = -(ranked[1] - ranked[0]) if len(ranked) > 1 else -math.inf
    return keys


def _zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value
