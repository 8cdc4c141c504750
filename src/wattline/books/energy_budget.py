"""The period of an energy budget that holds at a moment, which may be after the last decision.

Decisions leave behind what they summed up, and none is made while nothing happens: jobs end with
nobody waiting, and periods begin. So copies of the clock and of the policy's memory are brought to
the moment by the rules of the budget itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.model.kernel import uncompiled

if TYPE_CHECKING:
    from wattline.books.books import Books
    from wattline.policies.state import State


@dataclass(frozen=True)
class BudgetNow:
    """A period's account: it has `energy_j` and `saved_j`."""

    at_s: float
    number: int
    """Periods count from 1."""
    start_s: float
    end_s: float
    energy_j: float
    saved_j: float
    """What earlier periods left to it."""
    left_j: float
    """What was neither drawn nor is promised: to idle nodes, and to jobs by their requests."""
    slot_w: float
    """The power that the slot of now is planned with, at most what the machine can draw."""


def has_budget(books: Books) -> bool:
    """Whether the power policy of the books keeps an energy budget."""
    plan = getattr(getattr(books.policy.admission, "memory", None), "plan", None)
    return plan is not None and "here_j" in (plan.dtype.names or ())


def budget_now(books: Books, now_s: float = -math.inf) -> BudgetNow | None:
    """The period that holds now, or when the books were told something last if that is later.

    None without a budget, or before the first decision.
    """
    if not has_budget(books):
        return None
    from wattline.policies.admission.budget_book import left_here_j, turn_page

    budget: Any = books.policy.admission
    if float(budget.memory.plan[0].slot_end_s) == 0.0:
        return None
    budget = budget._replace(memory=budget.memory.copy())
    state = books.state.with_arrays(clock=books.state.clock.copy())
    clock, plan = state.clock[0], budget.memory.plan[0]
    now_s = max(now_s, books.now_s)
    clock.energy_j += clock.power_w * (now_s - books.now_s)
    clock.now_s = now_s
    with uncompiled():  # a few sums, for which no compiler is waited for
        turn_page(state, budget)
        start_s = float(budget.start_s + plan.period * budget.length_s)
        end_s = start_s + float(budget.length_s)
        left_j = float(left_here_j(state, budget, _promised_j(state, budget, end_s)))
    return BudgetNow(
        at_s=now_s, number=int(plan.period) + 1, start_s=start_s, end_s=end_s,
        energy_j=float(budget.energy_j), saved_j=float(plan.saved_j), left_j=left_j,
        slot_w=min(float(plan.plan_w), float(budget.max_w)))


def _promised_j(state: State, budget: Any, until_s: float) -> float:
    """The sum of `budget_book.promised_j` from now on, over arrays: thousands of jobs may run."""
    from wattline.policies.admission.budget_book import promised_beside_j

    clock = state.clock[0]
    live = state.live[state.running[: int(clock.running)]]
    above_w = live["power_w"] - live["idle_w"]
    ends_s = np.where(live["expected_s"] >= clock.now_s, live["expected_s"], until_s)
    lasts_s = np.maximum(np.minimum(ends_s, until_s) - clock.now_s, 0.0)
    beside_j = promised_beside_j(state, budget, float(above_w.sum()), until_s - clock.now_s)
    return float(np.maximum(above_w, 0.0) @ lasts_s) + float(beside_j)
