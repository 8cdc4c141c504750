"""What an energy budget says of the ends of its periods, in words and in numbers for kernels."""

from __future__ import annotations

from dataclasses import dataclass

FORBID, CHARGE_NOW, ALLOW = range(3)
CARRIES = ("forbid", "charge-now", "allow")
"""A job that runs on into later periods: each must have the joules that it draws there; the one it
starts in pays for all of it; or it is counted only to the end of that one."""

EXPIRE, KEEP = range(2)
UNSPENT = ("expire", "carry")
"""What a period leaves is lost, or goes to the next."""

MOST_PERIODS = 10_000
"""So many periods are planned at most, and saved up for at most."""


@dataclass(frozen=True)
class BudgetTerms:
    """What becomes of jobs and joules at the end of a period, and of jobs without joules."""

    carry: str = "forbid"
    unspent: str = "expire"
    no_room: str = "refuse"
