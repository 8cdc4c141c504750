"""BLOCK: a job that would take the machine over the cap stops everything behind it."""

from __future__ import annotations

from typing import NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.admission.power import within_cap
from wattline.policies.contract import (
    START,
    STOP,
    Composition,
    admit,
)
from wattline.policies.state import State


class Block(NamedTuple):
    """Wait until there is power for the job, and let nobody pass."""


@implement(admit, Block)
@kernel
def _admit(st: State, admission: Block, policy: Composition, job: int) -> int:
    return START if within_cap(st, job) else STOP
