"""Watts as a resource beside units: a job that lacks them waits, with a reservation in both."""

from __future__ import annotations

from typing import Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.admission.power import most_raised_w, never_fits, within_cap
from wattline.policies.contract import (
    START,
    WAIT,
    Composition,
    admit,
    refuses,
    watts_available,
    watts_of,
)
from wattline.policies.from_view import decides_from_view
from wattline.policies.state import RUNNING, State


@decides_from_view()
class Watts(NamedTuple):
    """A job holds its watts from start to end; backfilling plans units and watts together."""

    @property
    def axis(self) -> Literal["admission"]:
        return "admission"


@kernel
def added_watts(st: State, job: int) -> float:
    """What a job adds to the machine's draw: all it takes, less the idle power of its units."""
    live = st.live[job]
    if live.state == RUNNING:
        return float(live.power_w - live.idle_w)
    return most_raised_w(st, job, st.clock[0].power_factor)


@implement(admit, Watts)
@kernel
def _admit(st: State, admission: Watts, policy: Composition, job: int) -> int:
    return START if within_cap(st, job, False) else WAIT


@implement(watts_available, Watts)
@kernel
def _watts_available(st: State, admission: Watts) -> float:
    return float(st.clock[0].cap_w - st.clock[0].power_w)


@implement(watts_of, Watts)
@kernel
def _watts_of(st: State, admission: Watts, job: int) -> float:
    return added_watts(st, job)


@implement(refuses, Watts)
@kernel
def _refuses(st: State, admission: Watts, job: int) -> bool:
    return never_fits(st, job, 1.0, False)
