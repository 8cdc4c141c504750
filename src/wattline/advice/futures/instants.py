"""An instant of a log, as a person says it."""

from __future__ import annotations

import math
from datetime import datetime

from wattline.model.errors import InputError
from wattline.model.run_clock import UNIX_FROM_S, parse_time
from wattline.model.units import parse_fraction
from wattline.scenario.build import Plan
from wattline.scenario.times import clock_of


def instant_s(at: float | str, ready: Plan) -> float:
    """An instant on the log's clock: `50%` of its submissions, a date, or seconds of the log
    (`3600`, `30d`, `01:30:00`), which count from the first submission where its own are Unix times.
    """
    clock = clock_of(ready.scenario, ready.jobs)
    if isinstance(at, str) and at.strip().endswith("%"):
        part = parse_fraction(at)
        if part > 1.0:
            raise InputError(f"at: {at} is beyond the last submission, which is 100%")
        found = clock.first_s + part * (clock.last_s - clock.first_s)
    else:
        try:
            time = parse_time(at)
            if not isinstance(time, datetime) and not math.isfinite(time):
                raise InputError(f"{at} must be an instant of the log")
            first_s = 0.0 if clock.has_unix_clock else clock.first_s
            seconds = not isinstance(time, datetime) and time < UNIX_FROM_S
            found = clock.at(time) - (first_s if seconds else 0.0)
        except InputError as error:
            raise InputError(f"at: {error}; or 50% of the submissions") from None
    if not clock.first_s <= found:
        raise InputError(f"at: {at} is {clock.text(found)}, before the first submission")
    return found
