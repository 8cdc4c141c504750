"""What a user says of prices and of carbon: one figure, or a table of them over time.

Everywhere the same two options: `--price 0.12`, `--price 0.12EUR/kWh`, `--price prices.csv`, and
`--carbon 300` (grams per kWh) or a table.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, tzinfo
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import is_file
from wattline.model.signal import Signal
from wattline.model.units import format_duration, plain_number
from wattline.traces.currencies import CODES, SIGNS
from wattline.traces.tariffs import J_PER_KWH, read_tariff

_GRAMS_PER_J = "g/J"
_CURRENCY = f"[A-Za-z]{{3}}|[{SIGNS}]"
_ONE = re.compile(rf"(?P<before>{_CURRENCY})?\s*(?P<number>[-+.\deE]+?)\s*(?P<sign>{_CURRENCY})?\s*"
                  r"(?:/\s*(?P<per>kwh|mwh))?", re.IGNORECASE)
_GRAMS = re.compile(r"(?P<number>[-+.\deE]+?)\s*(?:g(?:co2)?(?:\s*/\s*kwh)?)?", re.IGNORECASE)


def price_from(text: str, *, start: str = "", unix: bool = False,
               zone: tzinfo = UTC) -> Signal:
    """A price per joule; a table begins at its earliest row, at `start`, or at Unix second 0."""
    if _is_table(text):
        table = read_tariff(Path(text), start=start, unix=unix, zone=zone)
        if table.unit == _GRAMS_PER_J:
            raise InputError(f"--price: {text} has carbon intensities; give it with --carbon")
        return table
    found = _ONE.fullmatch(text.strip())
    number = _number(found)
    if found is None or number is None or (found["before"] and found["sign"]):
        point = f"; write {text.replace(',', '.')}, with a point" if text.count(",") == 1 and (
            _ONE.fullmatch(text.strip().replace(",", "."))) else ""
        raise InputError(f"--price: '{text}' is neither the price of a kWh, like 0.12 or 0.12EUR, "
                         f"nor a table that is there{point}")
    written = found["sign"] or found["before"] or ""
    sign = written.upper()
    if sign and sign not in CODES and sign not in SIGNS:
        raise InputError(f"--price: '{written}' is no currency; write its code, like "
                         f"{number:g}EUR, or one of {' '.join(SIGNS)}")
    per_j = J_PER_KWH * (1000 if (found["per"] or "").lower() == "mwh" else 1)
    return Signal.constant(number / per_j, f"{sign}/J")


def carbon_from(text: str, *, start: str = "", unix: bool = False,
               zone: tzinfo = UTC) -> Signal:
    """Grams per joule, in the same way."""
    if _is_table(text):
        table = read_tariff(Path(text), start=start, unix=unix, zone=zone)
        if table.unit != _GRAMS_PER_J:
            raise InputError(f"--carbon: {text} has prices; give it with --price")
        return table
    number = _number(_GRAMS.fullmatch(text.strip()))
    if number is None or number < 0:
        raise InputError(f"--carbon: '{text}' is neither grams per kWh, like 300, nor a table that "
                         "is there")
    return Signal.constant(number / J_PER_KWH, _GRAMS_PER_J)


def is_flat(rate: Signal) -> bool:
    """Whether it does not matter when joules are used."""
    return len(rate.value) == 1


def end_of(table: Signal) -> float:
    """When a table ends that has rows: the last holds as long as the one before it."""
    return float(2 * table.time_s[-1] - table.time_s[-2])


def end_note(name: str, rate: Signal | None, until_s: float, told_s: float = 0.0) -> str:
    """What to say of a table that ends before a time, unless it was told to end before another."""
    if rate is None or is_flat(rate):
        return ""
    end_s = end_of(rate)
    if not told_s <= end_s < until_s:
        return ""
    return (f"{name} ends {format_duration(end_s)} after the beginning; its last value stands for "
            f"the rest, up to {format_duration(until_s)}")


def _is_table(text: str) -> bool:
    return is_file(text) or text.lower().endswith((".csv", ".gz", ".xz", ".bz2"))


def _number(found: re.Match[str] | None) -> float | None:
    try:
        value = plain_number(found["number"]) if found is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
