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
    if case.programme is None or case.limit_w is not None:
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
