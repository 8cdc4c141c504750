"""Table 2.3, which is lost, from what is printed beside it: weights, average power and reserve.

The optimal weights are the least ones (equation 2.43), each a function of the decay rate that the
type's threshold asks for. So printed weights give the rates, and rates the thresholds: up to the
coefficient alpha of the bound, which was fitted and is not printed, and stands here as one scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from wattline.demand_response.bidders import METHOD_OF
from wattline.demand_response.choosing import choose
from wattline.grid.bidding import Problem
from wattline.grid.bidding.theory import minimal_weights, service
from wattline.grid.workloads import Workload, workload
from wattline.model.progress import silent
from wattline.studies.regulation.workloads import Order, case_for

AVERAGE_W, RESERVE_W, SIGNAL_STD = 20_600.0, 10_111.0, 0.40
WEIGHTS = {"fs": 0.128, "sc": 0.212, "bt": 0.127, "lu": 0.271, "mg": 0.124, "sp": 0.140}
"""Printed with figure 2.4."""
SCALES = (1.0, 1.5, 2.0, 2.5, 3.0)
SHIPPED_SCALE = 2.0
"""With which the closed form comes nearest to the printed bid and to both printed savings."""


def inferred() -> dict[str, float]:
    """The thresholds of the six types that their printed weights ask for, with alpha = 1."""
    load = replace(workload("MOC"), standby=None)
    problem = Problem(load, 0.1, 0.1, 0.1, SIGNAL_STD, 0.0)
    weights = np.array([WEIGHTS[t.name] for t in load.types])
    at = service(problem, AVERAGE_W, RESERVE_W, weights)
    # Beyond this rate no weight is enough.
    most = at.mean**2 / (2 * at.std**2)
    found = {}
    for number, job_type in enumerate(load.types):
        low, high = 1e-9, most * (1 - 1e-12)
        for _ in range(200):
            middle = (low + high) / 2
            rates = np.full(len(load.types), middle)
            if minimal_weights(problem, at, rates)[number] < weights[number]:
                low = middle
            else:
                high = middle
        found[job_type.name] = -math.log(problem.violation_limit) / low / job_type.time_s_min
    return found


@dataclass(frozen=True)
class Fit:
    """QoSG's bid with the inferred thresholds at one scale, and what is printed."""

    scale: float
    utilisation: float
    average_w: float | None
    reserve_w: float | None
    saving: float | None
    weights: Mapping[str, float]
    published: str


def sensitivity(seed: int = 1, progress: Callable[[float], None] = silent) -> list[Fit]:
    """The bid at half and at three quarters of the load for each scale."""
    base, plan = inferred(), [(s, u) for u in (0.5, 0.75) for s in SCALES]
    rows = []
    for scale, utilisation in plan:
        rows.append(_fit(_scaled(workload("MOC"), base, scale), scale, utilisation, seed))
        progress(len(rows) / len(plan))
    return rows


def _scaled(load: Workload, thresholds: Mapping[str, float], scale: float) -> Workload:
    types = tuple(replace(t, threshold=scale * thresholds[t.name]) for t in load.types)
    return replace(load, types=types)


def _fit(load: Workload, scale: float, utilisation: float, seed: int) -> Fit:
    order = Order(replace(load, utilisation=utilisation), "qosg", "thresholds", seed, 1, 1)
    decision = choose(case_for(order, 0), METHOD_OF["qosg"], whole=False, seed=seed)
    bid, outcome = decision.bid, decision.outcome
    known = {0.5: "P 20,600 W, R 10,111 W, saving 46.1 %", 0.75: "saving 25.1 %"}
    if bid is None or outcome is None:
        return Fit(scale, utilisation, None, None, None, {}, known[utilisation])
    names = [t.name for t in load.types]
    return Fit(scale, utilisation, bid.average_w, bid.reserve_w, outcome.saving,
               dict(zip(names, bid.weights, strict=False)), known[utilisation])
