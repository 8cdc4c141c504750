"""No power limit: every job that fits in units may start."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.policies.contract import starts_only
from wattline.policies.from_view import decides_from_view
from wattline.policies.traits import never_slows, power_wait


@decides_from_view()
@starts_only
class NoLimit(NamedTuple):
    """Power is measured, not limited."""

    @property
    def axis(self) -> Literal["admission"]:
        return "admission"


@power_wait.register
def _power_wait(admission: NoLimit) -> str:
    return ""


@never_slows.register
def _never_slows(admission: NoLimit) -> bool:
    return True
