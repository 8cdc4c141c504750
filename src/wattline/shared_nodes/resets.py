"""When usage is forgotten (slurm.conf: PriorityUsageResetPeriod).

At midnight of each day, of each Sunday, of the first day of each month, quarter or year, by the
clock that the log's times are of.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from wattline.shared_nodes.machine import FloatArray

PERIODS = ("none", "now", "daily", "weekly", "monthly", "quarterly", "yearly")
YEARS = 20
_MONTHS = {"monthly": 1, "quarterly": 3, "yearly": 12}


def reset_times(period: str, unix_start_s: float) -> FloatArray:
    """For twenty years, in seconds from the log's beginning; `now` resets once, before it."""
    if period not in PERIODS[2:]:
        return np.zeros(0)
    start = datetime.fromtimestamp(unix_start_s, UTC)
    midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
    if period in _MONTHS:
        step = _MONTHS[period]
        months = [midnight.year * 12 + (midnight.month - 1) // step * step + step * number
                  for number in range(1, YEARS * 12 // step + 1)]
        moments = [datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC) for month in months]
    else:
        days = 1 if period == "daily" else 7
        # Python's weeks begin on Monday, Slurm's on Sunday.
        first = midnight - timedelta(days=0 if days == 1 else (midnight.weekday() + 1) % 7)
        moments = [first + timedelta(days=days * number)
                   for number in range(1, YEARS * 366 // days)]
    return np.array([moment.timestamp() - unix_start_s for moment in moments])
