"""Judges the three parts of short jobs: a bid for each workload, on several hours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

from wattline.demand_response.bidders import METHOD_OF, inside
from wattline.demand_response.bound import bound_of
from wattline.demand_response.choosing import choose
from wattline.demand_response.run import ContractRun, run_contract
from wattline.grid.market import Bid
from wattline.grid.qos import mean_interval, share_interval
from wattline.grid.signals import statistics
from wattline.model.worker_pool import worker_pool
from wattline.studies.regulation.workloads import Order, case_for, signal_of

Progress = Callable[[float], None]
PLANNED = 1000
"""Number of the first hour of a forecast, far from those that are judged."""
STD_EDGES = (0.0, 0.4, 0.5, 0.6, 0.7, 1.01)
"""Spans of the standard deviation of a signal's hours; the published signal has 0.40."""


@dataclass(frozen=True)
class PolicyOutcome:
    """One workload under one policy: the hour that was planned, and other hours."""

    name: str
    policy: str
    met: bool
    """Whether the planned hour met all constraints."""
    average_w: float
    reserve_w: float
    cost: float
    saving: float
    error: float
    exceed_share: float
    worst: str
    """Which constraint failed, on the planned hour."""
    standby_share: float
    other_hours: int
    other_met: int
    other_met_share: tuple[float, float]
    """95 % interval of the share of other hours that meet all constraints."""
    other_saving: tuple[float, float, float]
    """Mean and 95 % interval over the other hours."""
    other_error: tuple[float, float, float]
    weights: tuple[float, ...]
    seed: int = 1
    declined: bool = False
    """Whether no bid was found to offer; the figures are those of the one that fails least."""
    qos_met: bool = False
    """Whether the planned hour met the QoS of all types, whatever the tracking error."""
    hour: int = 0
    """Which of the signal's hours was planned."""
    signal_std: float = float("nan")
    """Of that hour."""
    bound_feasible: bool | None = None
    """Whether any planner could have kept a bid there; None where the bound says nothing."""
    bound_saving: float | None = None
    """The most that it could have saved."""

    @property
    def verdict(self) -> str:
        """Staying out breaks no promise."""
        return "met" if self.met else "declined" if self.declined else "violated"


@dataclass(frozen=True)
class OverSeeds:
    """One policy over all cases and seeds."""

    policy: str
    cases: int
    met: int
    met_share: tuple[float, float]
    """95 % interval."""
    declined: int
    violated: int
    saving: tuple[float, float, float]
    """Of those that are met: mean and 95 % interval."""
    feasible: int
    """Cases in which the bound finds a bid; the three below are of these alone."""
    feasible_offered: int
    feasible_declined: int
    other_hours: int
    """Of the bids that were offered there, hours that they were not planned on."""
    other_held: int
    """Those of them that met all constraints."""


def over_seeds(rows: Sequence[PolicyOutcome]) -> list[OverSeeds]:
    """Met, declined and violated by policy, with intervals instead of one draw."""
    found = []
    for policy in dict.fromkeys(row.policy for row in rows):
        mine = [row for row in rows if row.policy == policy]
        counts = Counter(row.verdict for row in mine)
        savings = [row.saving for row in mine if row.met]
        feasible = [row for row in mine if row.bound_feasible]
        offered = [row for row in feasible if not row.declined]
        found.append(OverSeeds(
            policy, len(mine), counts["met"], share_interval(counts["met"], len(mine)),
            counts["declined"], counts["violated"],
            mean_interval(savings) if savings else (float("nan"),) * 3,
            len(feasible), len(offered), len(feasible) - len(offered),
            sum(row.other_hours for row in offered), sum(row.other_met for row in offered),
        ))
    return found


@dataclass(frozen=True)
class ByStd:
    """Hours of a signal whose standard deviation lies in one span."""

    std: tuple[float, float]
    hours: int
    cases: int
    met: int
    met_share: tuple[float, float]
    """95 % interval."""
    declined: int
    feasible: int
    """Cases in which the bound finds a bid."""
    saving: tuple[float, float, float]
    """Of those that are met: mean and 95 % interval."""


def by_std(rows: Sequence[PolicyOutcome], edges: Sequence[float] = STD_EDGES) -> list[ByStd]:
    """How the share of cases that are met falls with the standard deviation of the hour."""
    found = []
    for low, high in pairwise(edges):
        mine = [row for row in rows if low <= row.signal_std < high]
        if not mine:
            continue
        met = [row for row in mine if row.met]
        found.append(ByStd(
            (low, high), len({row.hour for row in mine}), len(mine), len(met),
            share_interval(len(met), len(mine)), sum(row.declined for row in mine),
            sum(bool(row.bound_feasible) for row in mine),
            mean_interval([row.saving for row in met]) if met else (float("nan"),) * 3,
        ))
    return found


def evaluate(order: Order) -> list[PolicyOutcome]:
    """Choose the bid and judge it on hour 0 and on the other hours; a row per policy."""
    first = case_for(order, 0)
    bound = bound_of(first)
    decision = choose(
        first, METHOD_OF[order.policy], rounds=order.rounds, whole=False,
        forecast=order.forecast, hold=order.hold, seed=order.seed,
        signals=[signal_of(order, PLANNED + number) for number in range(order.forecast)],
    )
    bid = decision.bid or decision.nearest
    rows = []
    for policy in (order.policy, *order.also):
        mine = replace(order, policy=policy)
        if bid is None:
            rows.append(_empty(mine))
            continue
        runs = [run_contract(case_for(mine, number), bid) for number in range(order.hours)]
        row = _row(mine, bid, runs[0], runs[1:])
        # Others are judged with its bid, whether it would offer it or not.
        declined = decision.bid is None and policy == order.policy
        rows.append(replace(row, declined=declined))
    return [
        replace(
            row, seed=order.seed, hour=order.signal_hour,
            signal_std=statistics(inside(first)).std,
            bound_feasible=bound.feasible, bound_saving=bound.saving,
        ) for row in rows
    ]


def _row(
    order: Order, bid: Bid, first: ContractRun, others: Sequence[ContractRun]
) -> PolicyOutcome:
    bill = first.settlement
    failing = first.outcome.violations
    met = sum(run.constraints_met for run in others)
    return PolicyOutcome(
        order.name, order.policy, first.constraints_met, bid.average_w, bid.reserve_w, bill.cost,
        bill.saving, bill.tracking.mean, bill.tracking.exceed_share, failing[0] if failing else "",
        first.standby_share, len(others), met, share_interval(met, len(others)),
        mean_interval([r.settlement.saving for r in others]),
        mean_interval([r.tracking.mean for r in others]), first.weights,
        qos_met=all(quality.met for quality in first.quality),
    )


def _empty(order: Order) -> PolicyOutcome:
    none = (float("nan"),) * 3
    return PolicyOutcome(
        order.name, order.policy, False, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, "no bid is possible", 0.0, 0,
        0, (0.0, 1.0), none, none, (), order.seed, declined=True)


class Keeper(Protocol):
    """Where rows stay that were found, so that a run that was ended goes on."""

    def rows(self, order: Order) -> list[PolicyOutcome] | None: ...

    def add(self, order: Order, rows: Sequence[PolicyOutcome]) -> None: ...


def run_orders(
    orders: Sequence[Order], workers: int, progress: Progress, kept: Keeper | None = None
) -> list[PolicyOutcome]:
    """Evaluate all orders, on several processes; the rows come in the order of the orders."""
    found: dict[int, list[PolicyOutcome]] = {}
    for number, order in enumerate(orders):
        before = None if kept is None else kept.rows(order)
        if before is not None:
            found[number] = before

    def take(number: int, rows: list[PolicyOutcome]) -> None:
        found[number] = rows
        if kept is not None:
            kept.add(orders[number], rows)
        progress(len(found) / len(orders))

    left = [(number, order) for number, order in enumerate(orders) if number not in found]
    if workers <= 1:
        for number, order in left:
            take(number, evaluate(order))
    elif left:
        with worker_pool(workers) as pool:
            # The largest first: begun last, one of them alone would keep the others waiting.
            ranked = sorted(left, key=lambda pair: -pair[1].workload.servers)
            waiting = {pool.submit(evaluate, order): number for number, order in ranked}
            for done in as_completed(waiting):
                take(waiting[done], done.result())
    return [row for number in range(len(orders)) for row in found[number]]
