"""The clock of a run: what a time in a series means, whichever command reads the series.

A time is a date (ISO 8601, with an offset from UTC or in the zone of the run), or seconds from the
first submission of the run. Numbers from 1e9 on are Unix times, which are dates.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.units import format_duration, parse_duration, plain_number

FIRST_UNIX_S = 1e8
"""From 1973 on: no log counts so many seconds before its first job, unless it has Unix times."""
UNIX_FROM_S = 1e9
"""A number in a series from here on is a Unix time (2001), and none of seconds (31 years)."""

Time = float | datetime
"""A time as it is written: a date, or seconds."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class NoDates(InputError):
    """Dates are needed, and the run or the series has none."""


@dataclass(frozen=True)
class RunClock:
    """The clock that a run counts on, and where its first and last submission lie on it.

    >>> clock = RunClock(first_s=60.0, last_s=3600.0, epoch_s=1_783_500_000.0)
    >>> clock.at(3600.0), clock.at(parse_time("2026-07-08T12:00:00"))
    (3660.0, 12000.0)
    """

    first_s: float = 0.0
    last_s: float = 0.0
    epoch_s: float | None = None
    """Unix time of second 0; None where nobody knows its dates."""
    zone: tzinfo = UTC
    """Of dates without an offset."""

    @classmethod
    def of(cls, first_s: float, last_s: float, unix_start_s: float | None,
           zone: tzinfo = UTC) -> RunClock:
        """Large seconds are Unix times themselves, and logs without a date say 1970."""
        epoch_s = 0.0 if first_s >= FIRST_UNIX_S else unix_start_s or None
        return cls(first_s, last_s, epoch_s, zone)

    @property
    def has_unix_clock(self) -> bool:
        """True where its seconds are Unix times."""
        return self.epoch_s == 0.0

    @property
    def from_first(self) -> RunClock:
        """The same run on a clock that is 0 at its first submission."""
        epoch_s = None if self.epoch_s is None else self.epoch_s + self.first_s
        return RunClock(0.0, self.last_s - self.first_s, epoch_s, self.zone)

    def at(self, time: Time, where: str = "") -> float:
        """A time of a series on the clock of the run."""
        if not isinstance(time, datetime) and time < UNIX_FROM_S:
            return self.first_s + time
        if self.epoch_s is None:
            said = time.isoformat() if isinstance(time, datetime) else f"{time:.15g}"
            what = "date" if isinstance(time, datetime) else "Unix time"
            raise NoDates(f"{where}{': ' if where else ''}{said} is a {what}, and the run has no "
                          "dates: write seconds from its first submission, or say with "
                          "trace.unix_start_s when second 0 of the log is")
        return unix_s(time, self.zone) - self.epoch_s

    def text(self, at_s: float) -> str:
        """A time of this clock in words: its date, or how long after the first submission."""
        if self.epoch_s is not None:
            try:
                found = datetime.fromtimestamp(self.epoch_s + at_s, self.zone)
            except (ValueError, OverflowError, OSError):
                return "a time beyond the year 9999"
            return found.strftime("%Y-%m-%dT%H:%M:%S%z").removesuffix("+0000")
        after_s = at_s - self.first_s
        which = "before" if after_s < 0 else "after"
        return f"{format_duration(abs(after_s))} {which} the first submission"


def unix_s(time: Time, zone: tzinfo = UTC) -> float:
    """The Unix time of a date, in this zone where it names no offset."""
    if not isinstance(time, datetime):
        return time
    return (time if time.tzinfo else time.replace(tzinfo=zone)).timestamp()


def parse_date(text: str) -> datetime | None:
    """A date of a calendar, with or without a time of day; None where the text is none."""
    cleaned = text.strip()
    if not _DATE.match(cleaned):
        return None
    try:
        return datetime.fromisoformat(cleaned)
    except ValueError:
        return None


def parse_time(given: Any) -> Time:
    """A time as fields and options take it: a date, or seconds, also as `90m` or `1-12:00:00`."""
    if isinstance(given, datetime):
        return given
    if isinstance(given, date):  # of TOML
        return datetime(given.year, given.month, given.day)
    if isinstance(given, str):
        found = parse_date(given)
        if found is not None:
            return found
        try:
            return parse_duration(given)
        except InputError:
            raise InputError(f"'{given[:60]}' is not a time; write a date like "
                             "2026-07-08T12:00:00, or seconds from the first submission like 90, "
                             "90m, 1.5h or 01:30:00") from None
    return float(given)


def time_in_cell(text: str) -> Time:
    """A time in a cell of a table: a date or a plain number. ValueError where it is neither."""
    found = parse_date(text)
    return plain_number(text) if found is None else found


def steps_outside(
    name: str, times_s: npt.ArrayLike, clock: RunClock, start_s: float, end_s: float
) -> list[str]:
    """Remark on the steps of a series that have no effect on a run from start to end."""
    times = np.asarray(times_s, dtype=np.float64)
    found = []
    if times.size and times[0] > start_s:
        when = clock.text(float(times[0]))
        if clock.epoch_s is not None:
            when = f"at {when}, after the first submission ({clock.text(start_s)})"
        found.append(f"{name}: its first step is {when}; its value holds before that too")
    before = max(int((times <= start_s).sum()) - 1, 0)
    # The first step counts before its time too.
    after = int((times[1:] >= end_s).sum()) if end_s > start_s else 0
    parts = []
    if before:
        parts.append(f"{before:,} before the first submission ({clock.text(start_s)})"
                     if clock.epoch_s is not None else f"{before:,} before the first submission")
    if after:
        parts.append(f"{after:,} after the end of the run ({clock.text(end_s)})")
    if parts:
        found.append(f"{name}: {before + after:,} of {times.size:,} steps "
                     f"lie{'s' if before + after == 1 else ''} outside of the run and "
                     f"ha{'s' if before + after == 1 else 've'} no effect: {', '.join(parts)}")
    return found

