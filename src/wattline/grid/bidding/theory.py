"""The large-deviation bound on a queue's delay: rates, their derivatives, minimal weights.

With S the extra power of an active server, the number of active servers follows the signal:
mean mu = (P - idle) / S, deviation sigma = y_std R / S. Work of type j arrives as a Poisson
process of jobs that each bring b = servers * time. The delay's tail falls like exp(-rate d).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wattline.grid.bidding.problem import Problem
from wattline.grid.market import Bid
from wattline.model.signal import FloatArray

_FAR = 500.0


@dataclass(frozen=True, eq=False)
class Service:
    """Mean and deviation of the number of active servers, and how they move with the bid."""

    mean: float
    std: float
    extra_w: float
    """Mean power of an active server above an idle one, by the weights."""


def service(problem: Problem, average_w: float, reserve_w: float, weights: FloatArray) -> Service:
    workload = problem.workload
    extra_w = float(weights @ workload.column("power_w_max")) - workload.power_w_idle
    mean_w = average_w + problem.signal_mean * reserve_w - workload.servers * workload.power_w_idle
    return Service(mean_w / extra_w, problem.signal_std * reserve_w / extra_w, extra_w)


@dataclass(frozen=True, eq=False)
class Rate:
    """A decay rate with its derivatives by mean, deviation and weight."""

    value: float
    by_mean: float
    by_std: float
    by_weight: float


def decay_rate(arrival_per_s: float, work: float, mean: float, std: float, weight: float) -> Rate:
    """The decay rate of one queue.

    Two cases: the parabola of the service peaks before work and service balance (its peak is the
    rate), or they balance first. Where a queue gets less service than work the balance lies below
    zero; the rate is then continued to negative values, so that a descent still feels the slope.
    """
    if mean <= 0:
        # No service at all: the rate of the arrivals alone, falling as the service does.
        return Rate(-arrival_per_s + mean * weight / work, weight / work, 0.0, mean / work)
    if std > 0:
        peak = mean / (std * std * weight)
        if peak * work < _FAR and arrival_per_s * math.expm1(peak * work) < mean**2 / (2 * std**2):
            value = mean**2 / (2 * std**2)
            return Rate(value, mean / std**2, -(mean**2) / std**3, 0.0)
    root = _balance(arrival_per_s, work, mean, std, weight)
    grow = arrival_per_s * work * math.exp(root * work)
    slope = grow - mean * weight + std * std * root * weight * weight
    value = arrival_per_s * math.expm1(root * work)
    if abs(slope) < 1e-300:
        return Rate(value, 0.0, 0.0, 0.0)
    factor = grow / slope
    return Rate(
        value,
        factor * root * weight,
        -factor * std * root**2 * weight**2,
        factor * (mean * root - std**2 * root**2 * weight),
    )


def _balance(arrival: float, work: float, mean: float, std: float, weight: float) -> float:
    """The root other than 0 of arrival (exp(t work) - 1) - mean t weight + (std t weight)^2 / 2."""

    def over_t(t: float) -> float:
        # Divided by t, so that the root at 0 is gone and what is left rises monotonically.
        growth = work if abs(t * work) < 1e-9 else math.expm1(min(t * work, _FAR)) / t
        return arrival * growth - mean * weight + 0.5 * (std * weight) ** 2 * t

    low, high = -1.0 / work, 1.0 / work
    while over_t(low) > 0 and low > -1e9 / work:
        low *= 2
    while over_t(high) < 0 and high < 1e9 / work:
        high *= 2
    for _ in range(70):
        middle = (low + high) / 2
        if over_t(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def needed_rates(problem: Problem, log_alpha: FloatArray) -> FloatArray:
    """The decay rates with which each type just meets its constraint."""
    return (log_alpha - math.log(problem.violation_limit)) / problem.delay_s_max


def minimal_weights(problem: Problem, at: Service, rates: FloatArray) -> FloatArray:
    """For each type the least weight that keeps its constraint; inf where none does.

    The closed form of the bound for Poisson arrivals and a normal signal.
    """
    workload = problem.workload
    work = workload.column("servers") * workload.column("time_s_min")
    arrival = workload.arrivals_per_s
    weights = np.empty(len(workload.types))
    for j, rate in enumerate(rates):
        if at.mean <= 0:
            weights[j] = math.inf
        elif rate <= 0:
            # The constraint asks for no decay: enough that work does not pile up.
            weights[j] = arrival[j] * work[j] / at.mean
        else:
            left = at.mean**2 - 2 * rate * at.std**2
            weights[j] = (
                math.inf
                if left < 0
                else 2 * rate * work[j]
                / ((at.mean + math.sqrt(left)) * math.log1p(rate / arrival[j]))
            )
    return weights


def fit_log_alpha(
    delays_s: tuple[FloatArray, ...], rates: FloatArray, share: float
) -> FloatArray:
    """For each type ln(alpha) such that alpha exp(-d rate) passes through what was observed.

    The curve is pinned where the constraint reads it: at the delay that the allowed share of the
    jobs exceeded. Types without jobs get the neutral alpha = 1.
    """
    from wattline.grid.qos import upper_quantile

    fitted = np.zeros(len(rates))
    for j, delays in enumerate(delays_s):
        if delays.size:
            reached = max(0.0, upper_quantile(delays, share))
            fitted[j] = math.log(share) + reached * rates[j]
    return fitted


def rates_at(problem: Problem, bid: Bid) -> list[Rate]:
    """The decay rate of every queue at a bid."""
    weights = np.array(bid.weights)
    at = service(problem, bid.average_w, bid.reserve_w, weights)
    workload = problem.workload
    work = workload.column("servers") * workload.column("time_s_min")
    return [
        decay_rate(float(arrival), float(work[j]), at.mean, at.std, float(weights[j]))
        for j, arrival in enumerate(workload.arrivals_per_s)
    ]
