"""Events of OpenADR 2.0b, as openleadr hands them over or as they were kept in JSON.

Of the signals of the standard these are followed:

    SIMPLE                          level 0 to 3, each a share of the usual cap
    LOAD_DISPATCH setpoint          a real power in watts, times its scale (kW: k)
    LOAD_CONTROL x-loadControlCapacity  a share of the usual cap
    ELECTRICITY_PRICE, ENERGY_PRICE price   the price of energy, per kWh, times its scale

What stands beside one of them is left out, and said; an event without any is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

CAPS = (("LOAD_DISPATCH", "setpoint"), ("LOAD_CONTROL", "x-loadControlCapacity"))
PRICES = (("ELECTRICITY_PRICE", "price"), ("ENERGY_PRICE", "price"))
PER_KWH = "currencyPerKWh"
POWER, WATT = "powerReal", "W"
SCALES = {"p": 1e-12, "n": 1e-9, "micro": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "none": 1.0,
          "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
"""Of the standard's siScaleCode."""
NOT_KNOWN = "no signal that is followed"
FOLLOWED = ("SIMPLE, LOAD_DISPATCH setpoint, LOAD_CONTROL x-loadControlCapacity and the price of "
            "ELECTRICITY_PRICE")


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
    name = None
    try:
        about = given["event_descriptor"]
        name = str(about["event_id"])
        version = int(about["modification_number"])
        if _cancelled(given):
            return GridEvent(name, version, (), cancelled=True)
        if _is_test(about):
            raise InputError(f"event {name} is a test of the server's: heard, and not followed")
        start_s = moment_s(given["active_period"]["dtstart"])
        steps: list[CapStep] = []
        prices: list[PriceStep] = []
        for signal in given["event_signals"]:
            if _why_not(signal, currency):
                continue
            if _kind(signal) in PRICES:
                named = str(_measured(signal).get("unit") or "").upper()
                currency = currency or named  # a second signal is not added to the first
                prices += [PriceStep(each.start_s, each.end_s, _scale(signal) * each.value, named)
                           for each in _intervals(signal, start_s)]
            else:
                steps += [CapStep(each.start_s, each.end_s,
                                  _cap_w(name, signal, each.value, usual_w, levels))
                          for each in _intervals(signal, start_s)]
        unknown = left_out(given, currency)
        if unknown and not steps and not prices:
            raise InputError(f"event {name} has the signal {', '.join(unknown)}; followed are "
                             f"{FOLLOWED}")
        return GridEvent(name, version, tuple(steps), prices=tuple(prices))
    except UNREADABLE as error:
        raise unreadable(name, error) from None


def told_s(given: Mapping[str, Any]) -> float:
    """When the operator made this version of the event; long ago where it does not say."""
    try:
        return moment_s(given["event_descriptor"]["created_date_time"])
    except UNREADABLE:
        return 0.0


def left_out(given: Mapping[str, Any], currency: str = "") -> list[str]:
    """Signals of an event that are not followed, and why where that is not plain."""
    found: list[str] = []
    if _cancelled(given):
        return found
    for signal in given.get("event_signals", ()):
        why = _why_not(signal, currency)
        if why:
            found.append(" ".join(_kind(signal)) + ("" if why == NOT_KNOWN else f" ({why})"))
    return found


def _cancelled(given: Mapping[str, Any]) -> bool:
    return bool(given["event_descriptor"]["event_status"] == "cancelled")


def _is_test(about: Mapping[str, Any]) -> bool:
    """By the standard, whatever is said of it but false."""
    return str(about.get("test_event") or False).lower() != "false"


def _why_not(signal: Mapping[str, Any], currency: str) -> str:
    """Why a signal is not followed; empty where it is. Unsaid, units are W and per kWh."""
    kind, measured = _kind(signal), _measured(signal)
    if _is_level(signal) or kind == CAPS[1]:
        return ""
    if kind not in (CAPS[0], *PRICES):
        return NOT_KNOWN
    if measured.get("scale") and measured["scale"] not in SCALES:
        return f"the scale {measured['scale']}, where there are {', '.join(SCALES)}"
    if kind in PRICES:
        unit = measured.get("name") or PER_KWH
        if unit != PER_KWH:
            return f"{unit}, where {PER_KWH} is followed"
        return other_currency(measured.get("unit"), currency)
    name, unit = measured.get("name") or POWER, measured.get("unit") or WATT
    return "" if (name, unit) == (POWER, WATT) else (
        f"{name} in {unit}, where {POWER} in {WATT} is followed")


def _measured(signal: Mapping[str, Any]) -> Mapping[str, Any]:
    """In what a signal is measured; empty where it does not say."""
    return signal.get("measurement") or {}


def _scale(signal: Mapping[str, Any]) -> float:
    return SCALES[_measured(signal).get("scale") or "none"]


def _kind(signal: Mapping[str, Any]) -> tuple[str, str]:
    return str(signal["signal_name"]), str(signal["signal_type"])


def _is_level(signal: Mapping[str, Any]) -> bool:
    return _kind(signal)[0].upper() == "SIMPLE"


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
    if _is_level(signal):
        return level_w(name, value, usual_w, levels)
    return _scale(signal) * value if _kind(signal) == CAPS[0] else value * usual_w

