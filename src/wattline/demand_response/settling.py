"""The bill of a contract: by its prices, or by the programme's terms, period by period."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wattline.demand_response.case import Case
from wattline.grid.market import Contract, Prices, Settlement, settle
from wattline.model.signal import Signal


def settled(case: Case, actual_w: Signal, contract: Contract) -> Settlement:
    """The bill; where the programme's credit is in it, energy is billed as it was metered."""
    prices, none = case.prices, Signal.constant(0.0)
    if case.credited:
        prices = Prices(prices.energy, none, none)
    bill = settle(actual_w, contract, case.signal, prices, start_s=case.judged_s,
                  end_s=case.end_s, metered=case.credited)
    if case.curtailment is not None:
        return _with_reduction(case, bill, actual_w)
    if case.programme is None:
        return bill
    periods = case.programme.periods(actual_w, contract, case.signal, case.judged_s, case.end_s)
    if not periods:
        return bill
    weights = np.array([period.reserve_mwh for period in periods])
    scores = np.array([period.score for period in periods])
    score = float(scores[0] + (scores - scores[0]) @ weights / weights.sum())
    credit = float(sum(period.credit for period in periods))
    tracking = replace(bill.tracking, score=score, least=case.programme.judged.least)
    return replace(bill, tracking=tracking, credit=credit, periods=periods,
                   cost=bill.cost - credit if case.credited else bill.cost)


def _with_reduction(case: Case, bill: Settlement, actual_w: Signal) -> Settlement:
    """The bill with what the programme pays for the reduction, less the penalty."""
    if case.programme is None or case.programme.curtailment is None or not case.reduction_paid:
        return bill
    assert case.curtailment is not None
    told_w = case.programme.told_w(actual_w, case.start_s, case.end_s)
    baseline_w, _ = case.programme.baseline.counted_w(
        told_w, case.curtailment, case.workload.power_w_mean, case.start_s)
    periods = case.programme.reductions(told_w, case.curtailment, baseline_w)
    credit = float(sum(period.credit for period in periods))
    return replace(bill, credit=credit, periods=periods, cost=bill.cost - credit)
