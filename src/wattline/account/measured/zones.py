"""Local times: which zone they are in, and what they mean on the days on which clocks change."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from wattline.model.errors import InputError
from wattline.site.cells import LARGEST, Cell, is_missing

LOCALTIME = Path("/etc/localtime")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
LAST_S = 253_370_764_800.0
"""The year 9999: later times are mistakes."""


@dataclass(frozen=True)
class Zone:
    """A zone, and what it is called."""

    info: tzinfo
    name: str
    asked_for: bool
    """Whether the user named it; otherwise it is this machine's."""

    def note(self) -> str:
        """What to say where times without a zone were read."""
        whose = "" if self.asked_for else " (this machine's zone; --zone NAME says otherwise)"
        return f"times without a zone are taken as {self.name}{whose}"


def zone_of(name: str = "") -> Zone:
    """The zone of this name; without a name, this machine's."""
    if name:
        return Zone(_named(name, "--zone"), name, asked_for=True)
    own = os.environ.get("TZ", "").lstrip(":")
    if own and not own.startswith("/"):
        return Zone(_named(own, "TZ"), own, asked_for=False)
    file = Path(own) if own else LOCALTIME
    if file.is_file():
        found = re.search(r"zoneinfo/(?:posix/|right/)?(.+)$", str(file.resolve()))
        with file.open("rb") as stream:
            info = ZoneInfo.from_file(stream)
        return Zone(info, found[1] if found else f"that of {file}", asked_for=False)
    return Zone(ZoneInfo("UTC"), "UTC", asked_for=False)


def _named(name: str, where: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # none, a folder, a name that leads elsewhere
        raise InputError(f"{where}: there is no zone '{name}'; write it like Europe/Berlin or "
                         "UTC") from None


@dataclass(frozen=True)
class Moment:
    """Unix seconds that a cell may mean: two where a clock was set back and showed it twice."""

    choices: tuple[float, ...]
    local: bool = False
    shifted: bool = False
    """A time that no clock showed, because it was set forward: taken as that much later."""


def moment(cell: Cell, zone: tzinfo) -> Moment | None:
    """The time of a cell; None where it says nothing. ValueError where it is none."""
    if is_missing(cell):
        return None
    text = str(cell).strip()
    if _NUMBER.fullmatch(text):
        seconds = float(text)
        if seconds >= LARGEST or seconds > LAST_S:
            raise ValueError(text)
        return Moment((seconds,)) if seconds > 0 else None
    read = datetime.fromisoformat(text)
    try:
        if read.tzinfo is not None:
            return Moment((read.timestamp(),))
        first, second = (read.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1))
    except OverflowError:
        raise ValueError(text) from None
    if first < second:
        return Moment((first, second), local=True)
    return Moment((first,), local=True, shifted=first > second)


def stay(start: Moment, end: Moment | None, run_s: float | None) -> tuple[float, float, bool]:
    """Start and end (NaN without one), and whether it had to be guessed which was meant.

    How long it ran tells times apart that a clock showed twice; else the earlier ones are taken,
    the end not before the start.
    """
    if end is None:
        return start.choices[0], float("nan"), len(start.choices) > 1
    pairs = [(first, last) for first in start.choices for last in end.choices]
    if run_s is not None:
        off = [abs(last - first - run_s) for first, last in pairs]
        best = min(off)
        fitting = [pair for pair, by in zip(pairs, off, strict=True) if by == best]
    else:
        fitting = [pair for pair in pairs if pair[1] >= pair[0]] or pairs
    return *fitting[0], len(fitting) > 1
