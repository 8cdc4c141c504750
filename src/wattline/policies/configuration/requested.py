"""Every job runs as it was requested."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import as_queued, starts_only
from wattline.policies.from_view import decides_from_view
from wattline.policies.state import State
from wattline.policies.traits import keeps_request


@decides_from_view()
@starts_only
class Requested(NamedTuple):
    """The size and time that the user asked for."""

    @property
    def axis(self) -> Literal["configuration"]:
        return "configuration"


@implement(as_queued, Requested)
@kernel
def _as_queued(st: State, configuration: Requested) -> bool:
    return True


@keeps_request.register
def _keeps_request(configuration: Requested) -> bool:
    return True
