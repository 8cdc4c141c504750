"""Periods of a bill as people write them, in the zone of the site."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from wattline.model.errors import InputError
from wattline.model.local_time import Zone
from wattline.site.moments import moment

_FIRST_UNIX_S = 1e8


@dataclass(frozen=True)
class Period:
    """From a second up to another, which no longer belongs to it; None where it is open."""

    start_s: float | None
    end_s: float | None
    zone: Zone

    def said(self) -> str:
        """Both ends, in the zone."""
        first = "the beginning" if self.start_s is None else self.written(self.start_s)
        last = "the end" if self.end_s is None else self.written(self.end_s)
        return f"from {first} to {last}, {self.zone.name}"

    def written(self, time_s: float) -> str:
        """A time in the zone, with its distance from UTC."""
        return datetime.fromtimestamp(time_s, self.zone.info).isoformat(
            sep=" ", timespec="minutes")


def period_of(text: str, zone: Zone) -> Period:
    """`2026-10`, `2026-Q4`, `2026`, `2026-10-05`, or two such, or two times, with `..` between."""
    first, dots, last = (part.strip() for part in text.partition(".."))
    try:
        start_s, end_s = _span(first, zone)
        if dots:
            later, last_s = _span(last, zone)
            # Two times: the second is where it ends. Two days or months: both belong to it.
            end_s = later if _is_time(last) else last_s
    except (ValueError, OverflowError):
        raise InputError(f"'{text}' is no period; write it like 2026-10, 2026-Q4, 2026, "
                         "2026-10-05 or 2026-10-05..2026-10-11") from None
    if (not dots and _is_time(first)) or not start_s < end_s:
        raise InputError(f"'{text}' has no length; write a period like 2026-10 or "
                         "2026-10-05T08:00..2026-10-05T12:00")
    return Period(start_s, end_s, zone)


def between(start: str, end: str, zone: Zone) -> Period:
    """From a date or time up to another; open where one is empty."""
    first, last = (None if not text else instant(text, option, zone)
                   for text, option in ((start, "-S"), (end, "-E")))
    if first is not None and last is not None and not first < last:
        raise InputError(f"-E: '{end}' is not after -S '{start}'")
    return Period(first, last, zone)


def instant(text: str, option: str, zone: Zone) -> float:
    """A date, or a time of one, as Unix time."""
    try:
        found = moment(text, zone.info)
    except ValueError:
        found = None
    if found is None or found.choices[0] < _FIRST_UNIX_S:
        raise InputError(f"{option}: '{text}' is no date; write it like 2026-10-01 or "
                         "2026-10-01T08:00:00")
    return found.choices[0]


def _is_time(text: str) -> bool:
    return len(text) > len("2026-10-05")


def _span(text: str, zone: Zone) -> tuple[float, float]:
    quarter = re.fullmatch(r"([0-9]{4})-?[qQ]([1-4])", text)
    if quarter:
        return _months(int(quarter[1]), 3 * int(quarter[2]) - 2, 3, zone)
    month = re.fullmatch(r"([0-9]{4})-([0-9]{2})", text)
    if month:
        return _months(int(month[1]), int(month[2]), 1, zone)
    if re.fullmatch(r"[0-9]{4}", text):
        return _months(int(text), 1, 12, zone)
    if _is_time(text):
        found = moment(text, zone.info)
        if found is None:
            raise ValueError(text)
        return found.choices[0], found.choices[0]
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError(text)
    day = date.fromisoformat(text)
    return _midnight(day, zone), _midnight(day + timedelta(days=1), zone)


def _months(year: int, month: int, count: int, zone: Zone) -> tuple[float, float]:
    after = year * 12 + month - 1 + count
    return (_midnight(date(year, month, 1), zone),
            _midnight(date(after // 12, after % 12 + 1, 1), zone))


def _midnight(day: date, zone: Zone) -> float:
    return datetime.combine(day, time(), zone.info).astimezone(UTC).timestamp()
