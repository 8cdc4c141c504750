"""An energy budget as a power plan: joules for a period, spent where they cost least.

The period is cut into slots at every step of the price (or carbon) signal. Each slot gets the
least that the machine draws; what the budget leaves above that goes to the cheapest slots first,
each up to the most that the machine can draw. It is the exact optimum of that linear problem. The
plan is made anew at the beginning of every slot, so joules that were not used are spent later.

Periods follow each other for ever. A job that ends in a later period than it starts in draws from
both; `carry` says who pays (`FORBID`, `CHARGE_NOW`, `ALLOW`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.kernel import kernel
from wattline.model.signal import FloatArray, Signal
from wattline.model.units import format_energy, format_power
from wattline.physics.budget_terms import ALLOW, CHARGE_NOW, EXPIRE


class Slots(NamedTuple):
    """The period in slots: slot i lasts from edge_s[i] to edge_s[i + 1]; `order` is by cost."""

    edge_s: FloatArray
    order: IntArray


@dataclass(frozen=True, eq=False)
class EnergyBudget:
    """Joules for a period, and what a joule costs at each time of it."""

    energy_j: float
    start_s: float
    end_s: float
    cost: Signal
    """Cost of a joule in any unit: price, carbon, or a mix; only its order matters."""
    slot_s: float = 3600.0
    """No slot is longer than this, even where the cost is constant."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.energy_j) and self.energy_j > 0):
            raise InputError(f"the energy budget is {self.energy_j:g} J, must be above 0")
        if not self.end_s > self.start_s:
            raise InputError(
                f"the budget's period ends at {self.end_s:g} s, before it begins at "
                f"{self.start_s:g} s"
            )
        if not self.slot_s > 0:
            raise InputError(f"slot_s is {self.slot_s:g}, must be above 0")

    @property
    def mean_w(self) -> float:
        """The constant cap that would spend the same energy."""
        return self.energy_j / (self.end_s - self.start_s)

    def checked(self, min_w: float, max_w: float) -> EnergyBudget:
        """Refuse a budget that even an idle machine exceeds; one that cannot bind is fine."""
        least = min_w * (self.end_s - self.start_s)
        if self.energy_j < least:
            raise InputError(
                f"the energy budget of {format_energy(self.energy_j)} is below the "
                f"{format_energy(least)} that the machine draws idle in this period "
                f"({format_power(min_w)})"
            )
        if not max_w > min_w:
            raise InputError("a budget needs a machine that draws more busy than idle")
        return self

    def slots(self) -> Slots:
        inner = self.cost.time_s[(self.cost.time_s > self.start_s)
                                 & (self.cost.time_s < self.end_s)]
        steps = np.arange(self.start_s, self.end_s, self.slot_s)
        edges = np.unique(np.concatenate((steps, inner, [self.end_s])))
        weight = self.cost.sample(edges[:-1])
        return Slots(edges, np.argsort(weight, kind="stable").astype(np.int64))


def cost_of(price: Signal | None, carbon: Signal | None, carbon_weight: float) -> Signal:
    """What a joule costs over time: by price, by carbon, by both, or always the same."""
    if price is not None and carbon is not None:
        return blended(price, carbon, carbon_weight)
    return price or carbon or Signal.constant(1.0)


def blended(price: Signal, carbon: Signal, carbon_weight: float) -> Signal:
    """A mix of price and carbon intensity, each relative to its mean; 0 is price alone."""
    if not 0 <= carbon_weight <= 1:
        raise InputError(f"carbon_weight is {carbon_weight}, must lie between 0 and 1")
    times = np.unique(np.concatenate((price.time_s, carbon.time_s)))

    def relative(signal: Signal) -> FloatArray:
        values = signal.sample(times)
        scale = float(np.mean(np.abs(signal.value))) or 1.0
        return values / scale

    mixed = (1 - carbon_weight) * relative(price) + carbon_weight * relative(carbon)
    return Signal(times, mixed, "relative cost")


@kernel
def slot_at(edge_s: FloatArray, time_s: float) -> int:
    """The slot that holds at a time, clipped to the period."""
    found = int(np.searchsorted(edge_s, time_s, side="right")) - 1
    return min(max(found, 0), edge_s.size - 2)


@kernel
def planned_power(
    slots: Slots, now_s: float, remaining_j: float, min_w: float, max_w: float
) -> float:
    """The cap of the slot that holds now, when so many joules are left for the rest."""
    edge_s = slots.edge_s
    here = slot_at(edge_s, now_s)
    begin = max(now_s, edge_s[here])
    span = edge_s[here + 1] - begin
    if span <= 0.0:
        return min_w
    spare = remaining_j - min_w * (edge_s[-1] - begin)
    for place in range(slots.order.size):
        slot = slots.order[place]
        if slot < here:
            continue
        length = span if slot == here else edge_s[slot + 1] - edge_s[slot]
        given = min(max(spare, 0.0), (max_w - min_w) * length)
        if slot == here:
            return float(min_w + given / length)
        spare -= given
    return min_w


class Offer(NamedTuple):
    """What an idle machine offers a job: joules above idle, and how far the period's end is."""

    here_j: float
    """In the period of the start, with what was saved up..."""
    period_j: float
    """...and in each later one."""
    left_s: float
    length_s: float
    carry: int
    unspent: int


@kernel
def has_room(offer: Offer, rise_w: float, time_s: float) -> bool:
    """Whether a job that draws so much above idle for so long finds its joules."""
    slack_j = 1e-9 * (abs(offer.here_j) + offer.period_j)
    if offer.carry == CHARGE_NOW:
        return rise_w * time_s <= offer.here_j + slack_j
    after_j = offer.here_j + slack_j - rise_w * min(time_s, offer.left_s)
    rest_s = time_s - offer.left_s
    if after_j < 0.0 or offer.carry == ALLOW or rest_s <= 0.0:
        return after_j >= 0.0
    if offer.unspent == EXPIRE:
        return rise_w * min(rest_s, offer.length_s) <= offer.period_j + slack_j
    # All that was saved may be drawn from: whole periods first, then what the last one has of it.
    whole = np.floor(rest_s / offer.length_s)
    after_j += whole * (offer.period_j - rise_w * offer.length_s)
    partly_j = rise_w * (rest_s - whole * offer.length_s)
    return bool(after_j >= 0.0 and after_j + offer.period_j - partly_j >= 0.0)


def plan(budget: EnergyBudget, min_w: float, max_w: float) -> Signal:
    """The whole plan from the start, if all that is planned is used."""
    slots = budget.checked(min_w, max_w).slots()
    caps = np.empty(slots.order.size)
    remaining = budget.energy_j
    for slot in range(caps.size):
        begin, end = slots.edge_s[slot], slots.edge_s[slot + 1]
        caps[slot] = planned_power(slots, float(begin), remaining, min_w, max_w)
        remaining -= caps[slot] * (end - begin)
    return Signal(slots.edge_s[:-1], caps, "W")
