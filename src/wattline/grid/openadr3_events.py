"""Events of OpenADR 3, by its published REST description (3.0).

Followed are the payloads

    SIMPLE                                   level 0 to 3, each a share of the usual cap
    IMPORT_CAPACITY_LIMIT, DISPATCH_SETPOINT a power in KW or MW, as the event's descriptor says
    PRICE                                    the price of energy per KWH or MWH, likewise

What stands beside one of them is left out, and said; an event without any is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from wattline.grid.event_values import (
    LEVELS,
    UNREADABLE,
    length_s,
    level_w,
    moment_s,
    other_currency,
    unreadable,
)
from wattline.grid.events import CapStep, GridEvent, PriceStep
from wattline.model.errors import InputError

POWERS = ("IMPORT_CAPACITY_LIMIT", "DISPATCH_SETPOINT")
PRICE = "PRICE"
FOLLOWED = f"SIMPLE, {', '.join(POWERS)} and {PRICE}"
OPEN = "PT0S"
"""Of an interval whose length is not said: it has no end, as one of no length."""
UNITS = {kind: {"KW": 1e3, "MW": 1e6} for kind in POWERS} | {PRICE: {"KWH": 1.0, "MWH": 1e-3}}
"""Of each payload: the units, and by what a value is multiplied to be in W or per kWh."""


def event3_of(
    given: Mapping[str, Any], usual_w: float, levels: tuple[float, ...] = LEVELS,
    currency: str = "",
) -> GridEvent:
    """An event as steps of a cap and of a price; an InputError says what is wrong with it."""
    name = None
    try:
        name = str(given["id"])
        said = _descriptors(given)
        steps: list[CapStep] = []
        prices: list[PriceStep] = []
        for start_s, end_s, payloads in _intervals(given):
            caps_w: list[float] = []
            for payload in payloads:
                kind = str(payload["type"])
                about = said.get(kind) or {}
                if _why_not(kind, about, currency):
                    continue
                value = float(payload["values"][0])
                if kind == "SIMPLE":
                    caps_w.append(level_w(name, value, usual_w, levels))
                elif kind == PRICE:
                    prices.append(PriceStep(start_s, end_s, UNITS[kind][about["units"]] * value,
                                            str(about.get("currency") or "").upper()))
                else:
                    caps_w.append(UNITS[kind][about["units"]] * value)
            if caps_w:  # the lowest of what the payloads of an interval ask for
                steps.append(CapStep(start_s, end_s, min(caps_w)))
        unknown = left_out3(given, currency)
        if unknown and not steps and not prices:
            raise InputError(f"event {name} has {', '.join(unknown)}; followed are {FOLLOWED}")
        return GridEvent(name, version3_of(given), tuple(steps), prices=tuple(prices))
    except UNREADABLE as error:
        raise unreadable(name, error) from None


def left_out3(given: Mapping[str, Any], currency: str = "") -> list[str]:
    """Payloads of an event that are not followed, and why where that is not plain."""
    said = _descriptors(given)
    kinds = dict.fromkeys(str(payload["type"]) for _, _, payloads in _intervals(given)
                          for payload in payloads)
    reasons = (_why_not(kind, said.get(kind) or {}, currency) for kind in kinds)
    return [why for why in reasons if why]


def version3_of(given: Mapping[str, Any]) -> int:
    """Versions of an event are told apart by when they were made, in milliseconds."""
    return round(1000 * moment_s(given["modificationDateTime"]))


def _descriptors(given: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {one["payloadType"]: one for one in given.get("payloadDescriptors") or ()}


def _intervals(given: Mapping[str, Any]) -> Iterator[tuple[float, float, Any]]:
    """Start, end and payloads of each.

    One without a period of its own follows the one before, for as long as the event's period says;
    where the event has none, for as long as the one before.
    """
    usual: Any = given.get("intervalPeriod")
    period = usual
    end_s = math.nan
    for number, interval in enumerate(given["intervals"]):
        own = interval.get("intervalPeriod")
        if own is None and number == 0:
            own = given["intervalPeriod"]
        period = own or usual or period
        start_s = end_s if own is None else moment_s(own["start"])
        # No length: until the event is taken back.
        end_s = start_s + (length_s(period.get("duration") or OPEN) or math.inf)
        yield start_s, end_s, interval["payloads"]


def _why_not(kind: str, about: Mapping[str, Any], currency: str) -> str:
    """Why a payload is not followed, by its descriptor; empty where it is."""
    if kind == "SIMPLE":
        return ""
    if kind not in UNITS:
        return f"the payload {kind}"
    if about.get("units") not in UNITS[kind]:
        return (f"the unit {about.get('units')} of {kind}, where {' or '.join(UNITS[kind])} is "
                "followed")
    other = other_currency(about.get("currency"), currency) if kind == PRICE else ""
    return f"a {PRICE} {other}" if other else ""
