"""What stands behind the costs of a contract: a currency, and prices that nobody gave."""

from __future__ import annotations

from wattline.scenario.regulation import PriceFields, RegulationScenario

NO_CURRENCY = "in units of the prices"
"""Behind a cost whose currency nobody named."""


def currency_words(scenario: RegulationScenario) -> str:
    """What to put behind a cost."""
    return scenario.prices.currency or NO_CURRENCY


def assumed_prices(scenario: RegulationScenario) -> list[str]:
    """A line where costs rest on prices that nobody gave."""
    prices = scenario.prices
    missing = [name for name in ("energy", "reserve", "error")
               if name not in prices.model_fields_set]
    if not missing:
        return []
    what = ", ".join(missing)
    price = PriceFields.model_fields[missing[0]].default
    return [f"the price{'s' if len(missing) > 1 else ''} of {what} "
            f"{'are' if len(missing) > 1 else 'is'} assumed: {price:g} a kWh; give [prices] in "
            "the scenario"]
