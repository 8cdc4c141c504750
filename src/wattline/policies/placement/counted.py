"""Units are counted, not chosen: the fast way when all of them are alike."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.policies.contract import starts_only
from wattline.policies.from_view import decides_from_view
from wattline.policies.traits import chooses_nodes, takes_any_units


@decides_from_view()
@starts_only
class Counted(NamedTuple):
    """Any free units will do."""

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


@chooses_nodes.register
def _chooses_nodes(placement: Counted) -> bool:
    return False


@takes_any_units.register
def _takes_any_units(placement: Counted) -> bool:
    return True
