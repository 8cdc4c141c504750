"""What stands behind the costs of a contract: a currency, and prices that nobody gave."""

from __future__ import annotations

from wattline.demand_response.reading import contract_of
from wattline.scenario.contract_section import PriceSection
from wattline.scenario.model import Scenario

NO_CURRENCY = "in units of the prices"
"""Behind a cost whose currency nobody named."""


def currency_words(scenario: Scenario) -> str:
    """What to put behind a cost."""
    return contract_of(scenario).prices.currency or NO_CURRENCY


def assumed_prices(scenario: Scenario) -> list[str]:
    """A line where costs rest on prices that nobody gave."""
    prices = contract_of(scenario).prices
    missing = [name for name in ("energy", "reserve", "error")
               if name not in prices.model_fields_set]
    if not missing:
        return []
    what = ", ".join(missing)
    price = PriceSection.model_fields[missing[0]].default
    return [f"the price{'s' if len(missing) > 1 else ''} of {what} "
            f"{'are' if len(missing) > 1 else 'is'} assumed: {price:g} per kWh; give "
            "[contract.prices] in the scenario"]
