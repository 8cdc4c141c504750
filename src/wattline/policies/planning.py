"""Slots of admission by which backfilling plans watts: what a job takes now, and later at least.

They go on with the contract (`wattline.policies.contract`), for policies whose jobs may run at
several levels of power or in several configurations, and for those that know of reserved watts.
"""

from __future__ import annotations

from wattline.model.kernel import slot
from wattline.policies.contract import AdmissionPolicy, ConfigurationPolicy, watts_of
from wattline.policies.state import State


@slot(1, default=True)
def planned_w(st: State, admission: AdmissionPolicy, job: int) -> float:
    """Watts that a waiting job holds if it is admitted now, for `planned_s`.

    They may be more than `watts_of`, which is the least that it can be reserved.
    """
    return watts_of(st, admission, job)


@slot(1, default=True)
def reserved_s(st: State, admission: AdmissionPolicy, job: int, requested_s: float) -> float:
    """How long a waiting job that asked for `requested_s` takes with the watts of `watts_of`."""
    return float(requested_s / st.clock[0].speed)


@slot(1, default=True)
def rises_s(st: State, admission: AdmissionPolicy, after_s: float) -> float:
    """The first time after `after_s` at which reserved watts are known to be given back."""
    return float("inf")


@slot(1, default=True)
def spares(st: State, admission: AdmissionPolicy, job: int, head: int) -> bool:
    """Say whether a job that starts now leaves the head job its watts where they are reserved.

    Asked of one for which the shadow time leaves room.
    """
    return True


@slot(1, default=True)
def faster_when_full(st: State, admission: AdmissionPolicy) -> bool:
    """Say whether a job that cannot start may be able to once others have taken units."""
    return False


@slot(1, default=True)
def resizes_when_full(st: State, configuration: ConfigurationPolicy) -> bool:
    """Say whether a job that waits may be given another size once others have taken watts."""
    return False
