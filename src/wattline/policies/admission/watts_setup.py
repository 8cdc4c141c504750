"""Declarations of watts as a resource, with and without loans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wattline.policies.admission.adaptive_setup import windows_of
from wattline.policies.configuration.moldable_setup import offers_of
from wattline.policies.declaration import Declaration
from wattline.policies.going_together import MOLDABLE
from wattline.policies.setting import Setting


def _make(lends: int) -> Callable[[Setting, Any], Any]:
    """For moldable jobs with or without loans of what is not used."""

    def make(setting: Setting, given: Any) -> Any:
        if setting.chosen["configure"].name not in MOLDABLE:
            from wattline.policies.admission.watts import Watts

            return Watts(*windows_of(setting.cap_plan), setting.machine.power_w_max)
        from wattline.policies.admission.lending import Lending, LendingMemory

        holds = getattr(setting.chosen["configure"].given, "holds", "draw") == "share"
        return Lending(offers_of(setting), LendingMemory.start(), lends, int(holds))

    return make


WATTS = Declaration("power", "watts", "Watts are a resource beside units; backfilling plans both.",
                    _make(0))
LENDING = Declaration("power", "lending", "The same, and unused watts are lent to running jobs.",
                      _make(1))
