"""Step functions from files: a time and a value per line, with or without a header."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.machine import MOST_POWER_W
from wattline.model.reading import log_text, with_point
from wattline.model.signal import Signal
from wattline.model.units import plain_number
from wattline.traces.files import read_bytes

_EXPECTED = "expected 'seconds,value' in plain numbers, like 3600,20000"
_VALUE = re.compile(r"[+-]?([.,]?\d|(nan|inf|infinity)$)", re.IGNORECASE)
"""What no name of a column begins with: numbers, and what is meant as one (`2kW`, `01:00`)."""


def read_signal(path: Path | str, *, unit: str = "") -> Signal:
    """Read `seconds,value` lines (or `;`, tabs, blanks between them); the first may be a header.

    Each value holds from its time on. Times must rise; gaps and text are errors that name the line.
    Where a comma is the decimal point, semicolons or tabs part the cells, as in other tables.
    """
    return Signal.from_steps(((time_s, value) for _, time_s, value in _rows(Path(path))), unit)


def read_cap(path: Path | str) -> Signal:
    """Read a cap in watts in the same way: one that a scenario may also list as steps."""
    steps = []
    for number, time_s, watts in _rows(Path(path)):
        if time_s < 0:
            raise InputError(f"{path}:{number}: {time_s:g} s is in the past: the cap's clock "
                             "begins at 0 s")
        if not 0 <= watts <= MOST_POWER_W:
            raise InputError(f"{path}:{number}: {watts:g} must be a number of watts, up to "
                             f"{MOST_POWER_W:g}")
        steps.append((time_s, watts))
    return Signal.from_steps(steps, "W")


def _rows(path: Path) -> Iterator[tuple[int, float, float]]:
    """The steps with the numbers of their lines."""
    mark, before_s = None, -math.inf
    header_allowed = True
    for number, line in enumerate(log_text(read_bytes(path), path).splitlines(), 1):
        text = line.split("#")[0].strip()
        if not text:
            continue
        header, header_allowed = header_allowed and _is_header(text), False
        if header:
            continue
        # The first row says what parts cells: a header may have other signs in its names.
        mark = mark or _mark(text)
        try:
            time_s, value = _numbers(text, mark)
        except ValueError:
            # The line is not shown: the file may be another than its author meant.
            raise InputError(f"{path}:{number}: {_EXPECTED}") from None
        if not (math.isfinite(time_s) and math.isfinite(value)):
            raise InputError(f"{path}:{number}: nan and inf are no values; {_EXPECTED}")
        if time_s <= before_s:
            raise InputError(f"{path}:{number}: times must rise, {time_s:g} s comes too late")
        before_s = time_s
        yield number, time_s, value
    if mark is None:
        raise InputError(f"{path}: no 'seconds,value' lines in it")


def _mark(text: str) -> str:
    return next((mark for mark in ";\t," if mark in text), " ")


def _is_header(text: str) -> bool:
    try:
        return not any(map(_VALUE.match, _cells(text, _mark(text))))
    except ValueError:
        return False


def _cells(text: str, mark: str) -> list[str]:
    if mark == " ":
        return [cell.strip('"') for cell in text.split()]
    try:
        row = next(csv.reader([text], delimiter=mark, skipinitialspace=True))
    except csv.Error as error:  # a cell of more than 100 kB
        raise ValueError(text) from error
    return [cell.strip() for cell in row]


def _numbers(text: str, mark: str) -> tuple[float, float]:
    """The two cells of a row; ValueError where they are others, or more.

    A third would be a fraction behind a decimal comma, or a column that somebody takes for the
    value.
    """
    time, value, *rest = _cells(text, mark)
    if any(rest):
        raise ValueError(text)
    if mark in ";\t":
        time, value = with_point(time), with_point(value)
    return plain_number(time), plain_number(value)
