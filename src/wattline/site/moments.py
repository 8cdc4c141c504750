"""Times of day as Slurm prints them: 2024-01-31T12:00:00, with or without an offset from UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from wattline.model.errors import InputError

_SECONDS = r"[0-9]{1,11}(\.[0-9]+)?"
_NONE = ("", "unknown", "none")


def moment_s(text: str, where: str) -> float | None:
    """Unix time, of a time without an offset as if it were UTC; None where there is none."""
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
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


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
