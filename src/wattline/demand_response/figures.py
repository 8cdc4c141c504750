"""The figures of a simulated contract: what was offered, what it cost, what became of the jobs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from wattline.demand_response.credit import why_not
from wattline.demand_response.limit_figures import (
    curtailment_figures,
    event_figures,
    promised_w,
)
from wattline.demand_response.money import assumed_prices, currency_of
from wattline.demand_response.reading import contract_of
from wattline.demand_response.run import ContractRun
from wattline.grid.bidding import Decision
from wattline.grid.market import Bid
from wattline.grid.qos import met_as_judged
from wattline.model.signal import FloatArray
from wattline.policies.regulation.rebid import LEAST
from wattline.scenario.contract_section import ContractSection
from wattline.scenario.model import Scenario


def day_reason(plan: list[Bid | None], decision: Decision | None) -> str:
    taken = sum(bid is not None for bid in plan)
    if taken:
        return (f"bids for {taken} of {len(plan)} hours: each with the cheapest bid tried that "
                "meets all constraints and brings a gain at its prices")
    if decision is not None and not any(t.feasible for t in decision.trials):
        return decision.reason
    return "do not participate: at the prices of no hour a bid that meets all constraints gains"


def bids_of(found: ContractRun) -> list[dict[str, Any]]:
    """The bids of the judged hours, which count from the start of the contract."""
    contract, first_s = found.contract, found.case.judged_s
    starts = contract.average_w.time_s
    rows = zip(starts, np.append(starts[1:], found.case.end_s), contract.average_w.value,
               contract.reserve_w.value, strict=True)
    judged = [(start_s, a, r) for start_s, end_s, a, r in rows if end_s > first_s]
    return [{"hour": h, "start_s": max(0.0, float(start_s - first_s)), "average_power_w": float(a),
             "reserve_w": float(r)} for h, (start_s, a, r) in enumerate(judged)]


def contract_figures(
    scenario: Scenario, found: ContractRun, decision: Decision | None
) -> dict[str, Any]:
    """Cost, tracking error and quality of service, as `wattline regulate --json` prints them."""
    contract, case, bill = contract_of(scenario), found.case, found.settlement
    names = [t.name for t in case.workload.types]
    averages, reserves, spans_s = _offered(found)
    kept = curtailment_figures(found) if case.curtailment is not None else None
    events = event_figures(contract, found) if case.events is not None else None
    violations = [*found.outcome.violations, *(kept["violations"] if kept else ()),
                  *(events["violations"] if events else ())]
    asked = case.events is not None and case.events.cap_w is not None
    held = reserves.size > 0 or kept is not None or asked
    result: dict[str, Any] = {
        "average_power_w": _mean(averages, spans_s) if reserves.size else None,
        "reserve_w": _mean(reserves, spans_s) if reserves.size else None,
        "weights": dict(zip(names, found.weights, strict=True)),
        "cost": bill.cost,
        "currency": currency_of(scenario, case),
        "assumed": [*assumed_prices(scenario), *case.assumed, *_unjudged(contract, found)],
        **found.outcome.savings(),
        "tracking": asdict(bill.tracking),
        "qos": {q.name: q.figures() for q in found.quality},
        # Where nothing was promised there is nothing to keep.
        "constraints_met": met_as_judged(violations, found.quality) if held else None,
        "violations": violations,
        "participates": held,
        "reason": decision.reason if decision else _run_reason(found),
        "cost_uncontrolled": found.outcome.cost_uncontrolled,
        "standby_energy_share": found.standby_share,
        "policy": case.policy,
        "workload": case.workload.name,
        "servers": case.workload.servers,
        "warmup_s": case.warmup_s,
        "engine_s": found.run.engine_s,
    }
    result["facility"] = contract.facility
    result["score"] = _score(found, kept)
    result["programme"] = _programme(contract, found, result["reserve_w"])
    if decision is not None and decision.bid is None and decision.nearest is not None:
        result["nearest"] = _nearest(names, decision)
    if case.adaptive:
        result["bids"] = bids_of(found)
    if kept is not None:
        result["curtailment"] = kept
    if events is not None:
        result["events"] = events
    return result


def _unjudged(contract: ContractSection, found: ContractRun) -> list[str]:
    """What a reader would take for judged or followed, and is not."""
    terms, said = found.case.programme, []
    if terms is not None and terms.signal.kind == "frequency" and not isinstance(
            contract.signal, str):
        said.append("the signal is drawn as a level: full_hz and deadband_hz of the programme "
                    "have no effect on it; give a file of frequencies with signal")
    if not any(quality.jobs for quality in found.quality):
        said.append("no job was submitted in the contract: there is no quality of service to judge")
    return said


def _score(found: ContractRun, kept: dict[str, Any] | None) -> float | None:
    """The programme's; by the published rule, the share of the time without a large error."""
    if kept is not None:
        return float(1.0 - kept["exceed_share"])
    if not np.any(found.contract.reserve_w.value > 0):
        return None
    tracking = found.tracking
    return 1.0 - tracking.exceed_share if tracking.score is None else tracking.score


def _programme(
    contract: ContractSection, found: ContractRun, reserve_w: float | None
) -> dict[str, Any] | None:
    """What the programme says of the contract: its score, what it pays, and its least offer."""
    case = found.case
    if case.programme is None:
        return None
    terms, bill = case.programme, found.settlement
    result: dict[str, Any] = {
        "name": contract.programme, "title": terms.title, "least_score": terms.judged.least,
        "minimum_w": terms.terms.minimum_w, "currency": terms.payment.currency or None,
        "sites_needed": None, "credit": None, "source": terms.source, "date": terms.date,
        "simplified": terms.simplified, "credit_in_cost": case.credited or case.reduction_paid,
        "not_in_cost": why_not(contract),
    }
    if bill.periods:
        result["credit"] = bill.credit
        result["periods"] = [asdict(period) | {"start_s": period.start_s - case.judged_s,
                                               "end_s": period.end_s - case.judged_s}
                             for period in bill.periods]
        offered_w = reserve_w if case.curtailment is None else promised_w(found)
        if offered_w is not None and offered_w < terms.terms.minimum_w:
            result["sites_needed"] = int(np.ceil(terms.terms.minimum_w / offered_w))
    return result


def _run_reason(found: ContractRun) -> str:
    """Where bids are found in the run: for how many hours, and why not for the others."""
    if not found.case.adaptive:
        return ""
    offers = bids_of(found)
    hours, taken = len(offers), sum(offer["reserve_w"] > 0 for offer in offers)
    if taken == hours:
        return ""
    word = f"bids for {taken} of {hours} hours" if taken else "do not participate"
    return (f"{word}: at the start of {'the others' if taken else 'each hour'}, caps can move the "
            f"jobs that run or wait by less than {LEAST:.0%} of the average power")


def _mean(values: FloatArray, spans_s: FloatArray) -> float:
    """By time; of values that are all the same exactly that one."""
    return float(values[0] + (values - values[0]) @ spans_s / spans_s.sum())


def _offered(found: ContractRun) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Average and reserve of the judged hours that were bid for, and how long each of them is."""
    contract = found.contract
    last = np.append(contract.average_w.time_s[1:], found.case.end_s)
    taken = (contract.reserve_w.value > 0) & (last > found.case.judged_s)
    first = np.maximum(contract.average_w.time_s, found.case.judged_s)
    spans_s = np.minimum(last, found.case.end_s) - first
    return contract.average_w.value[taken], contract.reserve_w.value[taken], spans_s[taken]


def _nearest(names: list[str], decision: Decision) -> dict[str, Any]:
    """The bid that fails least, and by how much, where none meets all constraints."""
    bid, outcome = decision.nearest, decision.outcome
    assert bid is not None
    found: dict[str, Any] = {
        "average_power_w": bid.average_w, "reserve_w": bid.reserve_w,
        "weights": dict(zip(names, bid.weights, strict=False)),
    }
    if outcome is not None:
        found |= {
            "cost": outcome.cost, **outcome.savings(),
            "tracking": asdict(outcome.tracking),
            "violations": list(outcome.violations),
        }
    return found
