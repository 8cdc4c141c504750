"""QoSG's bid: for each average the largest reserve that the delay bound allows.

For a fixed average, every type has a least weight; the reserve may grow until the least weights
sum to one. The averages are walked in steps of a percent, each with its largest reserve, and the
cheapest that keeps its promises in simulation wins. The coefficient alpha of the bound is fitted
from one simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from wattline.grid.bidding import theory
from wattline.grid.bidding.heuristic import range_heuristic
from wattline.grid.bidding.problem import Decision, Problem, Simulate, best_of, try_all
from wattline.grid.market import Bid
from wattline.model.signal import FloatArray

WeightRule = Callable[[float, float, FloatArray], FloatArray]
"""From average, reserve and the weights so far to the least weights."""

_ROUNDS = 40
_FITTING_SHARE = 0.05
"""Of the machine's range, the least distance of the fitting bid's average from its ends."""


def bound_rule(problem: Problem, log_alpha: FloatArray) -> WeightRule:
    """Least weights by the closed form, for Poisson arrivals and a normal signal."""
    needed = theory.needed_rates(problem, log_alpha)

    def least(average_w: float, reserve_w: float, weights: FloatArray) -> FloatArray:
        at = theory.service(problem, average_w, reserve_w, weights)
        return theory.minimal_weights(problem, at, needed)

    return least


def settled_weights(
    rule: WeightRule, average_w: float, reserve_w: float, types: int
) -> tuple[FloatArray, float]:
    """Least weights and their sum; the service depends on the weights, so iterate to rest."""
    weights = np.full(types, 1.0 / types)
    total = math.inf
    for _ in range(_ROUNDS):
        least = rule(average_w, reserve_w, weights)
        total = float(least.sum())
        if not math.isfinite(total):
            return weights, math.inf
        moved = least / total
        if float(np.abs(moved - weights).max()) < 1e-10:
            return moved, total
        weights = moved
    return weights, total


def largest_reserve(
    problem: Problem, rule: WeightRule, average_w: float
) -> tuple[float, FloatArray] | None:
    """The largest reserve for this average with its weights, or None if even none is allowed."""
    types = len(problem.workload.types)
    most_w = problem.workload.range.largest_reserve_w(average_w)
    if most_w <= 0 or settled_weights(rule, average_w, 0.0, types)[1] > 1:
        return None
    weights, total = settled_weights(rule, average_w, most_w, types)
    if total <= 1:
        return most_w, weights
    low, high = 0.0, most_w
    for _ in range(50):
        middle = (low + high) / 2
        if settled_weights(rule, average_w, middle, types)[1] <= 1:
            low = middle
        else:
            high = middle
    if low <= 0:
        return None
    return low, settled_weights(rule, average_w, low, types)[0]


def fitting_bid(problem: Problem) -> Bid:
    """A bid that serves the work comfortably: where alpha is fitted."""
    start = range_heuristic(problem.workload)
    reach = problem.workload.range
    # A machine that is always full, or always empty, would leave no reserve to fit with.
    least_w = _FITTING_SHARE * (reach.power_w_max - reach.power_w_min)
    average_w = min(max(start.average_w, reach.power_w_min + least_w), reach.power_w_max - least_w)
    types = len(problem.workload.types)
    return Bid(average_w, 0.5 * max(start.reserve_w, least_w), (1.0 / types,) * types)


def fit_alpha(problem: Problem, simulate: Simulate) -> FloatArray:
    """ln(alpha) of every type from one simulation."""
    bid = fitting_bid(problem)
    rates = np.array([rate.value for rate in theory.rates_at(problem, bid)])
    return theory.fit_log_alpha(simulate(bid).delays_s, rates, problem.violation_limit)


def closed_form_bid(
    problem: Problem,
    simulate: Simulate,
    *,
    rule: WeightRule | None = None,
    step: float = 0.01,
    reserve_scales: tuple[float, ...] = (1.0,),
    whole: bool = True,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Decision:
    """Walk the averages; `rule` replaces the closed form, e.g. by empirical distributions.

    Unless the `whole` surface is wanted, only bids that can be the best are simulated.
    """
    workload = problem.workload
    least = rule or bound_rule(problem, fit_alpha(problem, simulate))
    low_w, high_w = workload.range.power_w_min, workload.range.power_w_max
    bids: list[Bid] = []
    steps = round(1 / step)
    for number in range(1, steps):
        average_w = low_w + number * step * (high_w - low_w)
        found = largest_reserve(problem, least, average_w)
        if found is not None:
            bids += [Bid(average_w, scale * found[0]).with_weights(found[1])
                     for scale in reserve_scales]
    if not bids:
        total = settled_weights(least, (low_w + high_w) / 2, 0.0, len(workload.types))[1]
        return Decision(
            None,
            "do not participate: the QoS constraints cannot be guaranteed at any average power; "
            f"even without a reserve and at half of the machine's range the least weights sum to "
            f"{total:.3g}, {total - 1:.3g} above one",
        )
    tried = try_all(problem, simulate, bids, whole=whole, progress=progress)
    parts = "" if len(reserve_scales) == 1 else " or a part of it"
    return best_of(
        problem, tried, f"the cheapest of {len(bids)} bids, averages with their largest R{parts}"
    )
