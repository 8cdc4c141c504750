"""What stands behind the costs of a contract: a currency, and prices that nobody gave."""

from __future__ import annotations

from wattline.demand_response.case import Case
from wattline.demand_response.credit import pays_credit
from wattline.demand_response.reading import contract_of
from wattline.grid.programme import programme
from wattline.scenario.contract_section import ContractSection, PriceSection
from wattline.scenario.model import Scenario

NO_CURRENCY = "in units of the prices"
"""Behind a cost whose currency nobody named."""


def currency_of(scenario: Scenario, case: Case) -> str | None:
    """That of the prices, of the programme whose credit stands in the bill, or of the events."""
    by_events = "" if case.events is None else case.events.currency
    return currency_given(contract_of(scenario)) or by_events or None


def currency_given(contract: ContractSection) -> str:
    """That of the prices, or of the programme whose credit stands in the bill; empty for none."""
    if contract.programme is not None and pays_credit(contract):
        return contract.prices.currency or programme(contract.programme).payment.currency
    return contract.prices.currency


def assumed_prices(scenario: Scenario) -> list[str]:
    """A line where costs rest on prices that nobody gave."""
    contract = contract_of(scenario)
    prices = contract.prices
    # A programme's credit is in the place of the other two, but for that of a curtailment.
    credited = pays_credit(contract) and contract.curtailment is None
    bids = contract.curtailment is None or not isinstance(contract.bid, str)
    names = ("energy", "reserve", "error") if bids and not credited else ("energy",)
    missing = [name for name in names
               if name not in prices.model_fields_set]
    if not missing:
        return []
    what = ", ".join(missing)
    price = PriceSection.model_fields[missing[0]].default
    return [f"the price{'s' if len(missing) > 1 else ''} of {what} "
            f"{'are' if len(missing) > 1 else 'is'} assumed: {price:g} per kWh; give "
            "[contract.prices] in the scenario"]
