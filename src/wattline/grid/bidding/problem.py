"""What a bidder is given, what a simulation answers, and what a bidder returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from wattline.grid.market import EXCEED_LIMIT, Bid, TrackingError, saved_share
from wattline.grid.qos import VIOLATION_LIMIT, TypeQuality
from wattline.grid.workloads import Workload
from wattline.model.errors import InputError
from wattline.model.signal import FloatArray


@dataclass(frozen=True)
class Problem:
    """The workload, the mean prices in money per kWh, and the statistics of the signal."""

    workload: Workload
    energy_price: float = 0.1
    reserve_price: float = 0.1
    error_price: float = 0.1
    signal_std: float = 0.40
    signal_mean: float = 0.0
    violation_limit: float = VIOLATION_LIMIT
    power_w_alone: float | None = None
    """Mean power of the planned time without a contract; None: the workload's mean power."""
    hours: float = 1.0
    """The planned time, which the outcomes' costs are for."""
    metered: bool = False
    """Energy is billed as it was metered: what a bid costs is not known before."""
    start_shares: bool = False
    """Whether the policy shares servers out, so that the share of the range at which starts are
    planned is searched with the rest."""

    def __post_init__(self) -> None:
        if self.signal_std < 0:
            raise InputError(f"signal_std is {self.signal_std}, must not be negative")

    @property
    def delay_s_max(self) -> FloatArray:
        """The delay at which a job of each type reaches its threshold."""
        return self.workload.column("threshold") * self.workload.column("time_s_min")

    @property
    def cost_alone(self) -> float:
        """What staying out costs: the energy of the jobs run without a contract."""
        return self.energy_price * self.hours * self._alone_kw

    @property
    def _alone_kw(self) -> float:
        alone_w = self.power_w_alone
        return (self.workload.power_w_mean if alone_w is None else alone_w) / 1000.0

    def gains(self, average_w: float, cost: float) -> bool:
        """Whether a bid of this cost is better than staying out.

        An average below what the jobs draw by themselves only puts their energy off to later
        hours, which pay for it: that part of the lower bill is not counted.
        """
        put_off_kw = max(0.0, self._alone_kw - average_w / 1000.0)
        put_off = max(0.0, self.energy_price) * self.hours * put_off_kw
        # More than what floats leave of a difference that is none.
        return self.cost_alone - cost - put_off > 1e-9 * abs(self.cost_alone)


@dataclass(frozen=True, eq=False)
class BidOutcome:
    """What one simulation of a bid gave."""

    cost: float
    saving: float
    """Against the energy price of the average: the published figure."""
    tracking: TrackingError
    quality: tuple[TypeQuality, ...]
    delays_s: tuple[FloatArray, ...] = field(default=(), repr=False)
    """For each type, how much longer its jobs stayed than their shortest time."""
    hours: tuple[BidOutcome, ...] = field(default=(), repr=False)
    """The single hours, where several were simulated; the other fields are of all together."""
    drawn_w: float | None = None
    """Mean power, where energy is billed as metered; None: at the average that was bid."""
    credit_per_h: float = 0.0
    """What the programme pays in an hour, less penalties, where its credit is in the cost."""
    hold: float = 0.0
    """Share of the hours that must meet all constraints, each by itself; 0: all together must."""
    cost_uncontrolled: float = math.nan
    """The bill of the same jobs run at once at full speed, without a contract."""
    limited: bool = False
    """Whether a limit of the power was kept beside the bid, which may hold it below the target."""

    @property
    def saving_against_uncontrolled(self) -> float:
        """The share by which the bill is lower than it would be without a contract."""
        return saved_share(self.cost, self.cost_uncontrolled)

    def savings(self) -> dict[str, float]:
        """For answers: what the bill changes by, then the published figure."""
        return {"saving_against_uncontrolled": self.saving_against_uncontrolled,
                "saving": self.saving}

    @property
    def met(self) -> bool:
        if self._deciding is not None:
            return self._deciding.met
        return self.tracking.met and all(q.met for q in self.quality)

    @property
    def _deciding(self) -> BidOutcome | None:
        """The hour that must be met for enough hours to be: all better ones are then met too."""
        if not self.hours or self.hold <= 0:
            return None
        ranked = sorted(self.hours, key=lambda hour: (not hour.met, hour.excess))
        return ranked[self._hours_asked - 1]

    @property
    def _hours_asked(self) -> int:
        return max(1, math.ceil(self.hold * len(self.hours) - 1e-9))

    @property
    def violations(self) -> tuple[str, ...]:
        """Each constraint that fails, and by how much."""
        if self._deciding is not None:
            if self._deciding.met:
                return ()
            count, asked = sum(hour.met for hour in self.hours), self._hours_asked
            return (
                f"hours: all constraints are met in {count} of {len(self.hours)} hours, "
                f"{asked - count} fewer than asked", *self._deciding.violations,
            )
        found = []
        if not self.tracking.met and self.tracking.score is not None:
            found.append(f"score: {self.tracking.score:.2f}, {self.tracking.excess:.2f} below the "
                         f"programme's {self.tracking.least:.2f}")
        elif not self.tracking.met:
            share, short = self.tracking.exceed_share, self.tracking.short_share
            held = "the power held down by the limit, " if self.limited else ""
            found.append(
                f"tracking: the error is large for {share:.1%} of the time, "
                f"{share - EXCEED_LIMIT:.1%} above the limit ({short:.1%} below the target, with "
                f"{held}too little work or too few free servers, {share - short:.1%} above it, "
                "with jobs that caps cannot slow enough)"
            )
        for q in self.quality:
            if not q.met:
                found.append(f"QoS of {q.name}: {q.why}")
        return tuple(found)

    @property
    def excess(self) -> float:
        """The sum by which constraints fail: what to make small where none is met."""
        if self._deciding is not None:
            return self._deciding.excess
        return self.tracking.excess + sum(q.excess for q in self.quality)


Simulate = Callable[[Bid], BidOutcome]


@dataclass(frozen=True)
class Trial:
    """One point of the cost surface."""

    average_w: float
    reserve_w: float
    cost: float
    feasible: bool
    why: str = ""
    """The constraints that fail."""
    error: float = 0.0
    """Mean tracking error: with it the bid can be priced anew."""
    weights: tuple[float, ...] = ()
    start_share: float = 1.0
    drawn_w: float | None = None
    """Mean power, where a programme's credit is in the cost and energy is billed as metered."""
    credit_per_h: float = 0.0
    """That credit for an hour, by the score that the simulation gave."""

    @property
    def bid(self) -> Bid:
        return Bid(self.average_w, self.reserve_w, self.weights, self.start_share)

    @property
    def billed_w(self) -> float:
        """The mean power that the energy is billed at."""
        return self.average_w if self.drawn_w is None else self.drawn_w

    def hour_cost(self, energy_price: float, reserve_price: float, error_price: float) -> float:
        """What an hour costs at other prices; a programme's credit does not depend on them."""
        energy = energy_price * self.billed_w / 1000.0
        if self.drawn_w is not None:
            return energy - self.credit_per_h
        kw = self.reserve_w / 1000.0
        return energy - reserve_price * kw + error_price * kw * self.error


@dataclass(frozen=True, eq=False)
class Decision:
    """The bid, or none: then it is better, or only possible, not to participate."""

    bid: Bid | None
    reason: str
    outcome: BidOutcome | None = None
    trials: tuple[Trial, ...] = ()
    nearest: Bid | None = None
    """Where nothing is feasible, the bid that fails least."""
    notes: dict[str, object] = field(default_factory=dict)
    power_w_alone: float | None = None
    """Mean power without a contract that the gain was counted from; None: the workload's."""

    @property
    def participates(self) -> bool:
        return self.bid is not None


def trial_of(bid: Bid, outcome: BidOutcome) -> Trial:
    return Trial(
        bid.average_w, bid.reserve_w, outcome.cost, outcome.met,
        "; ".join(outcome.violations), outcome.tracking.mean, bid.weights,
        bid.start_share, outcome.drawn_w, outcome.credit_per_h,
    )


def try_all(
    problem: Problem,
    simulate: Simulate,
    bids: Sequence[Bid],
    *,
    whole: bool = True,
    progress: Callable[[float], None] = lambda fraction: None,
) -> list[tuple[Bid, BidOutcome]]:
    """Simulate these bids; unless the `whole` surface is wanted, only those that can be best.

    Without tracking errors a bid costs what is known beforehand, and errors only add to it. So
    bids are tried in the order of that cost, up to where it exceeds that of one that is met.
    """
    def floor(number: int) -> float:
        bid = bids[number]
        kw = problem.energy_price * bid.average_w - problem.reserve_price * bid.reserve_w
        return problem.hours * kw / 1000.0

    found: dict[int, BidOutcome] = {}
    best = math.inf
    for done, number in enumerate(sorted(range(len(bids)), key=floor)):
        if not whole and not problem.metered and floor(number) >= best:
            break
        outcome = found[number] = simulate(bids[number])
        if outcome.met and problem.gains(_billed_w(bids[number], outcome), outcome.cost):
            best = min(best, outcome.cost)
        progress((done + 1) / len(bids))
    return [(bids[number], found[number]) for number in sorted(found)]


def best_of(
    problem: Problem, tried: list[tuple[Bid, BidOutcome]], how: str, **notes: object
) -> Decision:
    """The cheapest bid that meets all constraints and brings a gain against staying out."""
    trials = tuple(trial_of(bid, outcome) for bid, outcome in tried)
    feasible = [(b, o) for b, o in tried if o.met]
    if not feasible:
        bid, outcome = min(tried, key=lambda pair: (pair[1].excess, pair[1].cost))
        return Decision(
            None,
            f"do not participate: {_none_of(len(tried))}: {'; '.join(outcome.violations)}",
            outcome, trials, nearest=bid, notes=notes,
        )
    alone = notes["cost_alone"] = problem.cost_alone
    worth = [(b, o) for b, o in feasible if problem.gains(_billed_w(b, o), o.cost)]
    bid, outcome = min(worth or feasible, key=lambda pair: pair[1].cost)
    if not worth:
        return Decision(
            None, "do not participate: " + _no_gain(bid, outcome.cost, alone),
            outcome, trials, nearest=bid, notes=notes,
        )
    return Decision(bid, f"{how}; {_binding(bid, tried)}", outcome, trials, notes=notes)


def _billed_w(bid: Bid, outcome: BidOutcome) -> float:
    """The mean power that the energy of a bid is billed at."""
    return bid.average_w if outcome.drawn_w is None else outcome.drawn_w


def _none_of(count: int) -> str:
    if count == 1:
        return "the only bid tried fails by"
    return f"none of the {count} bids tried meets all constraints; the nearest fails by"


def _no_gain(bid: Bid, cost: float, alone: float) -> str:
    """Why the cheapest bid that meets all constraints is not worth its trouble."""
    if cost >= alone:
        return (f"the cheapest bid that meets all constraints costs {cost:.4g}, "
                f"{cost - alone:.4g} more than staying out ({alone:.4g})")
    return (f"the cheapest bid that meets all constraints costs {cost:.4g} instead of {alone:.4g} "
            f"only because it puts energy off to later hours; the reserve of {bid.reserve_w:.0f} W "
            "brings no gain")


def _binding(bid: Bid, tried: list[tuple[Bid, BidOutcome]]) -> str:
    """What stops the bid from going further, from its cheaper neighbours that fail."""
    chosen = next(o for b, o in tried if b is bid)
    failing = [(b, o) for b, o in tried if not o.met and o.cost < chosen.cost]
    if not failing:
        return "no cheaper bid was tried"
    scale = max(bid.average_w, 1.0)
    near, outcome = min(
        failing,
        key=lambda pair: np.hypot(
            pair[0].average_w - bid.average_w, pair[0].reserve_w - bid.reserve_w
        ) / scale,
    )
    return (
        f"it stops there because the nearest cheaper bid tried ({_told_apart(near, bid)}) fails: "
        f"{outcome.violations[0]}"
    )


def _told_apart(near: Bid, bid: Bid) -> str:
    """A bid in words, by what tells it apart from another."""
    powers = f"P {near.average_w:.0f} W, R {near.reserve_w:.0f} W"
    if powers != f"P {bid.average_w:.0f} W, R {bid.reserve_w:.0f} W":
        return powers
    if near.start_share != bid.start_share:
        return (f"the same powers, with starts planned at {near.start_share:.0%} of the power "
                f"range instead of {bid.start_share:.0%}")
    if near.weights != bid.weights and len(near.weights) == len(bid.weights):
        apart = max(abs(one - other) for one, other in zip(near.weights, bid.weights, strict=True))
        return f"the same powers, with weights that differ by up to {apart:.2g}"
    return (f"the same but for {near.average_w - bid.average_w:+.2g} W of P and "
            f"{near.reserve_w - bid.reserve_w:+.2g} W of R")
