"""Periods of an energy budget and their slots: which one holds, what it has, what it may draw.

Budgets of whole nodes (`policies.admission.budget_book`) and of shared nodes
(`shared_nodes.joule_book`) plan with these. A slot is planned from what its period has left when
the slot begins. Schedulers decide when something happens, which may be later: they say what had
been drawn by then, so that an event which has nothing to do with it changes no plan.

A `budget` is any tuple with the fields of `Periods`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wattline.model.kernel import kernel
from wattline.physics.budget import Slots, planned_power
from wattline.physics.budget_terms import CHARGE_NOW, KEEP


class Periods(NamedTuple):
    """Periods one after the other, each with `energy_j`; after the planned ones the last repeats.
    """

    edge_s: Any
    """Edges of the slots of each planned period, from its beginning, its end included."""
    order: Any
    """Slots of each period by cost, numbered within the period."""
    first: Any
    """First slot of each period, and one past the last slot of all."""
    start_s: float
    length_s: float
    energy_j: float
    min_w: float
    max_w: float
    carry: int
    unspent: int


class Used(NamedTuple):
    """A period's account at a time."""

    saved_j: float
    """Carried over from the periods before."""
    drawn_j: float
    """By the machine since the period began."""
    charged_j: float
    """For jobs that started in it, by their requests."""
    power_w: float
    """The machine's power then."""


@kernel
def begin_s(budget: Any, period: int) -> float:
    return float(budget.start_s + period * budget.length_s)


@kernel
def gives_j(budget: Any) -> float:
    """What a period has above idle power."""
    return float(budget.energy_j - budget.min_w * budget.length_s)


@kernel
def left_over_j(budget: Any, used: Used) -> float:
    """What a period that is over leaves to the next one."""
    if budget.unspent != KEEP:
        return 0.0
    counted_j = used.drawn_j
    if budget.carry == CHARGE_NOW:
        counted_j = budget.min_w * budget.length_s + used.charged_j
    return float(max(budget.energy_j + used.saved_j - counted_j, 0.0))


@kernel
def template(budget: Any, period: int) -> int:
    """The planned period whose slots a period has."""
    return int(min(period, budget.first.size - 2))


@kernel
def last_slot(budget: Any, planned: int) -> int:
    return int(budget.first[planned + 1] - budget.first[planned] - 1)


@kernel
def slot_edge_s(budget: Any, planned: int, slot: int) -> float:
    """When a slot begins, from the beginning of its period."""
    return float(budget.edge_s[budget.first[planned] + planned + slot])


@kernel
def slot_of(budget: Any, period: int, time_s: float) -> int:
    """The slot of a period that holds at a time of it."""
    planned = template(budget, period)
    begun_s = begin_s(budget, period)
    slot = last_slot(budget, planned)
    while slot > 0 and begun_s + slot_edge_s(budget, planned, slot) > time_s:
        slot -= 1
    return int(slot)


@kernel
def slot_begin_s(budget: Any, period: int, slot: int) -> float:
    """When a slot begins; one past the last of a period is the first of the next one."""
    planned = template(budget, period)
    if slot > last_slot(budget, planned):
        return begin_s(budget, period + 1)
    return begin_s(budget, period) + slot_edge_s(budget, planned, slot)


@kernel
def slot_power_w(budget: Any, period: int, slot: int, time_s: float, used: Used) -> float:
    """The power that a slot is planned with at a time of it, from what the period then has left.

    Infinite where that is all that the machine can draw: then no price holds anybody back, not even
    a job that draws more than its nodes are made for.
    """
    planned = template(budget, period)
    begin, end = budget.first[planned], budget.first[planned + 1]
    edges = budget.edge_s[begin + planned : end + planned + 1]
    since_s = max(time_s - begin_s(budget, period), edges[slot])
    free_w = budget.min_w
    left_j = budget.energy_j + used.saved_j - used.drawn_j
    if budget.carry == CHARGE_NOW:
        # What runs is paid for; the plan is of what may be added to it.
        free_w = max(used.power_w, budget.min_w)
        left_j = gives_j(budget) + used.saved_j - used.charged_j
        left_j += budget.min_w * (budget.length_s - since_s)
    slots = Slots(edges, budget.order[begin:end])
    given_w = planned_power(slots, since_s, left_j, budget.min_w, budget.max_w)
    if given_w >= budget.max_w:
        return float("inf")
    return float(free_w + given_w - budget.min_w)
