"""Events of OpenADR 3, by its published REST description (3.0).

Followed are the payloads

    SIMPLE                                   level 0 to 3, each a share of the usual cap
    IMPORT_CAPACITY_LIMIT, DISPATCH_SETPOINT a power in KW, as the event's descriptor says
    PRICE                                    the price of energy per KWH, as the descriptor says
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from wattline.grid.event_values import LEVELS, length_s, level_w, moment_s, other_currency
from wattline.grid.events import CapStep, GridEvent, PriceStep
from wattline.grid.openadr2b_events import UNREADABLE, Interval
from wattline.model.errors import InputError

POWERS = ("IMPORT_CAPACITY_LIMIT", "DISPATCH_SETPOINT")
PRICE = "PRICE"
FOLLOWED = f"SIMPLE, {', '.join(POWERS)} and {PRICE}"
OPEN = "PT0S"
"""Of an interval whose length is not said: it has no end, as one of no length."""
UNITS = dict.fromkeys(POWERS, "KW") | {PRICE: "KWH"}


def event3_of(
    given: Mapping[str, Any], usual_w: float, levels: tuple[float, ...] = LEVELS,
    currency: str = "",
) -> GridEvent:
    """An event as steps of a cap and of a price; an InputError says what is wrong with it."""
    try:
        name = str(given["id"])
        said = {one["payloadType"]: one for one in given.get("payloadDescriptors") or ()}
        steps: list[CapStep] = []
        prices: list[PriceStep] = []
        unknown: list[str] = []
        for start_s, end_s, payloads in _intervals(given):
            caps_w: list[float] = []
            for payload in payloads:
                kind = str(payload["type"])
                why = _why_not(kind, said.get(kind) or {}, currency)
                if why:
                    unknown.append(why)
                elif kind == PRICE:
                    prices.append(PriceStep(start_s, end_s, float(payload["values"][0])))
                else:
                    value = float(payload["values"][0])
                    caps_w.append(level_w(name, value, usual_w, levels) if kind == "SIMPLE"
                                  else 1000.0 * value)
            if caps_w:  # the lowest of what the payloads of an interval ask for
                steps.append(CapStep(start_s, end_s, min(caps_w)))
        if unknown and not steps and not prices:
            raise InputError(f"event {name} has {', '.join(dict.fromkeys(unknown))}; followed are "
                             f"{FOLLOWED}")
        return GridEvent(name, version3_of(given), tuple(steps), prices=tuple(prices))
    except UNREADABLE as error:
        raise InputError(f"the event cannot be read: {error!r}") from None


def version3_of(given: Mapping[str, Any]) -> int:
    """Versions of an event are told apart by when they were made, in milliseconds."""
    return round(1000 * moment_s(given["modificationDateTime"]))


def _intervals(given: Mapping[str, Any]) -> Iterator[tuple[float, float, Any]]:
    """Start, end and payloads of each; one without a period of its own follows the one before."""
    spans: list[Interval] = []
    lasts_s = math.nan
    for interval in given["intervals"]:
        period = interval.get("intervalPeriod")
        if period is None and not spans:
            period = given["intervalPeriod"]
        if period is not None:
            start_s, lasts_s = moment_s(period["start"]), length_s(period.get("duration") or OPEN)
        else:
            start_s = spans[-1].end_s
        # No length: until the event is taken back.
        spans.append(Interval(start_s, start_s + (lasts_s or math.inf), 0.0))
        yield start_s, spans[-1].end_s, interval["payloads"]


def _why_not(kind: str, about: Mapping[str, Any], currency: str) -> str:
    """Why a payload is not followed, by its descriptor; empty where it is."""
    if kind == "SIMPLE":
        return ""
    if kind not in UNITS:
        return f"the payload {kind}"
    if about.get("units") != UNITS[kind]:
        return f"the unit {about.get('units')} of {kind}, where {UNITS[kind]} is followed"
    other = other_currency(about.get("currency"), currency) if kind == PRICE else ""
    return f"a {PRICE} {other}" if other else ""
