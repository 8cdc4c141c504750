"""What a bidder asks: the outcome of a bid, on one case or pooled over several."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from wattline.demand_response.case import Case
from wattline.demand_response.run import ContractRun, run_contract
from wattline.grid.bidding.problem import BidOutcome, Simulate
from wattline.grid.market import Bid, TrackingError, saved_share
from wattline.grid.qos import TypeQuality
from wattline.model.progress import silent


def simulator(
    cases: Case | Sequence[Case], hold: float = 0.0, hour_done: Callable[[float], None] = silent
) -> Simulate:
    """What a bidder calls: the outcome of a bid, pooled over the cases.

    After each of them `hour_done` hears which share of the bid's cases is done.

    With `hold`, once a bid is known that holds, others are given up as soon as they cannot: on the
    cases seen till then they fail as surely as on all.
    """
    chosen = [cases] if isinstance(cases, Case) else list(cases)
    spare = math.floor((1 - hold) * len(chosen) + 1e-9)
    known = False

    def outcome(bid: Bid) -> BidOutcome:
        nonlocal known
        runs: list[ContractRun] = []
        missed = 0
        for case in chosen:
            runs.append(run_contract(case, bid))
            hour_done(len(runs) / len(chosen))
            missed += not runs[-1].constraints_met
            if hold > 0 and known and missed > spare:
                break
        found = pool(runs, hold)
        known = known or found.met
        return found

    return outcome


def pool(runs: Sequence[ContractRun], hold: float = 0.0) -> BidOutcome:
    """One outcome of several runs: mean bill, all jobs judged together.

    With `hold`, this share of the runs must meet all constraints by itself.
    """
    if len(runs) == 1:
        return runs[0].outcome
    types = range(len(runs[0].quality))
    quality = tuple(TypeQuality.pooled([run.quality[number] for run in runs]) for number in types)
    delays = tuple(np.concatenate([run.delays_s[number] for run in runs]) for number in types)
    bills = [run.settlement for run in runs]
    tracking = TrackingError.mean_of([bill.tracking for bill in bills])
    cost = float(np.mean([bill.cost for bill in bills]))
    without = float(np.mean([bill.cost_without for bill in bills]))
    outcomes = tuple(run.outcome for run in runs)
    drawn_w = [each.drawn_w for each in outcomes if each.drawn_w is not None]
    return BidOutcome(cost, saved_share(cost, without), tracking, quality, delays,
                      outcomes, float(np.mean(drawn_w)) if drawn_w else None,
                      float(np.mean([each.credit_per_h for each in outcomes])), hold,
                      float(np.mean([each.cost_uncontrolled for each in outcomes])))
