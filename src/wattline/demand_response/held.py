"""What a bid is worth on other hours than the one it was planned for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from wattline.demand_response.case import Case
from wattline.demand_response.checking import can_check, other_hours
from wattline.demand_response.choosing import CHECKING
from wattline.demand_response.hours import CHECK_HOURS, other_signals, planned_on_checked
from wattline.demand_response.reading import contract_of
from wattline.grid.market import Bid
from wattline.model.progress import silent
from wattline.scenario.model import Scenario


def check_hours(
    scenario: Scenario, case: Case, bid: Bid | None, *, chosen: bool,
    progress: Callable[[float], None] = silent,
) -> dict[str, Any] | None:
    """The bid on other hours; None where there is none, or nothing to draw them from."""
    count = contract_of(scenario).check
    if count is None:
        count = CHECK_HOURS if chosen else 0
    if bid is None or count == 0 or not can_check(case):
        return None
    signals = other_signals(scenario, count, stream=CHECKING)
    found = other_hours(case, bid, count, seed=scenario.trace.seed, signals=signals,
                        progress=progress)
    return asdict(found) | {"advice": _advice(scenario) if found.met < found.hours else "",
                            "planned_on": planned_on_checked(scenario)}


def _advice(scenario: Scenario) -> str:
    """What makes bids hold more often, of what is not in use yet."""
    contract, found = contract_of(scenario), []
    if contract.hold == 0:
        found.append("plan on other hours (--forecast 30 --hold 0.9)")
    if not contract.standby:
        found.append("let standby jobs fill a lack of work (--standby)")
    return " and ".join(found)
