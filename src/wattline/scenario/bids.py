"""The bid of a contract from Python: average power, reserve and weights, and why these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wattline.grid.bidding import Decision
from wattline.grid.dayahead import Hour
from wattline.model.errors import InputError, warn
from wattline.model.progress import silent
from wattline.model.shown import Shown
from wattline.scenario.choosing import choose, choose_day, plan_day
from wattline.scenario.contract_remarks import remarks
from wattline.scenario.contracts import contract_scenario
from wattline.scenario.held import check_hours
from wattline.scenario.money import assumed_prices
from wattline.scenario.regulated import Case
from wattline.scenario.regulation import RegulationScenario, case_of, planning_of


@dataclass(frozen=True, eq=False, repr=False)
class BidResult(Shown):
    """The bid that was chosen, the costs that were seen on the way, and why it stops there."""

    scenario: RegulationScenario
    decision: Decision
    figures: dict[str, Any]
    """As `wattline bid --json` prints them."""
    remarks: tuple[str, ...]

    @property
    def assumed(self) -> tuple[str, ...]:
        """Prices that nobody gave."""
        return tuple(self.figures["assumed"])

    def to_dict(self) -> dict[str, Any]:
        return dict(self.figures)


def bid(
    scenario: str | Path | RegulationScenario | None = None, *, method: str | None = None,
    hours: int | None = None, hours_most: int | None = None,
    progress: Callable[[float], None] = silent, **fields: Any,
) -> BidResult:
    """Choose average power, reserve and weights of a contract.

    `scenario` and fields are those of `regulate`; `method` is how the bid is chosen. With `hours`
    so many hours are planned by the prices, of which at most `hours_most` are bid for. It tries a
    hundred bids and more, which takes a minute:
    `wl.bid(workload="W4", servers=100, method="closed_form").figures["reserve_w"]`.

    >>> import wattline as wl
    >>> try:
    ...     wl.bid(workload="W4", servers=100, bid=(8400, 3400))
    ... except wl.InputError as error:
    ...     print(str(error)[:31])
    `wattline bid` chooses the bid:
    """
    made = contract_scenario(scenario, fields, method)
    refuse_unused(made, hours=hours, hours_most=hours_most)
    case = case_of(made)
    search = choose if hours is None else partial(choose_day, hours=hours)
    decision = search(case, made.bidding, rounds=made.rounds, progress=progress, verify=True,
                      **planning_of(made))
    figures = _result(made, case, decision)
    figures["other_hours"] = check_hours(made, case, decision.bid, chosen=True, progress=progress)
    if hours is not None:
        figures["hours"] = _plan(case, decision, hours, hours_most)
    found = BidResult(made, decision, figures,
                      (*remarks(made, choosing=True), *figures["assumed"]))
    warn(found.remarks)
    return found


def refuse_unused(
    scenario: RegulationScenario, *, hours: int | None, hours_most: int | None
) -> None:
    """Refuse what would be left unused, rather than leave it unused in silence."""
    if scenario.bid is not None:
        raise InputError("`wattline bid` chooses the bid: `wattline regulate` simulates a given "
                         "one; with --bid auto the scenario's own is put aside")
    if scenario.bidding == "adaptive":
        raise InputError("adaptive bids are found in the run: use `wattline regulate`")
    if scenario.bidding == "dayahead" and hours is None:
        raise InputError("day-ahead bids need --hours N: how many hours to plan")
    if hours_most is not None and hours is None:
        raise InputError("--hours-most needs --hours N: the hours it chooses from")


def _result(scenario: RegulationScenario, case: Case, decision: Decision) -> dict[str, Any]:
    names = [t.name for t in case.workload.types]
    shown = decision.bid or decision.nearest
    outcome = decision.outcome
    return {
        "participates": decision.participates,
        "average_power_w": decision.bid.average_w if decision.bid else None,
        "reserve_w": decision.bid.reserve_w if decision.bid else None,
        "weights": dict(zip(names, shown.weights, strict=False)) if shown else {},
        "reason": decision.reason,
        "cost": outcome.cost if outcome else None,
        "currency": scenario.prices.currency or None,
        "assumed": assumed_prices(scenario),
        "saving": outcome.saving if outcome else None,
        "tracking": asdict(outcome.tracking) if outcome else None,
        "qos": {q.name: {"violation_share": q.violation_share, "threshold": q.threshold}
                for q in outcome.quality} if outcome else {},
        # Cost, saving, tracking and QoS are its, where there is no bid.
        "nearest": {"average_power_w": decision.nearest.average_w,
                    "reserve_w": decision.nearest.reserve_w}
        if decision.bid is None and decision.nearest else None,
        "surface": [{"average_power_w": t.average_w, "reserve_w": t.reserve_w, "cost": t.cost,
                     "feasible": t.feasible, "why": t.why} for t in decision.trials],
    }  # fmt: skip


def _plan(case: Case, decision: Decision, hours: int, most: int | None) -> list[dict[str, Any]]:
    plan = plan_day(case, decision, hours=hours, hours_max=most)
    return [_hour_entry(h, case.judged_s) for h in plan]


def _hour_entry(hour: Hour, first_s: float = 0.0) -> dict[str, Any]:
    """An hour of the plan, for output; its start counts from that of the contract."""
    return {
        "start_s": hour.start_s - first_s, "participates": hour.bid is not None,
        "average_power_w": hour.bid.average_w if hour.bid else None,
        "reserve_w": hour.bid.reserve_w if hour.bid else None,
        "cost": hour.cost, "cost_without": hour.cost_without, "saving": hour.saving,
    }  # fmt: skip
