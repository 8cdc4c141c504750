"""What stands behind the costs of a contract: a currency, and prices that nobody gave."""

from __future__ import annotations

from wattline.demand_response.credit import pays_credit
from wattline.demand_response.reading import contract_of
from wattline.grid.programme import programme
from wattline.scenario.contract_section import PriceSection
from wattline.scenario.model import Scenario

NO_CURRENCY = "in units of the prices"
"""Behind a cost whose currency nobody named."""


def currency_words(scenario: Scenario) -> str:
    """What to put behind a cost."""
    return currency_of(scenario) or NO_CURRENCY


def currency_of(scenario: Scenario) -> str | None:
    """That of the prices, or of the programme whose credit stands in the bill."""
    contract = contract_of(scenario)
    if contract.programme is not None and pays_credit(contract):
        return contract.prices.currency or programme(contract.programme).payment.currency or None
    return contract.prices.currency or None


def assumed_prices(scenario: Scenario) -> list[str]:
    """A line where costs rest on prices that nobody gave."""
    contract = contract_of(scenario)
    prices = contract.prices
    # A programme's credit is in the place of the other two.
    names = ("energy",) if pays_credit(contract) else ("energy", "reserve", "error")
    missing = [name for name in names
               if name not in prices.model_fields_set]
    if not missing:
        return []
    what = ", ".join(missing)
    price = PriceSection.model_fields[missing[0]].default
    return [f"the price{'s' if len(missing) > 1 else ''} of {what} "
            f"{'are' if len(missing) > 1 else 'is'} assumed: {price:g} per kWh; give "
            "[contract.prices] in the scenario"]
