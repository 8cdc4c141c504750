"""Signals of other times than the contract's own, in blocks of the market (hours, where it says
none): to plan a bid on, and to try it on."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.demand_response.building import is_log, level_of, parameters_of
from wattline.demand_response.case import block_s
from wattline.demand_response.choosing import CHECKING, PLANNING
from wattline.demand_response.reading import contract_of
from wattline.grid.dayahead import HOUR_S
from wattline.grid.programme import programme
from wattline.grid.signals import generate, hours, load_signal
from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.model.units import counted, format_span
from wattline.scenario.contract_section import ContractSection
from wattline.scenario.model import Scenario

FORECAST_HOURS, HOLD, ROUNDS = 30, 0.9, 100
"""How `bid` plans where nothing else is said: on so many hours, of which this share must hold."""
CHECK_HOURS = 10
"""That a chosen bid is tried on where nothing else is asked for."""


def other_signals(scenario: Scenario, count: int, *, stream: int = PLANNING) -> list[Signal]:
    """Signals of other blocks, for planning or checking: nobody knows the contract's own before.

    Of a file, its whole spans beside that of the contract (for checking from the last one on);
    otherwise drawn anew. Where a bid is both planned and checked on a file's spans, the last ones,
    at most half of them, are kept for the check.
    """
    contract = contract_of(scenario)
    span_s = _block_s(contract)
    if not isinstance(contract.signal, str):
        fields, seed = contract.signal.model_dump(), scenario.trace.seed
        streams = [np.random.default_rng((seed, stream, 1, n)) for n in range(count)]
        return [level_of(contract, generate(rng, span_s, **fields)) for rng in streams]
    whole = load_signal(contract.signal)
    found = [level_of(contract, signal) for number, signal in enumerate(hours(whole, span_s))
             if not _overlaps(contract, number * span_s, span_s)]
    kept = _kept_for_check(contract, len(found))
    if kept == 0:
        return found if stream == PLANNING else found[::-1]
    return found[:-kept] if stream == PLANNING else found[-kept:][::-1]


def _block_s(contract: ContractSection) -> float:
    terms = None if contract.programme is None else programme(contract.programme)
    return block_s(contract.duration, terms)


def _overlaps(contract: ContractSection, first_s: float, span_s: float) -> bool:
    """Whether a span of the file has a part of the contract's own signal."""
    own_s = contract.signal_start
    return first_s < own_s + contract.duration and own_s < first_s + span_s


def _kept_for_check(contract: ContractSection, spans: int) -> int:
    """How many of a file's spans are not planned on, because the bid is checked on them."""
    if contract.forecast == 0:
        return 0
    return min(CHECK_HOURS if contract.check is None else contract.check, spans // 2)


def planned_on_checked(scenario: Scenario) -> bool:
    """Whether the check has the forecast's signal, because the file holds one other span only."""
    contract = contract_of(scenario)
    if contract.forecast == 0 or not isinstance(contract.signal, str):
        return False
    planned, checked = (other_signals(scenario, 1, stream=s) for s in (PLANNING, CHECKING))
    return len(planned) == len(checked) == 1 and bool(
        np.array_equal(planned[0].value, checked[0].value)
    )


def planning_of(scenario: Scenario) -> dict[str, Any]:
    """What `choose` is told: the forecast, and the hours' signals for it."""
    contract = contract_of(scenario)
    if contract.hold > 0 and contract.forecast < 1:
        raise InputError("hold is a share of forecast hours: give forecast (--forecast HOURS) too")
    signals = other_signals(scenario, contract.forecast) if contract.forecast else []
    return {"forecast": contract.forecast, "hold": contract.hold, "seed": scenario.trace.seed,
            "signals": signals}


def planned_on_forecasts(scenario: Scenario) -> Scenario:
    """The scenario with its bid planned on hours that might come, unless it says how to plan.

    A bid that is planned on one hour seldom holds on the next. A log, or wrong labels, have no
    other hours to plan on.
    """
    contract = contract_of(scenario)
    said = contract.model_fields_set & {"forecast", "hold"}
    if said or not has_other_hours(scenario):
        return scenario
    update: dict[str, Any] = {"forecast": FORECAST_HOURS, "hold": HOLD}
    if "rounds" not in contract.model_fields_set:
        update["rounds"] = ROUNDS
    return scenario.model_copy(update={"contract": contract.model_copy(update=update)})


def has_other_hours(scenario: Scenario) -> bool:
    """Whether hours like the contract's can be drawn."""
    return not (is_log(scenario) or parameters_of(scenario).mislabelled)


def planned_hours_words(scenario: Scenario) -> str:
    """On which hours `bid` plans, for people who wait for it."""
    return planned_words(planned_on_forecasts(scenario))


def planned_words(scenario: Scenario) -> str:
    """Say what a bid of this scenario is planned on: how much of which time."""
    contract = contract_of(scenario)
    if not contract.forecast:
        return f"the contract's own {format_span(contract.duration)}"
    span_s = _block_s(contract)
    what = counted(contract.forecast, "hour") if span_s == HOUR_S else counted(
        contract.forecast, "block") + f" of {format_span(span_s)}"
    return f"{what} that might come"
