"""Log moment generating functions, and the decay rate of the delay that follows from two of them.

The work that arrives in a queue a second, A, and the service that the cluster gives a second, B,
decide how fast the probability of a long delay falls: Prob[delay >= d] ~ alpha exp(-d rate).
Published forms assume Poisson arrivals and a normal signal; `Empirical` needs no assumption.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.signal import FloatArray, Signal

_STEPS = 100
_FAR = 500.0
"""Exponents beyond this are as good as infinite."""


class LogMoment(Protocol):
    """The log moment generating function of work or service a second."""

    @property
    def mean(self) -> float: ...

    def __call__(self, theta: float) -> float: ...


@dataclass(frozen=True)
class Poisson:
    """Jobs of equal work that arrive independently."""

    rate_per_s: float
    work: float

    @property
    def mean(self) -> float:
        return self.rate_per_s * self.work

    def __call__(self, theta: float) -> float:
        exponent = theta * self.work
        return math.inf if exponent > _FAR else self.rate_per_s * math.expm1(exponent)


@dataclass(frozen=True)
class Normal:
    mean: float
    std: float

    def __call__(self, theta: float) -> float:
        return self.mean * theta + 0.5 * self.std**2 * theta**2


@dataclass(frozen=True, eq=False)
class Empirical:
    """From observed amounts in windows of equal length: distinct amounts with their shares.

    Windows longer than the memory of the process keep its correlation: what is independent is
    then the windows, as the theory asks.
    """

    amounts: FloatArray
    shares: FloatArray
    window_s: float = 1.0

    @classmethod
    def of(cls, amounts: npt.ArrayLike, window_s: float = 1.0, bins: int = 512) -> Empirical:
        """Count the amounts; many different ones are gathered in bins at the bins' means."""
        observed = np.asarray(amounts, dtype=np.float64)
        if observed.size == 0 or not window_s > 0:
            raise InputError("an empirical distribution needs observations and a window above 0 s")
        values, counts = np.unique(observed, return_counts=True)
        if values.size > bins:
            edges = np.linspace(values[0], values[-1], bins + 1)[1:-1]
            group = np.searchsorted(edges, values, side="right")
            weight = np.bincount(group, weights=counts, minlength=bins)
            total = np.bincount(group, weights=counts * values, minlength=bins)
            filled = weight > 0
            values, counts = total[filled] / weight[filled], weight[filled]
        return cls(values, counts / counts.sum(), window_s)

    @classmethod
    def mix(cls, parts: Sequence[Empirical]) -> Empirical:
        """One distribution of several that were observed with the same window, each alike."""
        if not parts or len({part.window_s for part in parts}) != 1:
            raise InputError("distributions can be mixed where their windows are equal")
        shares = np.concatenate([part.shares for part in parts]) / len(parts)
        return cls(np.concatenate([part.amounts for part in parts]), shares, parts[0].window_s)

    @property
    def mean(self) -> float:
        return float(self.amounts @ self.shares) / self.window_s

    def __call__(self, theta: float) -> float:
        exponent = theta * self.amounts
        top = float(exponent.max())
        return (top + math.log(float(np.exp(exponent - top) @ self.shares))) / self.window_s

    def affine(self, scale: float, shift_per_s: float) -> Empirical:
        """The distribution of scale times the amounts plus a constant rate."""
        moved = scale * self.amounts + shift_per_s * self.window_s
        return Empirical(moved, self.shares, self.window_s)


def arrivals(
    jobs: JobTable, code: int, work: float, window_s: float, end_s: float, start_s: float = 0.0
) -> Empirical:
    """The work that jobs of one type brought in each window of a log."""
    times = jobs.submit_s[jobs.application == code]
    windows = max(1, int((end_s - start_s) // window_s))
    counts, _ = np.histogram(times, bins=windows, range=(start_s, start_s + windows * window_s))
    return Empirical.of(counts * work, window_s)


def signal_levels(signal: Signal, window_s: float) -> Empirical:
    """The integral of a regulation signal over windows: a distribution of its mean level."""
    start_s, end_s = float(signal.time_s[0]), float(signal.time_s[-1])
    edges = np.arange(start_s, end_s + 1e-9, window_s)
    if edges.size < 2:
        raise InputError(f"the signal is shorter than one window of {window_s:.6g} s")
    amounts = [signal.integral(a, b) for a, b in pairwise(edges.tolist())]
    return Empirical.of(amounts, window_s)


def delay_rate(arriving: LogMoment, service: LogMoment, weight: float) -> float:
    """The largest -B(-theta w) over theta >= 0 with A(theta) + B(-theta w) < 0.

    0 where the queue gets less service than work: its delay does not decay at all.
    """
    if weight <= 0 or weight * service.mean <= arriving.mean:
        return 0.0
    root = _positive_root(arriving, service, weight)
    # -B(-theta w) is concave and 0 at 0: its largest value on [0, root] by ternary search.
    low, high = 0.0, root
    for _ in range(_STEPS):
        third = (high - low) / 3
        if -service(-(low + third) * weight) < -service(-(high - third) * weight):
            low += third
        else:
            high -= third
    return max(0.0, -service(-(low + high) / 2 * weight))


def _positive_root(arriving: LogMoment, service: LogMoment, weight: float) -> float:
    """The theta above 0 at which the convex sum crosses 0."""

    def total(theta: float) -> float:
        return arriving(theta) + service(-theta * weight)

    high = 1e-9
    while total(high) < 0:
        high *= 2
        if high > 1e12:  # nothing arrives in bursts: the sum stays negative
            return high
    low = high / 2 if high > 1e-9 else 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if total(middle) < 0:
            low = middle
        else:
            high = middle
    return low


def least_weight(arriving: LogMoment, service: LogMoment, rate: float) -> float:
    """The smallest weight with which the delay decays at this rate; inf if none.

    At the least weight w both sides balance at the theta where A(theta) equals the rate, and the
    service there, -B(-theta w), equals it too. So theta comes from A alone and theta w from B.
    """
    theta = _first(lambda t: arriving(t) >= rate)
    reach = _first(lambda u: -service(-u) >= rate or _falls(service, u))
    if not -service(-reach) >= rate * (1 - 1e-9):
        return math.inf  # the service varies too much: its tail alone is heavier than allowed
    return reach / theta


def _falls(service: LogMoment, u: float) -> bool:
    """Whether -B(-u) is past its peak at u."""
    return -service(-u * (1 + 1e-6)) < -service(-u)


def _first(holds: Callable[[float], bool]) -> float:
    """The smallest positive number from which on a monotone condition holds."""
    high = 1e-9
    while not holds(high):
        high *= 2
        if high > 1e15:
            return high
    low = 0.0 if high == 1e-9 else high / 2
    for _ in range(60):
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
