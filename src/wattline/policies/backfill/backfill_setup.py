"""Declarations of the backfillings."""

from __future__ import annotations

from wattline.policies.declaration import Declaration, of_numbers

NONE = Declaration("backfill", "none", "Strictly in order.",
                   of_numbers("backfill.none", "NoBackfill"))
EASY = Declaration("backfill", "easy", "One reservation, for the first job that has to wait.",
                   of_numbers("backfill.easy", "Easy"))
CONSERVATIVE = Declaration(
    "backfill", "conservative", "A reservation for every job, none ever delayed.",
    of_numbers("backfill.conservative", "Conservative"))
