"""Least weights without assumptions: from observed arrivals and an observed signal."""

from __future__ import annotations

import numpy as np

from wattline.grid.bidding import theory
from wattline.grid.bidding.closed_form import WeightRule
from wattline.grid.bidding.problem import Problem
from wattline.grid.moments import Empirical, LogMoment, least_weight
from wattline.model.errors import InputError
from wattline.model.signal import FloatArray


def empirical_rule(
    problem: Problem,
    arriving: tuple[LogMoment, ...],
    level: Empirical,
    log_alpha: FloatArray,
) -> WeightRule:
    """Least weights where work arrives and the signal moves as was observed.

    `arriving` is the work of each type a second, `level` the signal's integral over windows.
    """
    if len(arriving) != len(problem.workload.types):
        raise InputError(
            f"{len(arriving)} arrival distributions for {len(problem.workload.types)} job types"
        )
    needed = theory.needed_rates(problem, log_alpha)
    idle_w = problem.workload.servers * problem.workload.power_w_idle

    def least(average_w: float, reserve_w: float, weights: FloatArray) -> FloatArray:
        extra_w = theory.service(problem, average_w, reserve_w, weights).extra_w
        active = level.affine(reserve_w / extra_w, (average_w - idle_w) / extra_w)
        return np.array(
            [least_weight(a, active, max(float(r), 1e-12)) for a, r in zip(arriving, needed,
                                                                           strict=True)]
        )  # fmt: skip

    return least
