"""Electricity prices and carbon intensities: tables of dated values, read as step functions.

Understood are CSV files (also compressed) with a column of times (`Datetime (UTC)`, ISO 8601, or
`time_s`) and a column of values: a price per MWh or kWh, or an intensity in g/kWh. Values come
back per joule, in the currency that the column names (`Price (USD/MWh)`), and time 0 is that of the
earliest row, or a date that is asked for.
"""

from __future__ import annotations

import csv
import math
import re
from datetime import UTC, tzinfo
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import log_text, separator, with_point
from wattline.model.run_clock import UNIX_FROM_S, NoDates, time_in_cell, unix_s
from wattline.model.signal import Signal
from wattline.model.units import plain_number
from wattline.traces.files import read_bytes

NO_CURRENCY = "in units of the price"
"""Behind a cost whose currency nobody names."""
J_PER_KWH = 3.6e6
_TIMES = ("time_s", "datetime", "time")
_SCALES = {"/mwh": 1 / (1000 * J_PER_KWH), "/kwh": 1 / J_PER_KWH, "/j": 1.0}

def read_tariff(
    path: Path, *, column: str = "", start: str = "", unix: bool = False, zone: tzinfo = UTC
) -> Signal:
    """A step function of cost or grams per joule from a table; `column` is part of its name.

    It begins at its earliest row, or at the date `start`; with `unix` it counts Unix seconds.
    Dates without an offset are of the `zone`, unless the head of their column says UTC.
    """
    rows = _read_rows(path)
    header = [name.strip() for name in rows[0]]
    time_at = _find_time(header, path)
    value_at = _find_value(header, column, path)
    scale, unit = _scale(header[value_at], path)
    zone = UTC if "(utc" in header[time_at].lower() else zone
    values: dict[float, float] = {}
    for number, row in enumerate(rows[1:], 2):
        if not row:
            continue
        if len(row) <= max(time_at, value_at):
            raise InputError(f"{path}: line {number}: only {len(row)} columns")
        if any(row[len(header):]):
            raise InputError(f"{path}: line {number}: has more cells than the header; where a "
                             "comma is the decimal point, part cells by semicolons")
        moment = _moment(row[time_at], path, number, zone)
        value = scale * _number(row[value_at], path, number)
        if values.setdefault(moment, value) != value:
            raise InputError(f"{path}: line {number}: there is another value for "
                             f"{row[time_at].strip()} before; leave one of them out")
    if not values:
        raise _no_rows(path)
    first_s, last_s = min(values), max(values)  # some tables have the newest row first
    origin_s = _moment(start, path, 0, zone) if start else 0.0 if unix else first_s
    if start and not first_s <= origin_s <= last_s:
        raise InputError(f"{path}: {start} lies outside of its times")
    if unix and first_s < UNIX_FROM_S:
        raise NoDates(f"{path}: its times are no dates, and the log counts Unix seconds; say "
                      "with --price-start at which of them the log's second 0 lies")
    return Signal.from_steps(((at_s - origin_s, value) for at_s, value in values.items()), unit)


def _read_rows(path: Path) -> list[list[str]]:
    lines = log_text(read_bytes(path), path).splitlines()
    mark = separator(lines[0])
    try:
        rows = list(csv.reader(lines, delimiter=mark))
    except csv.Error as error:
        raise InputError(f"{path}: is not a table: {error}") from None
    if len(rows) < 2:
        raise _no_rows(path)
    return rows if mark == "," else [list(map(with_point, row)) for row in rows]


def _no_rows(path: Path) -> InputError:
    return InputError(f"{path}: expected a header line and at least one row of values")


def _find_time(header: list[str], path: Path) -> int:
    for at, name in enumerate(header):
        if name.lower().startswith("datetime (utc") or name.lower() in _TIMES:
            return at
    raise InputError(f"{path}: no column of times; expected 'Datetime (UTC)' or 'time_s'")


def _find_value(header: list[str], column: str, path: Path) -> int:
    wanted = [column.lower()] if column else ["price", "intensity"]
    for word in wanted:
        for at, name in enumerate(header):
            if word in name.lower():
                return at
    raise InputError(f"{path}: no column like '{wanted[0]}'; it has {', '.join(header)}")


def _scale(name: str, path: Path) -> tuple[float, str]:
    lower = name.lower().replace("₂", "2")
    for unit, scale in _SCALES.items():
        if unit in lower:
            grams = "co2" in lower or "intensity" in lower
            return scale, "g/J" if grams else f"{_currency(name)}/J"
    raise InputError(f"{path}: column '{name}' does not say per what; expected /MWh, /kWh or /J")


def _currency(name: str) -> str:
    """`USD` of `Price (USD/MWh)`; empty where the column names none."""
    found = re.search(r"(?<![a-z])([a-z]{3}|[€$£¥])\s*/\s*(?:mwh|kwh|j)", name, re.IGNORECASE)
    return found[1].upper() if found else ""


def currency_of(tariff: Signal | None) -> str | None:
    """The currency of prices that were read from a table, where its column names one."""
    return None if tariff is None else tariff.unit.removesuffix("/J") or None


def _moment(text: str, path: Path, line: int, zone: tzinfo) -> float:
    where = f"{path}: line {line}: " if line else ""
    try:
        found = unix_s(time_in_cell(text), zone)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{where}'{text}' is no time; write seconds or 2023-01-31T05:00:00")
    return found


def _number(text: str, path: Path, line: int) -> float:
    try:
        value = plain_number(text)
    except ValueError:
        raise InputError(f"{path}: line {line}: '{text}' is not a number") from None
    if not math.isfinite(value):
        raise InputError(f"{path}: line {line}: the value is {value}; the table has a gap")
    return value
