"""Day-ahead: in which hours to participate, and with which bid, by the prices of the hours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    block_hours: int = 1,
) -> list[Hour]:
    """For each hour the cheapest bid that meets all constraints and brings a gain, or staying out.

    `options` were simulated once; a tracking error, a score and the power drawn do not depend on
    prices, so each hour only re-prices them. All hours of a block, the market's product, have one
    bid. With `hours_max`, only the blocks that save most are bid for, of so many hours at most.
    Staying out is billed at `power_w_alone`, or at the workload's mean power.
    """
    if hours < 1:
        raise InputError(f"a plan needs at least one hour, not {hours}")
    firsts_s = [start_s + number * HOUR_S for number in range(hours)]
    blocks = []
    for number in range(0, hours, block_hours):
        mine_s = firsts_s[number : number + block_hours]
        energy, reserve, error = prices.mean(mine_s[0], mine_s[-1] + HOUR_S)
        problem = Problem(workload, energy, reserve, error, power_w_alone=power_w_alone)
        best: tuple[float, Trial | None] = (float("inf"), None)
        for tried in options:
            if not tried.feasible:
                continue
            cost = tried.hour_cost(energy, reserve, error)
            if cost < best[0] and problem.gains(tried.billed_w, cost):
                best = (cost, tried)
        blocks.append([_hour(first_s, best[1], prices, problem) for first_s in mine_s])
    if hours_max is not None:
        blocks = _keep_best(blocks, hours_max)
    return [hour for block in blocks for hour in block]


def _hour(first_s: float, tried: Trial | None, prices: Prices, problem: Problem) -> Hour:
    """An hour of a block by its own prices."""
    at = prices.mean(first_s, first_s + HOUR_S)
    without = replace(problem, energy_price=at[0]).cost_alone
    if tried is None:
        return Hour(first_s, None, without, without)
    return Hour(first_s, tried.bid, tried.hour_cost(*at), without)


def _keep_best(blocks: list[list[Hour]], hours_max: int) -> list[list[Hour]]:
    """Stay out of all but the blocks that save most."""
    left, kept = hours_max, set()
    for block in sorted((b for b in blocks if b[0].bid is not None),
                        key=lambda b: -sum(hour.saving for hour in b)):
        if len(block) <= left:
            left -= len(block)
            kept.add(block[0].start_s)
    return [block if block[0].start_s in kept else
            [Hour(h.start_s, None, h.cost_without, h.cost_without) for h in block]
            for block in blocks]
