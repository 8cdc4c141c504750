"""Whether a programme's own payments are the contract's, and what its reserve is worth at most."""

from __future__ import annotations

import math

from wattline.grid.programme import Programme, programme
from wattline.model.signal import Signal
from wattline.scenario.contract_section import ContractSection

KW_PER_MW = 1000.0


def pays_credit(contract: ContractSection) -> bool:
    """Whether the programme's credit stands in the bill, in place of prices that nobody gave."""
    return contract.programme is not None and not why_not(contract)


def why_not(contract: ContractSection) -> str:
    """Why the credit of the programme is not in the bill; empty where it is."""
    assert contract.programme is not None
    terms, given = programme(contract.programme), contract.prices
    curtailed = contract.curtailment is not None
    if curtailed and terms.curtailment is None:
        return "the programme settles no curtailment"
    if not (terms.payment.capability_per_mwh or terms.payment.performance_per_mwh):
        return "the programme names no payment"
    own = [name for name in ("reserve", "error") if name in given.model_fields_set]
    if own and not curtailed:
        return f"[contract.prices] has a price of {' and '.join(own)} of its own"
    if given.currency and terms.payment.currency and given.currency != terms.payment.currency:
        return (f"the energy is priced in {given.currency}, the programme pays in "
                f"{terms.payment.currency}")
    return ""


def least_offer_words(terms: Programme | None, reserve_w: float | None) -> str:
    """That a reserve is below what the programme takes; empty where it is not."""
    if terms is None or not reserve_w or reserve_w >= terms.terms.minimum_w:
        return ""
    count = math.ceil(terms.terms.minimum_w / reserve_w)
    return (f"the reserve is below the least offer of {terms.terms.minimum_w:,.0f} W: {count} "
            "times as much reaches it, of such sites together")


def full_price(contract: ContractSection, level: Signal) -> float:
    """What a kWh of reserve earns at a score of one, under this signal."""
    assert contract.programme is not None
    hours = contract.duration / 3600.0
    return programme(contract.programme).credit(1.0, 1.0, level, hours) / KW_PER_MW
