"""Several sites that bid together: one contract, each site with its part of the reserve.

A market sets a least reserve that one site may not reach alone; and the errors of sites that
follow the same signal partly cancel, because the contract sees only their sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wattline.grid.bidding.problem import Trial
from wattline.grid.market import Bid, overlay
from wattline.model.errors import InputError
from wattline.model.signal import Signal


@dataclass(frozen=True)
class Option:
    """What one site can do: a bid with its hourly cost, or nothing (reserve 0)."""

    average_w: float
    reserve_w: float
    cost: float
    weights: tuple[float, ...] = ()
    start_share: float = 1.0
    put_off: float = 0.0
    """Of the lower bill, what only puts energy off to later hours, which pay for it."""

    @property
    def full_cost(self) -> float:
        """What options are compared by: the cost with what is put off."""
        return self.cost + self.put_off

    @property
    def bid(self) -> Bid | None:
        if self.reserve_w <= 0:
            return None
        return Bid(self.average_w, self.reserve_w, self.weights, self.start_share)


@dataclass(frozen=True)
class JointBid:
    """The part of every site, and the sum that is offered."""

    parts: Mapping[str, Option]
    average_w: float
    reserve_w: float
    """Both of the sites that bid: what the others draw is no part of the offer."""
    cost: float
    """Of all sites, in the hours that were planned."""
    reason: str


def options_of(
    trials: Sequence[Trial], power_w_mean: float, energy_price: float, hours: float = 1.0
) -> list[Option]:
    """The bids of a site that meet all constraints, and staying out; costs are of these hours."""
    stay = Option(power_w_mean, 0.0, energy_price * power_w_mean / 1000.0 * hours)

    def put_off(tried: Trial) -> float:
        less_kw = max(0.0, power_w_mean - tried.billed_w) / 1000.0
        return max(0.0, energy_price) * hours * less_kw

    return [
        stay,
        *(Option(t.average_w, t.reserve_w, t.cost, t.weights, t.start_share, put_off(t))
          for t in trials if t.feasible),
    ]


def join(sites: Mapping[str, Sequence[Option]], reserve_w_least: float = 0.0) -> JointBid:
    """The cheapest choice of one option a site whose reserves reach the market's least.

    Energy that is only put off is no gain: it counts as if it were paid at once.
    Exact: the options of the sites are added up one site at a time, keeping only sums that no
    other sum beats in both reserve and cost.
    """
    if not sites:
        raise InputError("a joint bid needs at least one site")
    sums: list[tuple[float, float, tuple[Option, ...]]] = [(0.0, 0.0, ())]
    for name, options in sites.items():
        if not options:
            raise InputError(f"site '{name}' has no options, not even to stay out")
        sums = _undominated(
            [(r + o.reserve_w, c + o.full_cost, (*parts, o))
             for r, c, parts in sums for o in options]
        )
    reached = [s for s in sums if s[0] >= reserve_w_least]
    out = min((s for s in sums if s[0] == 0.0), key=lambda s: s[1], default=None)
    if not reached:
        most_w = max(s[0] for s in sums)
        reason = (
            f"do not participate: together the sites offer at most {most_w:.6g} W, "
            f"{reserve_w_least - most_w:.6g} W below the least reserve"
        )
        chosen = out or min(sums, key=lambda s: s[1])
    else:
        chosen = min(reached, key=lambda s: s[1])
        reason = f"the cheapest of {len(reached)} undominated sums that reach the least reserve"
        if out is not None and out[1] <= chosen[1]:
            chosen, reason = out, f"do not participate: {_why_out(sites)}"
    parts = dict(zip(sites, chosen[2], strict=True))
    average_w = sum(o.average_w for o in chosen[2] if o.bid is not None)
    cost = sum(o.cost for o in chosen[2])
    return JointBid(parts, average_w, chosen[0], cost, reason)


def _why_out(sites: Mapping[str, Sequence[Option]]) -> str:
    if any(option.reserve_w > 0 for options in sites.values() for option in options):
        return "staying out is cheaper"
    return "no site has a bid that meets all constraints"


def _undominated(
    sums: list[tuple[float, float, tuple[Option, ...]]],
) -> list[tuple[float, float, tuple[Option, ...]]]:
    """Those with more reserve or less cost than every other, by falling reserve; and the 0 sum."""
    kept = []
    cheapest = float("inf")
    for entry in sorted(sums, key=lambda s: (-s[0], s[1])):
        if entry[1] < cheapest:
            kept.append(entry)
            cheapest = entry[1]
    none = min((s for s in sums if s[0] == 0.0), key=lambda s: s[1], default=None)
    if none is not None and none not in kept:
        kept.append(none)
    return kept


def summed(powers_w: Sequence[Signal], start_s: float, end_s: float) -> Signal:
    """The power of all sites: over- and undershoot of different ones cancel in it."""
    edges, values = overlay(tuple(powers_w), start_s, end_s)
    return Signal(edges[:-1], np.sum(values, axis=0), "W")
