"""Values that events of both versions of OpenADR have in common: times, lengths, levels."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from wattline.model.errors import InputError

LEVELS = (1.0, 0.9, 0.75, 0.5)
"""Of the usual cap at the levels 0 to 3 of SIMPLE; the standard leaves their meaning open."""
FOREVER = "P9999Y"
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""What is raised where an event does not have the shape of the standard."""
_LENGTH = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_CLOCK = re.compile(r"(?:(\d+) days?, )?(\d+):(\d\d):(\d\d(?:\.\d+)?)")
"""As Python writes a length: 1 day, 0:15:00."""


def moment_s(given: Any) -> float:
    """Seconds since 1970 of a time with its zone; without one nobody knows when it is."""
    at = given if isinstance(given, datetime) else datetime.fromisoformat(given)
    if at.tzinfo is None:
        raise ValueError(f"{given} has no zone")
    return at.timestamp()


def length_s(given: Any) -> float:
    """Seconds of a length like PT15M; 0 where it has no end."""
    if isinstance(given, timedelta):
        return given.total_seconds()
    if given == FOREVER:
        return 0.0
    parts = _LENGTH.fullmatch(given)
    if parts is None or given.endswith(("P", "T")):
        parts = _CLOCK.fullmatch(given)
    if parts is None:
        raise ValueError(f"{given} is no duration like PT15M")
    days, hours, minutes, seconds = (float(part or 0) for part in parts.groups())
    return 86400 * days + 3600 * hours + 60 * minutes + seconds


def level_w(name: str, level: float, usual_w: float, levels: tuple[float, ...]) -> float:
    """The cap of a level of SIMPLE."""
    if level not in range(len(levels)):
        raise InputError(f"event {name} has the level {level:g}; there are 0 to {len(levels) - 1}")
    return levels[int(level)] * usual_w


def why_unreadable(error: Exception) -> str:
    """What is wrong with the shape of an event, in words."""
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    if isinstance(error, ValueError | OverflowError):
        return str(error)
    return f"a value is of another kind than the standard says ({error})"


def unreadable(name: Any, error: Exception) -> InputError:
    """That an event cannot be read, with its name where it has one."""
    which = "an event without a name" if name is None else f"event {name}"
    return InputError(f"{which} cannot be read: {why_unreadable(error)}")


def other_currency(given: Any, wanted: str) -> str:
    """That a price is in another currency than the bill; one that neither says is not known."""
    if given and wanted and str(given).upper() != wanted.upper():
        return f"in {given}, where the bill is in {wanted}"
    return ""
