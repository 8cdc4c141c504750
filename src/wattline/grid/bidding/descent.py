"""AQA's bid: gradient descent on cost plus a soft penalty for broken QoS constraints.

Each round simulates the present bid, refits the coefficient alpha of every type's delay bound to
what was seen, and steps against the analytic gradient; weights are projected back to the simplex,
average and reserve to what the machine can reach. A search by simulation ends it. The answer is
the cheapest bid visited that met all constraints in simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wattline.grid.bidding import theory
from wattline.grid.bidding.exhaustive import grid_bids
from wattline.grid.bidding.heuristic import capping_heuristic
from wattline.grid.bidding.polish import polish, project_power, project_weights
from wattline.grid.bidding.problem import BidOutcome, Decision, Problem, Simulate, best_of
from wattline.grid.market import Bid
from wattline.model.signal import FloatArray

_EXPONENT_MAX = 30.0
SHARES = (0.5, 0.75, 0.25)
"""Shares of the power range at which starts are planned, tried before the search around them."""


@dataclass(frozen=True)
class DescentSettings:
    """How to descend."""

    rounds: int = 200
    """Simulations in all."""
    polish: float = 0.75
    """Share of them for the search by simulation at the end: first a coarse grid of averages and
    reserves with the weights found so far, then around the best bids."""
    step: float = 0.02
    """First step, as a share of the machine's range and of the weights."""
    decay_rounds: float = 60.0
    """After this many rounds the step has halved."""
    penalty: float = 0.1
    """Weight of the soft penalty, in costs of the mean power (beta)."""
    steepness: float = 100.0
    """How sharply the penalty sets in (rho)."""
    weight_min: float = 0.005


@dataclass(frozen=True, eq=False)
class Point:
    """The soft cost at a bid with its gradient."""

    cost: float
    by_average: float
    by_reserve: float
    by_weights: FloatArray
    probabilities: FloatArray


def soft_cost(
    problem: Problem, bid: Bid, rates: Sequence[theory.Rate], log_alpha: FloatArray, beta: float,
    rho: float,
) -> Point:
    """Cost of an hour with the penalty, and its derivatives by average, reserve and weights.

    `rates` are the decay rates at the bid.
    """
    workload = problem.workload
    weights = np.array(bid.weights)
    at = theory.service(problem, bid.average_w, bid.reserve_w, weights)
    work = workload.column("servers") * workload.column("time_s_min")
    busy_w = float((workload.arrivals_per_s * work)
                   @ (workload.column("power_w_max") - workload.power_w_idle))
    idle_w = workload.servers * workload.power_w_idle
    kw = 1e-3
    money = kw * (
        problem.energy_price * bid.average_w
        - problem.reserve_price * bid.reserve_w
        + problem.error_price * (bid.average_w - idle_w - busy_w)
    )
    by_average = kw * (problem.energy_price + problem.error_price)
    by_reserve = -kw * problem.reserve_price
    by_weights = np.zeros(weights.size)
    power = workload.column("power_w_max")
    mean_by_reserve = problem.signal_mean / at.extra_w
    probabilities = np.zeros(weights.size)
    for j, rate in enumerate(rates):
        exponent = log_alpha[j] - problem.delay_s_max[j] * rate.value
        probability = math.exp(min(exponent, _EXPONENT_MAX))
        probabilities[j] = probability
        x = rho * (probability - problem.violation_limit)
        money += beta * (x if x > _EXPONENT_MAX else math.log1p(math.exp(x)))
        if exponent >= _EXPONENT_MAX:
            continue  # the penalty is cut off here, and flat
        logistic = 1.0 if x > _EXPONENT_MAX else 1 / (1 + math.exp(-x))
        pull = beta * logistic * rho * probability * -problem.delay_s_max[j]
        by_average += pull * rate.by_mean / at.extra_w
        by_reserve += pull * (
            rate.by_mean * mean_by_reserve + rate.by_std * problem.signal_std / at.extra_w
        )
        # Every weight moves the extra power of a server, and with it mean and deviation.
        by_weights -= (
            pull * (rate.by_mean * at.mean + rate.by_std * at.std) * power / at.extra_w
        )
        by_weights[j] += pull * rate.by_weight
    return Point(money, by_average, by_reserve, by_weights, probabilities)


def start_bid(problem: Problem) -> Bid:
    """Equal weights, the mean power with a tenth to spare, half of the possible reserve."""
    workload = problem.workload
    types = len(workload.types)
    idle_w = workload.range.power_w_min
    average_w = idle_w + 1.1 * (workload.power_w_mean - idle_w)
    average_w, reserve_w = project_power(
        workload.range, average_w, 0.5 * workload.range.largest_reserve_w(average_w)
    )
    return Bid(average_w, reserve_w, (1.0 / types,) * types)


def descend(
    problem: Problem,
    simulate: Simulate,
    *,
    start: Bid | None = None,
    known: Sequence[tuple[Bid, BidOutcome]] = (),
    settings: DescentSettings | None = None,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Decision:
    """Descend from `start` and return the cheapest bid visited that met all constraints.

    `known` are bids that were tried before, in a part of this space: what they found is not lost,
    and the search goes on from the best of them too.
    """
    chosen = settings or DescentSettings()
    shares = chosen.rounds // 4 if problem.start_shares else 0
    simulate = _telling(simulate, chosen.rounds + shares, progress)
    bid = start or start_bid(problem)
    money = problem.energy_price * problem.workload.power_w_mean / 1000.0
    beta = chosen.penalty * money
    tried: list[tuple[Bid, BidOutcome]] = list(known)
    history: list[tuple[float, ...]] = []
    rounds = max(1, round(chosen.rounds * (1 - chosen.polish)))
    for number in range(rounds):
        outcome = simulate(bid)
        tried.append((bid, outcome))
        history.append(bid.weights)
        rates = theory.rates_at(problem, bid)
        log_alpha = theory.fit_log_alpha(
            outcome.delays_s, np.array([rate.value for rate in rates]), problem.violation_limit)
        point = soft_cost(problem, bid, rates, log_alpha, beta, chosen.steepness)
        size = chosen.step / (1 + number / chosen.decay_rounds)
        bid = _step(problem, bid, point, size=size, least=chosen.weight_min)
    _look_around(problem, simulate, tried, (chosen.rounds - rounds) // 4)
    left = chosen.rounds + len(known) - len(tried)
    polish(replace(problem, start_shares=False), simulate, tried, left)
    if problem.start_shares:
        _other_shares(problem, simulate, tried, shares)
    return best_of(
        problem, tried, f"the cheapest of {rounds} rounds of descent and "
        f"{len(tried) - len(known) - rounds} of search by simulation", weights_by_round=history,
    )


def _telling(
    simulate: Simulate, most: int, progress: Callable[[float], None]
) -> Simulate:
    """The same simulations, of which each tells how many of all there may be are done."""
    done = 0

    def told(bid: Bid) -> BidOutcome:
        nonlocal done
        found = simulate(bid)
        done += 1
        progress(min(1.0, done / most))
        return found

    return told


def _look_around(
    problem: Problem, simulate: Simulate, tried: list[tuple[Bid, BidOutcome]], most: int
) -> None:
    """A coarse grid of averages and reserves with the best weights so far.

    The descent does not feel the tracking constraint, and can end far from the bids that keep it.
    """
    bids = grid_bids(problem, 6, 4)
    if most < len(bids):
        return
    weights = min(tried, key=lambda pair: (pair[1].excess, pair[1].cost))[0].weights
    for bid in bids:
        offered = bid.with_weights(np.array(weights))
        tried.append((offered, simulate(offered)))
    for offered in _further_starts(problem, weights):
        tried.append((offered, simulate(offered)))


def _other_shares(
    problem: Problem, simulate: Simulate, tried: list[tuple[Bid, BidOutcome]], rounds: int
) -> None:
    """Search on with starts planned below full power, from the best bid of the published rule.

    After it and not instead of it: the larger space must not lose what the smaller one found.
    """
    best = min(tried, key=lambda pair: (pair[1].excess, pair[1].cost))[0]
    shares = SHARES[: max(0, min(len(SHARES), rounds))]
    for share in shares:
        offered = replace(best, start_share=share)
        tried.append((offered, simulate(offered)))
    polish(problem, simulate, tried, rounds - len(shares))


def _further_starts(problem: Problem, weights: tuple[float, ...]) -> list[Bid]:
    """The range that caps alone can move, and the mean power with half of what is possible."""
    workload = problem.workload
    heuristic = capping_heuristic(workload)
    middle = Bid(workload.power_w_mean,
                 0.5 * workload.range.largest_reserve_w(workload.power_w_mean))
    return [replace(bid, weights=weights) for bid in (heuristic, middle) if bid.reserve_w > 0
            and bid.reserve_w <= workload.range.largest_reserve_w(bid.average_w)]


def _step(
    problem: Problem, bid: Bid, point: Point, *, size: float, least: float
) -> Bid:
    """One step of a stated size, powers and weights each in their own scale."""
    scale_w = problem.workload.range.power_w_max - problem.workload.range.power_w_min
    power = np.array([point.by_average, point.by_reserve]) * scale_w
    length = float(np.hypot(*power))
    move = -size * power / length if length > 0 else np.zeros(2)
    average_w, reserve_w = project_power(
        problem.workload.range, bid.average_w + move[0] * scale_w, bid.reserve_w + move[1] * scale_w
    )
    weights = np.array(bid.weights)
    inward = point.by_weights - point.by_weights.mean()
    length = float(np.linalg.norm(inward))
    # Weights rest where no type's penalty pulls: a unit step would only shake them.
    pull = min(1.0, length / (1e-3 + abs(point.cost)))
    if length > 0:
        weights = weights - size * pull * inward / length
    return Bid(average_w, reserve_w).with_weights(project_weights(weights, least))
