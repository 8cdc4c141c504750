"""Day-ahead: in which hours to participate, and with which bid, by the prices of the hours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wattline.grid.bidding.problem import Problem, Trial
from wattline.grid.market import Bid, Prices
from wattline.grid.workloads import Workload
from wattline.model.errors import InputError

HOUR_S = 3600.0


@dataclass(frozen=True)
class Hour:
    """The plan for one hour; no bid means staying out."""

    start_s: float
    bid: Bid | None
    cost: float
    cost_without: float

    @property
    def saving(self) -> float:
        return self.cost_without - self.cost


def plan_hours(
    options: Sequence[Trial],
    prices: Prices,
    workload: Workload,
    *,
    hours: int = 24,
    hours_max: int | None = None,
    start_s: float = 0.0,
    power_w_alone: float | None = None,
) -> list[Hour]:
    """For each hour the cheapest bid that meets all constraints and brings a gain, or staying out.

    `options` were simulated once; a tracking error, a score and the power drawn do not depend on
    prices, so each hour only re-prices them. With `hours_max`, only the hours that save most are
    bid for. Staying out is billed at `power_w_alone`, or at the workload's mean power.
    """
    if hours < 1:
        raise InputError(f"a plan needs at least one hour, not {hours}")
    plan = []
    for number in range(hours):
        begin_s = start_s + number * HOUR_S
        energy, reserve, error = prices.mean(begin_s, begin_s + HOUR_S)
        problem = Problem(workload, energy, reserve, error, power_w_alone=power_w_alone)
        best: tuple[float, Bid | None] = (float("inf"), None)
        for tried in options:
            if not tried.feasible:
                continue
            cost = tried.hour_cost(energy, reserve, error)
            if cost < best[0] and problem.gains(tried.billed_w, cost):
                best = (cost, tried.bid)
        without = problem.cost_alone
        plan.append(Hour(begin_s, best[1], without if best[1] is None else best[0], without))
    if hours_max is not None:
        plan = _keep_best(plan, hours_max)
    return plan


def _keep_best(plan: list[Hour], hours_max: int) -> list[Hour]:
    ranked = sorted((h for h in plan if h.bid is not None), key=lambda h: -h.saving)
    kept = {h.start_s for h in ranked[: max(0, hours_max)]}
    return [
        h if h.start_s in kept else Hour(h.start_s, None, h.cost_without, h.cost_without)
        for h in plan
    ]
