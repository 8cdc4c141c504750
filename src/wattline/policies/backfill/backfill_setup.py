"""Declarations of the backfillings."""

from __future__ import annotations

from typing import Any

from wattline.policies.declaration import Declaration, Parameters, of_numbers
from wattline.policies.going_together import is_moldable
from wattline.policies.setting import Setting


def _conservative(setting: Setting, given: Parameters) -> Any:
    """With moldable jobs the plan is made anew at every decision, else kept."""
    if is_moldable(setting.chosen["configure"].name):
        from wattline.policies.backfill.conservative_moldable import ConservativeMoldable

        return ConservativeMoldable()
    from wattline.policies.backfill.conservative import Conservative

    return Conservative()


NONE = Declaration("backfill", "none", "Strictly in order.",
                   of_numbers("backfill.none", "NoBackfill"))
EASY = Declaration("backfill", "easy", "One reservation, for the first job that has to wait.",
                   of_numbers("backfill.easy", "Easy"))
CONSERVATIVE = Declaration(
    "backfill", "conservative", "A reservation for every job, none ever delayed.",
    _conservative)
