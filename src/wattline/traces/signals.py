"""Step functions from files: a time and a value per line, with or without a header."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.machine import MOST_POWER_W
from wattline.model.reading import log_text, with_point
from wattline.model.run_clock import RunClock, Time, time_in_cell
from wattline.model.signal import Signal
from wattline.model.units import plain_number
from wattline.traces.files import read_bytes

_EXPECTED = ("expected 'time,value' with a date or seconds and a plain number, like "
             "2026-07-08T12:00:00,20000 or 3600,20000")
_VALUE = re.compile(r"[+-]?([.,]?\d|(nan|inf|infinity)$)", re.IGNORECASE)
"""What no name of a column begins with: numbers, and what is meant as one (`2kW`, `01:00`)."""


def read_signal(path: Path | str, clock: RunClock, *, unit: str = "") -> Signal:
    """Read `time,value` lines (or `;`, tabs, blanks between them); the first may be a header.

    Times are dates or seconds from the first submission, and come back on the clock of the run.
    Each value holds from its time on. Times must rise; gaps and text are errors that name the line.
    Where a comma is the decimal point, semicolons or tabs part the cells, as in other tables.
    """
    return Signal.from_steps(
        ((time_s, value) for _, time_s, value in _rows(Path(path), clock)), unit)


def read_cap(path: Path | str, clock: RunClock) -> Signal:
    """Read a cap in watts in the same way: one that a scenario may also list as steps."""
    steps = []
    for number, time_s, watts in _rows(Path(path), clock, past=False):
        if not 0 <= watts <= MOST_POWER_W:
            raise InputError(f"{path}:{number}: {watts:g} must be a number of watts, up to "
                             f"{MOST_POWER_W:g}")
        steps.append((time_s, watts))
    return Signal.from_steps(steps, "W")


def _rows(
    path: Path, clock: RunClock, past: bool = True
) -> Iterator[tuple[int, float, float]]:
    """The steps with the numbers of their lines; seconds below 0 only where `past` allows them."""
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
            time, value = _step(text, mark)
        except ValueError:
            # The line is not shown: the file may be another than its author meant.
            raise InputError(f"{path}:{number}: {_EXPECTED}") from None
        seconds = 0.0 if isinstance(time, datetime) else time
        if not (math.isfinite(seconds) and math.isfinite(value)):
            raise InputError(f"{path}:{number}: nan and inf are no values; {_EXPECTED}")
        if seconds < 0 and not past:
            raise InputError(f"{path}:{number}: {seconds:g} s is in the past: seconds count from "
                             "the first submission")
        time_s = clock.at(time, f"{path}:{number}")
        if time_s <= before_s:
            said = time.isoformat() if isinstance(time, datetime) else f"{time:g} s"
            raise InputError(f"{path}:{number}: times must rise, {said} comes too late")
        before_s = time_s
        yield number, time_s, value
    if mark is None:
        raise InputError(f"{path}: no 'time,value' lines in it")


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


def _step(text: str, mark: str) -> tuple[Time, float]:
    """The two cells of a row; ValueError where they are others, or more.

    A third would be a fraction behind a decimal comma, or a column that somebody takes for the
    value.
    """
    time, value, *rest = _cells(text, mark)
    if any(rest):
        raise ValueError(text)
    if mark in ";\t":
        time, value = with_point(time), with_point(value)
    return time_in_cell(time), plain_number(value)
