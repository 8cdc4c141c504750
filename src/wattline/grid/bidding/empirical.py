"""Least weights without assumptions: from observed arrivals and an observed signal."""

from __future__ import annotations

import numpy as np

from wattline.grid.bidding import theory
from wattline.grid.bidding.closed_form import WeightRule, fitting_bid
from wattline.grid.bidding.problem import Problem, Simulate
from wattline.grid.moments import Empirical, LogMoment, delay_rate, least_weight
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

    def least(average_w: float, reserve_w: float, weights: FloatArray) -> FloatArray:
        active = _active(problem, level, average_w, reserve_w, weights)
        return np.array(
            [least_weight(a, active, max(float(r), 1e-12)) for a, r in zip(arriving, needed,
                                                                           strict=True)]
        )

    return least


def fit_empirical_alpha(
    problem: Problem, arriving: tuple[LogMoment, ...], level: Empirical, simulate: Simulate
) -> FloatArray:
    """ln(alpha) of every type from one simulation, with the rates of what was observed."""
    bid = fitting_bid(problem)
    weights = np.array(bid.weights)
    active = _active(problem, level, bid.average_w, bid.reserve_w, weights)
    rates = np.array(
        [delay_rate(a, active, float(w)) for a, w in zip(arriving, weights, strict=True)]
    )
    return theory.fit_log_alpha(simulate(bid).delays_s, rates, problem.violation_limit)


def _active(
    problem: Problem, level: Empirical, average_w: float, reserve_w: float, weights: FloatArray
) -> Empirical:
    """The number of active servers that the observed signal makes of a bid."""
    idle_w = problem.workload.servers * problem.workload.power_w_idle
    extra_w = theory.service(problem, average_w, reserve_w, weights).extra_w
    return level.affine(reserve_w / extra_w, (average_w - idle_w) / extra_w)
