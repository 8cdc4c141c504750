"""No control cycle."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.policies.contract import starts_only
from wattline.policies.from_view import decides_from_view
from wattline.policies.traits import regulates


@decides_from_view()
@starts_only
class NoRegulation(NamedTuple):
    """The machine follows no signal."""

    @property
    def axis(self) -> Literal["regulation"]:
        return "regulation"


@regulates.register
def _regulates(regulation: NoRegulation) -> bool:
    return False
