"""Judges the three parts of short jobs: a bid for each workload, on several hours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace

from wattline.demand_response.bidders import METHOD_OF
from wattline.demand_response.choosing import choose
from wattline.demand_response.run import ContractRun, run_contract
from wattline.grid.market import Bid
from wattline.grid.qos import mean_interval, share_interval
from wattline.model.worker_pool import worker_pool
from wattline.studies.regulation.workloads import Order, case_for, signal_of

Progress = Callable[[float], None]
PLANNED = 1000
"""Number of the first hour of a forecast, far from those that are judged."""


@dataclass(frozen=True)
class Row:
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


def over_seeds(rows: Sequence[Row]) -> list[OverSeeds]:
    """Met, declined and violated by policy, with intervals instead of one draw."""
    found = []
    for policy in dict.fromkeys(row.policy for row in rows):
        mine = [row for row in rows if row.policy == policy]
        counts = Counter(row.verdict for row in mine)
        savings = [row.saving for row in mine if row.met]
        found.append(OverSeeds(
            policy, len(mine), counts["met"], share_interval(counts["met"], len(mine)),
            counts["declined"], counts["violated"],
            mean_interval(savings) if savings else (float("nan"),) * 3,
        ))  # fmt: skip
    return found


def evaluate(order: Order) -> list[Row]:
    """Choose the bid and judge it on hour 0 and on the other hours; a row per policy."""
    decision = choose(
        case_for(order, 0), METHOD_OF[order.policy], rounds=order.rounds, whole=False,
        forecast=order.forecast, hold=order.hold, seed=order.seed,
        signals=[signal_of(order, PLANNED + number) for number in range(order.forecast)],
    )  # fmt: skip
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
        rows.append(replace(row, seed=order.seed, declined=declined))
    return rows


def _row(order: Order, bid: Bid, first: ContractRun, others: Sequence[ContractRun]) -> Row:
    bill = first.settlement
    failing = first.outcome.violations
    met = sum(run.constraints_met for run in others)
    return Row(
        order.name, order.policy, first.constraints_met, bid.average_w, bid.reserve_w, bill.cost,
        bill.saving, bill.tracking.mean, bill.tracking.exceed_share, failing[0] if failing else "",
        first.standby_share, len(others), met, share_interval(met, len(others)),
        mean_interval([r.settlement.saving for r in others]),
        mean_interval([r.tracking.mean for r in others]), first.weights,
    )  # fmt: skip


def _empty(order: Order) -> Row:
    none = (float("nan"),) * 3
    return Row(order.name, order.policy, False, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, "no bid is possible",
               0.0, 0, 0, (0.0, 1.0), none, none, (), order.seed, declined=True)  # fmt: skip


def run_orders(orders: Sequence[Order], workers: int, progress: Progress) -> list[Row]:
    """Evaluate all orders, on several processes; the rows come in the order of the orders."""
    if workers <= 1:
        rows = []
        for number, order in enumerate(orders):
            rows += evaluate(order)
            progress((number + 1) / len(orders))
        return rows
    found: dict[int, list[Row]] = {}
    with worker_pool(workers) as pool:
        # The largest first: begun last, one of them alone would keep the others waiting.
        ranked = sorted(enumerate(orders), key=lambda pair: -pair[1].workload.servers)
        waiting = {pool.submit(evaluate, order): n for n, order in ranked}
        for done in as_completed(waiting):
            found[waiting[done]] = done.result()
            progress(len(found) / len(orders))
    return [row for number in range(len(orders)) for row in found[number]]
