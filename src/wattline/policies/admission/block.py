"""BLOCK: a job that would take the machine over the cap stops everything behind it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.model.promises import STOPS
from wattline.policies.admission.power import never_fits, within_cap
from wattline.policies.contract import (
    START,
    STOP,
    Composition,
    admit,
    carries,
    refuses,
    starts_only,
)
from wattline.policies.from_view import decides_from_view
from wattline.policies.state import State
from wattline.policies.traits import never_slows, power_wait


@decides_from_view()
@starts_only
class Block(NamedTuple):
    """Wait until there is power for the job, and let nobody pass.

    `jobs_only`: the cap counts running jobs, and idle units come on top.
    """

    jobs_only: bool = False

    @property
    def axis(self) -> Literal["admission"]:
        return "admission"


@implement(admit, Block)
@kernel
def _admit(st: State, admission: Block, policy: Composition, job: int) -> int:
    return START if within_cap(st, job, admission.jobs_only) else STOP


@implement(carries, Block)
@kernel
def _carries(st: State, admission: Block, job: int) -> bool:
    return within_cap(st, job, admission.jobs_only)


@implement(refuses, Block)
@kernel
def _refuses(st: State, admission: Block, job: int) -> bool:
    return never_fits(st, job, 1.0, admission.jobs_only)


@power_wait.register
def _power_wait(admission: Block) -> str | None:
    return None if admission.jobs_only else STOPS


@never_slows.register
def _never_slows(admission: Block) -> bool:
    return True
