"""Times of day as Slurm prints them: 2024-01-31T12:00:00, with or without an offset from UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

from wattline.model.errors import InputError
from wattline.model.local_time import Moment, moment_of, stay
from wattline.site.cells import LARGEST, Cell, is_missing

_SECONDS = r"[0-9]{1,11}(\.[0-9]+)?"
_NONE = ("", "unknown", "none")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
LAST_S = 253_370_764_800.0
"""The year 9999: later times are mistakes."""


def moment(cell: Cell, zone: tzinfo) -> Moment | None:
    """The time of a cell; None where it says nothing. ValueError where it is none."""
    if is_missing(cell):
        return None
    if isinstance(cell, datetime):
        return moment_of(cell, zone)
    text = str(cell).strip()
    if _NUMBER.fullmatch(text):
        seconds = float(text)
        if seconds >= LARGEST or seconds > LAST_S:
            raise ValueError(text)
        return Moment((seconds,)) if seconds > 0 else None
    return moment_of(datetime.fromisoformat(text), zone)


def moment_s(text: str, where: str, zone: tzinfo = UTC) -> float | None:
    """Unix time, of a time without an offset as one of the zone; None where there is none."""
    word = text.strip()
    if word.lower() in _NONE:
        return None
    if re.fullmatch(_SECONDS, word):
        return float(word)
    try:
        found = datetime.fromisoformat(word)
    except ValueError:
        raise InputError(f"{where}: '{word[:40]}' is no time; write it like "
                         "2024-01-31T12:00:00") from None
    try:
        return moment_of(found, zone).choices[0]
    except ValueError:
        raise InputError(f"{where}: '{word[:40]}' lies beyond all clocks") from None


def span_s(
    start: str, end: str, where: str, zone: tzinfo = UTC
) -> tuple[float | None, float | None]:
    """Start and end, each None where there is none; of an hour that comes twice by their order."""
    start_s, end_s = moment_s(start, where, zone), moment_s(end, where, zone)
    if start_s is None or end_s is None:
        return start_s, end_s
    first, last = moment(start, zone), moment(end, zone)
    if first is not None and last is not None:
        start_s, end_s = stay(first, last)[:2]
    return start_s, end_s


def is_date(text: str) -> bool:
    """Whether it is a time by a calendar, and not plain seconds."""
    word = text.strip()
    return word.lower() not in _NONE and not re.fullmatch(_SECONDS, word)


def is_local(text: str) -> bool:
    """Whether it is a time of some clock: neither an offset nor seconds since 1970."""
    try:
        return datetime.fromisoformat(text.strip()).tzinfo is None and not re.fullmatch(
            _SECONDS, text.strip())
    except ValueError:
        return False
