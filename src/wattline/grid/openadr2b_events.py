"""Events of OpenADR 2.0b, as openleadr hands them over or as they were kept in JSON.

Of the signals of the standard these are followed:

    SIMPLE                          level 0 to 3, each a share of the usual cap
    LOAD_DISPATCH setpoint          a power in watts
    LOAD_CONTROL x-loadControlCapacity  a share of the usual cap
    ELECTRICITY_PRICE, ENERGY_PRICE price   the price of energy, per kWh

What stands beside one of them is left out, and said; an event without any is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wattline.grid.event_values import LEVELS, length_s, level_w, moment_s, other_currency
from wattline.grid.events import CapStep, GridEvent, PriceStep
from wattline.model.errors import InputError

CAPS = (("LOAD_DISPATCH", "setpoint"), ("LOAD_CONTROL", "x-loadControlCapacity"))
PRICES = (("ELECTRICITY_PRICE", "price"), ("ENERGY_PRICE", "price"))
PER_KWH = "currencyPerKWh"
NO_PRICE = "no price"
FOLLOWED = ("SIMPLE, LOAD_DISPATCH setpoint, LOAD_CONTROL x-loadControlCapacity and the price of "
            "ELECTRICITY_PRICE")
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, OverflowError)


@dataclass(frozen=True)
class Interval:
    """One interval of a signal, with the value that it carries."""

    start_s: float
    end_s: float
    value: float


def event_of(
    given: Mapping[str, Any], usual_w: float, levels: tuple[float, ...] = LEVELS,
    currency: str = "",
) -> GridEvent:
    """An event as steps of a cap and of a price; an InputError says what is wrong with it."""
    try:
        about = given["event_descriptor"]
        name, version = str(about["event_id"]), int(about["modification_number"])
        if about["event_status"] == "cancelled":
            return GridEvent(name, version, (), cancelled=True)
        start_s = moment_s(given["active_period"]["dtstart"])
        steps: list[CapStep] = []
        prices: list[PriceStep] = []
        for signal in given["event_signals"]:
            if _is_cap(signal):
                steps += [CapStep(each.start_s, each.end_s,
                                  _cap_w(name, signal, each.value, usual_w, levels))
                          for each in _intervals(signal, start_s)]
            elif not why_not_price(signal, currency):
                prices += [PriceStep(each.start_s, each.end_s, each.value)
                           for each in _intervals(signal, start_s)]
        unknown = left_out(given, currency)
        if unknown and not steps and not prices:
            raise InputError(f"event {name} has the signal {', '.join(unknown)}; followed are "
                             f"{FOLLOWED}")
        return GridEvent(name, version, tuple(steps), prices=tuple(prices))
    except UNREADABLE as error:
        raise InputError(f"the event cannot be read: {error!r}") from None


def told_s(given: Mapping[str, Any]) -> float:
    """When the operator made this version of the event; long ago where it does not say."""
    try:
        return moment_s(given["event_descriptor"]["created_date_time"])
    except UNREADABLE:
        return 0.0


def left_out(given: Mapping[str, Any], currency: str = "") -> list[str]:
    """Signals of an event that are not followed, and why where that is not plain."""
    found = []
    for signal in given.get("event_signals", ()):
        why = "" if _is_cap(signal) else why_not_price(signal, currency)
        if why:
            found.append(" ".join(_kind(signal)) + ("" if why == NO_PRICE else f" ({why})"))
    return found


def why_not_price(signal: Mapping[str, Any], currency: str) -> str:
    """Why a signal is no price that can be followed; empty where it is. Unsaid it is per kWh."""
    if _kind(signal) not in PRICES:
        return NO_PRICE
    measured = signal.get("measurement") or {}
    unit = measured.get("name") or PER_KWH
    if unit != PER_KWH:
        return f"{unit}, where {PER_KWH} is followed"
    return other_currency(measured.get("unit"), currency)


def _kind(signal: Mapping[str, Any]) -> tuple[str, str]:
    return str(signal["signal_name"]), str(signal["signal_type"])


def _is_cap(signal: Mapping[str, Any]) -> bool:
    return _kind(signal)[0].upper() == "SIMPLE" or _kind(signal) in CAPS


def _intervals(signal: Mapping[str, Any], start_s: float) -> list[Interval]:
    found, at_s = [], start_s
    for interval in signal["intervals"]:
        if interval.get("dtstart"):
            at_s = moment_s(interval["dtstart"])
        lasts_s = length_s(interval["duration"])
        # An interval of no length lasts till the event is cancelled.
        end_s = at_s + lasts_s if lasts_s else float("inf")
        found.append(Interval(at_s, end_s, float(interval["signal_payload"])))
        at_s += lasts_s
    return found


def _cap_w(
    name: str, signal: Mapping[str, Any], value: float, usual_w: float, levels: tuple[float, ...]
) -> float:
    kind = _kind(signal)
    if kind[0].upper() == "SIMPLE":
        return level_w(name, value, usual_w, levels)
    return value if kind == CAPS[0] else value * usual_w

