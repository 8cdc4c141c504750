"""The figures of a bid that was chosen, and of the hours that were planned with it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from wattline.demand_response.case import Case
from wattline.demand_response.choosing import plan_day
from wattline.demand_response.credit import least_offer_words
from wattline.demand_response.hours import planned_words
from wattline.demand_response.money import assumed_prices, currency_of
from wattline.demand_response.reading import contract_of
from wattline.grid.bidding import Decision
from wattline.grid.dayahead import Hour
from wattline.scenario.model import Scenario

NO_SAVINGS = {"saving_against_uncontrolled": None, "saving": None}
"""Of a bid that was not simulated."""


def bid_figures(scenario: Scenario, case: Case, decision: Decision) -> dict[str, Any]:
    """The bid that was chosen and those that were tried, as `wattline bid --json` prints them."""
    names = [t.name for t in case.workload.types]
    shown = decision.bid or decision.nearest
    outcome = decision.outcome
    return {
        "participates": decision.participates,
        "average_power_w": decision.bid.average_w if decision.bid else None,
        "reserve_w": decision.bid.reserve_w if decision.bid else None,
        "weights": dict(zip(names, shown.weights, strict=False)) if shown else {},
        "start_share": shown.start_share if shown else None,
        "policy": case.policy,
        "planned_on_hours": contract_of(scenario).forecast,
        "planned_on": planned_words(scenario),
        "facility": contract_of(scenario).facility,
        "reason": decision.reason,
        "least_offer": least_offer_words(case.programme,
                                         decision.bid.reserve_w if decision.bid else None),
        "cost": outcome.cost if outcome else None,
        "currency": currency_of(scenario, case),
        "assumed": [*assumed_prices(scenario), *case.assumed],
        **(outcome.savings() if outcome else NO_SAVINGS),
        "tracking": asdict(outcome.tracking) if outcome else None,
        "qos": {q.name: q.figures() for q in outcome.quality} if outcome else {},
        # Cost, saving, tracking and QoS are its, where there is no bid.
        "nearest": {"average_power_w": decision.nearest.average_w,
                    "reserve_w": decision.nearest.reserve_w}
        if decision.bid is None and decision.nearest else None,
        "surface": [{"average_power_w": t.average_w, "reserve_w": t.reserve_w, "cost": t.cost,
                     "feasible": t.feasible, "why": t.why} for t in decision.trials],
    }


def planned_hours(
    case: Case, decision: Decision, hours: int, most: int | None
) -> list[dict[str, Any]]:
    """Every hour of a plan by the prices: its bid, or that it stays out."""
    plan = plan_day(case, decision, hours=hours, hours_max=most)
    return [_hour_entry(h, case.judged_s) for h in plan]


def _hour_entry(hour: Hour, first_s: float = 0.0) -> dict[str, Any]:
    """An hour of the plan, for output; its start counts from that of the contract."""
    return {
        "start_s": hour.start_s - first_s, "participates": hour.bid is not None,
        "average_power_w": hour.bid.average_w if hour.bid else None,
        "reserve_w": hour.bid.reserve_w if hour.bid else None,
        "cost": hour.cost, "cost_without": hour.cost_without, "saving": hour.saving,
    }
