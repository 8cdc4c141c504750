"""Which bid to make for an hour of regulation service, and what the bids beside it would cost.

`wattline bid` searches on thirty hours and looks for remedies, for minutes; here a grid of bids, or
one search, is tried on a few hours, within seconds, so that its surface can be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wattline.demand_response.api import contract_scenario
from wattline.demand_response.bid_figures import bid_figures
from wattline.demand_response.building import case_of
from wattline.demand_response.case import Case
from wattline.demand_response.choosing import choose, first_block, forecast_cases, problem_of
from wattline.demand_response.pooling import simulator
from wattline.demand_response.remarks import remarks
from wattline.grid.bidding import Decision
from wattline.grid.bidding.exhaustive import exhaustive_bid
from wattline.model.units import counted

NAMED = ("workload", "servers", "policy", "utilisation", "level", "seed")
PRICES = ("energy", "reserve", "error")
ROUNDS = 100
COLUMNS = ("average_power_w", "reserve_w", "cost", "feasible", "why")


def bid_surface(given: Mapping[str, Any]) -> dict[str, Any]:
    """The cheapest bid that meets all constraints, and all that were tried as arrays."""
    fields = {name: given[name] for name in NAMED if given.get(name) is not None}
    fields |= {f"contract__prices__{name}": given[f"{name}_price"] for name in PRICES
               if given.get(f"{name}_price") is not None}
    scenario = contract_scenario(None, {**fields, "forecast": given["hours"]}, "exhaustive")
    case = case_of(scenario)
    decision = _decision(case, given)
    figures = bid_figures(scenario, case, decision)
    tried = figures.pop("surface")
    return {
        **figures,
        "surface": {name: [each[name] for each in tried] for name in COLUMNS},
        "assumptions": figures.pop("assumed"),
        "remarks": [*remarks(scenario, choosing=True),
                    f"{counted(len(tried), 'bid')} tried on {counted(given['hours'], 'hour')} that "
                    "might come; `wattline bid` plans on more of them and looks for remedies"],
    }


def _decision(case: Case, given: Mapping[str, Any]) -> Decision:
    if given["method"] != "grid":
        return choose(case, given["method"], rounds=ROUNDS, forecast=given["hours"],
                      seed=given["seed"], verify=True)
    hour = first_block(case)
    hours = forecast_cases(hour, given["hours"], given["seed"])
    return exhaustive_bid(problem_of(hour), simulator(hours), averages=given["averages"],
                          reserves=given["reserves"])
