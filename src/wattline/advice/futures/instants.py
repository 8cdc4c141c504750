"""An instant of a log, as a person says it."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

from wattline.model.errors import InputError
from wattline.model.units import parse_duration, parse_fraction
from wattline.scenario.build import Plan


def instant_s(at: float | str, ready: Plan) -> float:
    """Seconds on the log's clock: `3600`, `30d`, `01:30:00`, `50%` of its submissions, or a date
    (UTC)."""
    submit_s = ready.jobs.submit_s
    first_s, last_s = float(submit_s[0]), float(submit_s[-1])
    if not isinstance(at, str):
        found = float(at)
    elif at.strip().endswith("%"):
        part = parse_fraction(at)
        if part > 1.0:
            raise InputError(f"at: {at} is beyond the last submission, which is 100%")
        found = first_s + part * (last_s - first_s)
    elif _is_date(at):
        found = _date(at, ready)
    else:
        found = parse_duration(at)
    if not math.isfinite(found):
        raise InputError(f"at is {at}, must be an instant of the log")
    if not first_s <= found:
        raise InputError(f"at: {at} is before the first submission, which is at {first_s:g} s")
    return found


def _is_date(at: str) -> bool:
    """Whether it has parts of a date; 01:30:00 is a time."""
    return "-" in at or (":" in at and not re.fullmatch(r"[\s\d:.]+", at))


def _date(at: str, ready: Plan) -> float:
    unix_s = ready.scenario.trace.unix_start_s
    if unix_s is None:
        raise InputError(f"at: {at} is a date, and the log does not say when it began; give "
                         "seconds, 30d or 50%")
    try:
        date = datetime.fromisoformat(at)
    except ValueError:
        raise InputError(f"at: '{at}' is neither seconds, nor 30d, nor 50%, nor a date like "
                         "2024-02-01T12:00") from None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - unix_s
