"""Local times: the one rule of which zone they are of, for every reader of times without an offset.

A time with an offset from UTC and a Unix time say themselves when it was. All others are of the
zone that is asked for (`--zone`), and of UTC where none is: the same file means the same on every
machine. On days on which clocks change, an hour that comes twice is the earlier one unless the
order of times, or how long something ran, shows that it was the later; an hour that is skipped is
counted on from before the change, so that 02:30 is the 03:30 of the clock that was set forward.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError, in_callers_terms
from wattline.model.signal import FloatArray

BoolArray = npt.NDArray[np.bool_]
LOCALTIME = Path("/etc/localtime")
LOCAL = "local"
"""The name that stands for the zone of this machine."""
TWICE = "local times that the clock showed twice, taken as the earlier"
FORWARD = "local times that no clock showed, taken as later"
_QUARTER_S = 900
"""Clocks change at full quarters of an hour."""


@dataclass(frozen=True)
class Zone:
    """A zone, and what it is called."""

    info: tzinfo
    name: str
    asked_for: bool
    """True where the user named it; otherwise it is UTC."""

    def note(self) -> str:
        """Remark on times that were read without an offset."""
        whose = "" if self.asked_for else " (--zone names another, like Europe/Berlin or local)"
        return in_callers_terms(f"times without an offset are taken as {self.name}{whose}")


def zone_of(name: str | None = "") -> Zone:
    """The zone of this name, the machine's for `local`; UTC without a name."""
    if not name:
        return Zone(UTC, "UTC", asked_for=False)
    if name == LOCAL:
        return _of_this_machine()
    if name == "UTC":
        return Zone(UTC, "UTC", asked_for=True)
    return Zone(_named(name, "--zone"), name, asked_for=True)


def name_of_zone(name: str) -> str:
    """The name that means this zone on other machines too, where it has one."""
    found = zone_of(name).name
    try:
        _named(found, "")
    except InputError:
        return name
    return found


def _of_this_machine() -> Zone:
    own = os.environ.get("TZ", "").lstrip(":")
    if own and not own.startswith("/"):
        return Zone(_named(own, "TZ"), own, asked_for=True)
    file = Path(own) if own else LOCALTIME
    if file.is_file():
        found = re.search(r"zoneinfo/(?:posix/|right/)?(.+)$", str(file.resolve()))
        with file.open("rb") as stream:
            info = ZoneInfo.from_file(stream)
        return Zone(info, found[1] if found else f"that of {file}", asked_for=True)
    return Zone(UTC, "UTC", asked_for=True)


def _named(name: str, where: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # none, a folder, a name that leads elsewhere
        raise InputError(f"{where}: there is no zone '{name}'; write it like Europe/Berlin, UTC "
                         "or local") from None


@dataclass(frozen=True)
class Moment:
    """Unix seconds that a time may mean: two where a clock was set back and showed it twice."""

    choices: tuple[float, ...]
    local: bool = False
    shifted: bool = False
    """A time that no clock showed, because it was set forward: counted on from before that."""


def moment_of(date: datetime, zone: tzinfo) -> Moment:
    """The time of a date; ValueError where it is beyond all clocks."""
    try:
        if date.tzinfo is not None:
            return Moment((date.timestamp(),))
        if zone is UTC:
            return Moment((date.replace(tzinfo=UTC).timestamp(),), local=True)
        first, second = (date.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1))
    except OverflowError:
        raise ValueError(str(date)) from None
    if first < second:
        return Moment((first, second), local=True)
    return Moment((first,), local=True, shifted=first > second)


def stay(
    start: Moment, end: Moment | None, run_s: float | None = None, submit: Moment | None = None
) -> tuple[float, float, float, bool]:
    """Start, end and submission (NaN where there is none), and whether the start or end is a guess.

    How long it ran tells times apart that a clock showed twice; else the earlier ones are taken,
    the start not before the submission and the end not before the start.
    """
    nan = (float("nan"),)
    ends = nan if end is None else end.choices
    submits = nan if submit is None else submit.choices
    found = [(first, last, asked) for first in start.choices for last in ends for asked in submits]
    if run_s is not None and end is not None:
        off = [abs(last - first - run_s) for first, last, _ in found]
        best = min(off)
        found = [each for each, by in zip(found, off, strict=True) if by == best]
    found = [each for each in found if not each[1] < each[0]] or found
    found = [each for each in found if not each[0] < each[2]] or found
    return *found[0], len({each[:2] for each in found}) > 1


def meant(clock_s: FloatArray, zone: tzinfo) -> tuple[FloatArray, FloatArray, BoolArray]:
    """The earlier and the later Unix second of each second of a clock, and which it never showed.

    Both are the same but in the hour that comes twice.
    """
    if zone is UTC or not clock_s.size:
        return clock_s, clock_s, np.zeros(clock_s.size, dtype=np.bool_)
    quarter, at = np.unique(np.floor(clock_s / _QUARTER_S), return_inverse=True)
    found = [moment_of(_clock(each * _QUARTER_S), zone) for each in quarter.tolist()]
    first = np.array([each.choices[0] for each in found]) - quarter * _QUARTER_S
    last = np.array([each.choices[-1] for each in found]) - quarter * _QUARTER_S
    shifted = np.array([each.shifted for each in found], dtype=np.bool_)
    return clock_s + first[at], clock_s + last[at], shifted[at]


def in_order(clock_s: FloatArray, zone: tzinfo) -> tuple[FloatArray, int, int]:
    """Unix seconds of samples in the order in which they were taken, by the seconds of their clock.

    Behind them how many could have been a later hour too, and how many no clock showed.
    """
    earlier, later, never = meant(clock_s, zone)
    twice = np.flatnonzero(earlier < later)
    found = earlier.copy()
    for row in twice.tolist():
        if row and found[row - 1] >= earlier[row]:
            found[row] = later[row]
    is_told = (found[twice] > earlier[twice]).any() and not (np.diff(found[twice]) < 0).any()
    shifted = int(never.sum())
    return (found, 0, shifted) if is_told else (earlier, int(twice.size), shifted)


@dataclass(frozen=True)
class Instants:
    """Times of a column; NaN where a cell has none."""

    first_s: FloatArray
    later_s: FloatArray
    """The other hour that it may be; the same where there is none."""
    local: BoolArray
    shifted: BoolArray

    def row(self, at: int) -> Moment | None:
        first_s, later_s = float(self.first_s[at]), float(self.later_s[at])
        if math.isnan(first_s):
            return None
        return Moment((first_s,) if first_s == later_s else (first_s, later_s))


@dataclass(frozen=True)
class Stays:
    """Times of jobs, one of each that a clock may have meant."""

    submit_s: FloatArray
    start_s: FloatArray
    end_s: FloatArray
    mended: tuple[tuple[str, int], ...]
    """Effects of clocks that were changed, each with the number of jobs it touched."""
    local: bool

    def remarks(self, zone: Zone, source: str) -> tuple[str, ...]:
        """Remark on times that have no offset; empty where all have one."""
        if not self.local:
            return ()
        return (f"{source}: {zone.note()}",
                *(f"{source}: {reason}: {count:,}" for reason, count in self.mended))


def stays_of(times: Iterable[Instants], run_s: FloatArray) -> Stays:
    """`stay` for each job, of its submission, start and end, and how long it ran."""
    submit, start, end = times
    found = [each.first_s.copy() for each in (submit, start, end)]
    open_rows = [each.first_s < each.later_s for each in (submit, start, end)]
    guesses = 0
    for row in np.flatnonzero(np.logical_or.reduce(open_rows)).tolist():
        begin = start.row(row)
        if begin is None:  # it still waits
            guesses += 1
            continue
        ran_s = None if np.isnan(run_s[row]) else float(run_s[row])
        start_s, end_s, submit_s, guessed = stay(begin, end.row(row), ran_s, submit.row(row))
        found[0][row], found[1][row], found[2][row] = submit_s, start_s, end_s
        guesses += guessed or bool(open_rows[0][row] and submit.later_s[row] <= start_s)
    shifted = int((submit.shifted | start.shifted | end.shifted).sum())
    mended = tuple((reason, count) for reason, count in ((TWICE, guesses), (FORWARD, shifted))
                   if count)
    local = bool((submit.local | start.local | end.local).any())
    return Stays(found[0], found[1], found[2], mended, local)


def _clock(clock_s: float) -> datetime:
    return datetime.fromtimestamp(clock_s, UTC).replace(tzinfo=None)
