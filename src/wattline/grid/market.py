"""A regulation contract: its target, its tracking error, its cost and its constraint.

A consumer offers an average power P and a reserve R for an hour. The grid operator sends a signal
y(t) in [-1, 1]; the consumer is to draw P + y(t) R. The bill is P's energy, less a payment for
the reserve, plus a charge for the mean tracking error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray, Signal

ERROR_LIMIT = 0.3
"""A tracking error above this share of the reserve counts as a large one."""
EXCEED_LIMIT = 0.10
"""The share of the time for which the error may be large."""
WS_PER_KWH = 3.6e6
Product = Literal["symmetric", "up", "down"]
"""What a reserve is for: both directions, only less load (up, as generation is counted), only more.
"""


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices as step functions, in money per kWh: of energy, of reserve, of tracking error."""

    energy: Signal
    reserve: Signal
    error: Signal

    def __post_init__(self) -> None:
        for name in ("reserve", "error"):
            if np.any(getattr(self, name).value < 0):
                raise InputError(f"the {name} price is negative; a payment is a positive number")

    @classmethod
    def flat(cls, energy: float = 0.1, reserve: float = 0.1, error: float = 0.1) -> Prices:
        return cls(Signal.constant(energy), Signal.constant(reserve), Signal.constant(error))

    def mean(self, start_s: float, end_s: float) -> tuple[float, float, float]:
        """The time-weighted mean of each price, in the order energy, reserve, error."""
        span = end_s - start_s
        return (
            self.energy.integral(start_s, end_s) / span,
            self.reserve.integral(start_s, end_s) / span,
            self.error.integral(start_s, end_s) / span,
        )


@dataclass(frozen=True)
class Bid:
    """What is offered: average power, reserve, and for sharing policies a weight for each type."""

    average_w: float
    reserve_w: float
    weights: tuple[float, ...] = ()
    start_share: float = 1.0
    """Share of the jobs' power range at which sharing policies plan starts: 1, the published rule,
    plans them at full power; below it more jobs run, and caps can raise the power as well."""

    def with_weights(self, weights: FloatArray) -> Bid:
        return replace(self, weights=tuple(float(w) for w in weights))


@dataclass(frozen=True)
class Range:
    """The powers that a machine can reach: all servers idle, and all at the highest power.

    With `below_idle` a target may go below the idle machine, down to 0 W: such moments cannot be
    followed, but a larger reserve may be worth their error. Of a product of one direction only that
    side of the average has to be reached.

    Where servers sleep, the lowest target is that of a machine in which those sleep that the
    highest one leaves unused. The others are awake, as a boot takes longer than the signal.
    """

    power_w_min: float
    power_w_max: float
    below_idle: bool = False
    product: Product = "symmetric"
    power_w_asleep: float | None = None
    """All servers asleep; None where they may not sleep."""

    @property
    def floor_w(self) -> float:
        """The lowest target that may be offered at all."""
        if self.below_idle:
            return 0.0
        asleep_w = self.power_w_asleep
        return self.power_w_min if asleep_w is None else min(asleep_w, self.power_w_min)

    @property
    def floor(self) -> tuple[float, float]:
        """The lowest target: so many watts, and this share of the highest target beside it."""
        asleep_w = self.floor_w
        if self.below_idle or asleep_w == self.power_w_min:
            return asleep_w, 0.0
        kept_awake = (self.power_w_min - asleep_w) / (self.power_w_max - asleep_w)
        return asleep_w * (1.0 - kept_awake), kept_awake

    @property
    def without_lower_targets(self) -> Range:
        """The same with the idle machine as the lowest target."""
        return replace(self, below_idle=False, power_w_asleep=None)

    @property
    def floor_edge(self) -> tuple[float, float, float]:
        """Average times the first, less reserve times the second, is at least the third in W."""
        lowest_w, kept_awake = self.floor
        less, more = self.called_w(1.0)
        return 1.0 - kept_awake, less + kept_awake * more, lowest_w

    def largest_reserve_w(self, average_w: float) -> float:
        """The reserve beyond which the target would leave the range."""
        by_average, by_reserve, lowest_w = self.floor_edge
        sides = ((by_average * average_w - lowest_w, by_reserve),
                 (self.power_w_max - average_w, self.called_w(1.0)[1]))
        if any(room_w < 0 and each == 0 for room_w, each in sides):
            return 0.0
        return min(room_w / each for room_w, each in sides if each > 0)

    def called_w(self, reserve_w: float) -> tuple[float, float]:
        """How far below and above the average a target may go."""
        return (0.0 if self.product == "down" else reserve_w,
                0.0 if self.product == "up" else reserve_w)

    def check(self, bid: Bid, *, job_types: int | None = None) -> None:
        """Refuse a bid that cannot be kept, saying which constraint fails and by how much."""
        less_w, more_w = self.called_w(bid.reserve_w)
        low, high = bid.average_w - less_w, bid.average_w + more_w
        slack = 1e-9 * max(1.0, self.power_w_max)
        if not (np.isfinite(low) and np.isfinite(high)):
            raise InputError("the bid must be two finite powers, average and reserve")
        if bid.reserve_w <= 0:
            raise InputError(f"the reserve is {bid.reserve_w:.6g} W, it must be above 0 W")
        lowest_w, kept_awake = self.floor
        lowest_w += kept_awake * high
        if low < lowest_w - slack:
            raise InputError(
                f"{'P - R' if less_w else 'P'} is {low:.6g} W, {lowest_w - low:.6g} W below "
                f"{self._floor_words(lowest_w)}; raise the average"
                + (" or lower the reserve" if less_w else "")
            )
        if high > self.power_w_max + slack:
            raise InputError(
                f"{'P + R' if more_w else 'P'} is {high:.6g} W, {high - self.power_w_max:.6g} W "
                f"above the machine at full power ({self.power_w_max:.6g} W); lower the average"
                + (" or the reserve" if more_w else "")
            )
        check_weights(bid.weights, job_types)

    def _floor_words(self, lowest_w: float) -> str:
        if self.below_idle:
            return "0 W"
        if self.floor[1] > 0:
            return (f"the machine in which all sleep that the highest target leaves unused "
                    f"({lowest_w:.6g} W)")
        return f"the idle machine ({self.power_w_min:.6g} W)"


def check_weights(weights: tuple[float, ...], job_types: int | None = None) -> None:
    """Refuse weights that are negative, of the wrong number or that do not sum to one."""
    if not weights:
        return
    if job_types is not None and len(weights) != job_types:
        raise InputError(f"{len(weights)} weights are given for {job_types} job types")
    if not all(np.isfinite(weights)):
        raise InputError("a weight is not a finite number")
    if min(weights) < 0:
        raise InputError(f"a weight is {min(weights):.6g}; weights must not be negative")
    total = sum(weights)
    if abs(total - 1.0) > 1e-6:
        raise InputError(
            f"the weights sum to {total:.6g}, {abs(total - 1):.6g} "
            f"{'above' if total > 1 else 'below'} one"
        )


@dataclass(frozen=True, eq=False)
class Contract:
    """A bid through time: average and reserve as step functions."""

    average_w: Signal
    reserve_w: Signal

    @classmethod
    def fixed(cls, bid: Bid) -> Contract:
        return cls(Signal.constant(bid.average_w, "W"), Signal.constant(bid.reserve_w, "W"))

    def target_w(self, signal: Signal, start_s: float, end_s: float) -> Signal:
        """P + y(t) R as a step function over [start_s, end_s]."""
        edges, (average, reserve, level) = overlay(
            (self.average_w, self.reserve_w, signal), start_s, end_s
        )
        return Signal(edges[:-1], average + level * reserve, "W")


@dataclass(frozen=True)
class TrackingError:
    """How well the target was followed."""

    mean: float
    exceed_share: float
    """Share of the time for which the error is large."""
    short_share: float = 0.0
    """The part of it in which the power lies below the target; in the rest it lies above."""
    score: float | None = None
    """Of a programme that judges otherwise, and the least with which it is kept."""
    least: float = 0.0

    @classmethod
    def mean_of(cls, parts: Sequence[TrackingError]) -> TrackingError:
        """The mean over several runs that were judged in the same way."""
        scores = [part.score for part in parts if part.score is not None]
        return cls(
            float(np.mean([part.mean for part in parts])),
            float(np.mean([part.exceed_share for part in parts])),
            float(np.mean([part.short_share for part in parts])),
            float(np.mean(scores)) if scores else None, parts[0].least,
        )

    @property
    def met(self) -> bool:
        if self.score is not None:
            return self.score >= self.least
        return self.exceed_share < EXCEED_LIMIT

    @property
    def excess(self) -> float:
        """By how much the rule that judges is broken."""
        if self.score is not None:
            return max(0.0, self.least - self.score)
        return max(0.0, self.exceed_share - EXCEED_LIMIT)


@dataclass(frozen=True)
class Period:
    """A settlement period of a programme in which something was offered."""

    start_s: float
    end_s: float
    reserve_mwh: float
    score: float
    credit: float


@dataclass(frozen=True)
class Settlement:
    """The bill of a contract."""

    cost: float
    cost_without: float
    """Energy price times P: the power that was bid, without a contract; beyond it, what was drawn.
    """
    energy_kwh: float
    tracking: TrackingError
    credit: float = 0.0
    """Of a programme, over all its periods."""
    periods: tuple[Period, ...] = ()

    @property
    def saving(self) -> float:
        """The saved share of `cost_without`."""
        return saved_share(self.cost, self.cost_without)


def saved_share(cost: float, reference: float) -> float:
    """What is saved against a reference, as a share of its size; NaN where that is 0.

    A reference may be negative, as energy prices may: a lower cost is a saving all the same.
    """
    return (reference - cost) / abs(reference) if reference != 0 else float("nan")


def settle(
    actual_w: Signal,
    contract: Contract,
    signal: Signal,
    prices: Prices,
    *,
    start_s: float,
    end_s: float,
    metered: bool = False,
) -> Settlement:
    """The exact bill over [start_s, end_s]: all quantities are step functions.

    Energy is billed at the average that was bid, or as it was `metered`.
    """
    if end_s <= start_s:
        raise InputError("a contract must end after it starts")
    edges, values = overlay(
        (actual_w, contract.average_w, contract.reserve_w, signal,
         prices.energy, prices.reserve, prices.error),
        start_s, end_s,
    )
    actual, average, reserve, level, energy_price, reserve_price, error_price = values
    duration_s = np.diff(edges)
    # Where nothing is offered there is nothing to follow, and no error to pay for: what is drawn is
    # billed.
    over_w = np.where(reserve > 0, actual - average - level * reserve, 0.0)
    billed_w = np.where((reserve > 0) & (not metered), average, actual)
    money = energy_price * billed_w - reserve_price * reserve + error_price * np.abs(over_w)
    return Settlement(
        cost=float(money @ duration_s) / WS_PER_KWH,
        cost_without=float((energy_price * billed_w) @ duration_s) / WS_PER_KWH,
        energy_kwh=float(actual @ duration_s) / WS_PER_KWH,
        tracking=_tracking(over_w, reserve, duration_s),
    )


def _tracking(over_w: FloatArray, reserve_w: FloatArray, duration_s: FloatArray) -> TrackingError:
    offered = reserve_w > 0
    if not np.any(offered):
        return TrackingError(0.0, 0.0)
    over = over_w[offered] / reserve_w[offered]
    error = np.abs(over)
    weight = duration_s[offered] / duration_s[offered].sum()
    # Weights add up to one but for rounding, and a share of more than one makes a score below 0.
    return TrackingError(
        float(error @ weight), min(1.0, float(weight @ (error > ERROR_LIMIT))),
        min(1.0, float(weight @ (over < -ERROR_LIMIT))),
    )


def tracking_errors(
    actual_w: Signal, contract: Contract, signal: Signal, start_s: float, end_s: float
) -> tuple[FloatArray, FloatArray]:
    """Every error with the seconds for which it held: what a CDF is drawn from."""
    edges, (actual, average, reserve, level) = overlay(
        (actual_w, contract.average_w, contract.reserve_w, signal), start_s, end_s
    )
    offered = reserve > 0
    gap_w = np.abs(actual - average - level * reserve)[offered]
    return gap_w / reserve[offered], np.diff(edges)[offered]


def overlay(
    signals: tuple[Signal, ...], start_s: float, end_s: float
) -> tuple[FloatArray, list[FloatArray]]:
    """Cut [start_s, end_s] wherever one of the signals steps; the values on each piece."""
    inner = [_steps_between(s.time_s, start_s, end_s) for s in signals]
    edges = np.unique(np.concatenate(([start_s, end_s], *(steps for steps in inner if steps.size))))
    return edges, [_sampled(signal, edges[:-1]) for signal in signals]


def _steps_between(time_s: FloatArray, start_s: float, end_s: float) -> FloatArray:
    first, last = time_s.searchsorted(start_s, "right"), time_s.searchsorted(end_s, "left")
    return time_s[first:last]


def _sampled(signal: Signal, times_s: FloatArray) -> FloatArray:
    """Values at these times; that of a signal without steps, as most prices, is not looked up."""
    if signal.value.size == 1:
        return np.full(times_s.size, signal.value[0])
    return signal.sample(times_s)
