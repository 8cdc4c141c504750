"""Watts as a resource beside units: a job that lacks them waits, with a reservation in both."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from wattline.model.kernel import implement, kernel
from wattline.model.promises import PLANNED
from wattline.policies.admission.power import (
    exceeds_alone,
    never_fits,
    raised_w,
    within_cap,
)
from wattline.policies.admission.windows import cap_at, first_end_s, held_at, risen_s
from wattline.policies.committed import committed_w, held_above_idle_w
from wattline.policies.contract import (
    START,
    WAIT,
    Composition,
    admit,
    cap_to_come_w,
    exceeds,
    not_before_s,
    refuses,
    sets_aside,
    watts_at,
    watts_available,
    watts_of,
)
from wattline.policies.from_view import decides_from_view
from wattline.policies.planning import rises_s
from wattline.policies.set_aside import idle_alone_w, idle_now_w
from wattline.policies.state import RUNNING, State
from wattline.policies.traits import never_slows, power_wait

NO_WINDOWS = np.zeros(0)


def _beside_the_view(admission: Watts) -> str:
    return "knows when watts are reserved, which a view does not show" if (
        admission.window_start_s.size) else ""


@decides_from_view(unless=_beside_the_view)
class Watts(NamedTuple):
    """A job holds its watts from start to end; backfilling plans units and watts together.

    A job that only the end of a window lets start has its reservation from then on.
    """

    window_start_s: Any = NO_WINDOWS
    window_end_s: Any = NO_WINDOWS
    window_held_w: Any = NO_WINDOWS
    """Power taken from the cap in each window known in advance, in the order of their starts."""
    machine_w: float = float("inf")
    """All units at full speed: a cap above that leaves no more to take from."""

    @property
    def axis(self) -> Literal["admission"]:
        return "admission"


@kernel
def added_watts(st: State, job: int) -> float:
    """Return what a job adds to the machine's draw: all it takes, less the idle power of its units.

    Nothing where that is below 0: its units idle again when it ends.
    """
    if st.live[job].state == RUNNING:
        return held_above_idle_w(st, job)
    return float(max(raised_w(st, job, st.clock[0].power_factor), 0.0))


@implement(admit, Watts)
@kernel
def _admit(st: State, admission: Watts, policy: Composition, job: int) -> int:
    return START if within_cap(st, job, False) else WAIT


@implement(watts_available, Watts)
@kernel
def _watts_available(st: State, admission: Watts) -> float:
    return float(st.clock[0].cap_w - committed_w(st))


@implement(watts_at, Watts)
@kernel
def _watts_at(st: State, admission: Watts, time_s: float) -> float:
    if time_s <= st.clock[0].now_s:
        return float(st.clock[0].cap_w - committed_w(st))
    return cap_at(st, admission, time_s) - committed_w(st)


@implement(not_before_s, Watts)
@kernel
def _not_before_s(st: State, admission: Watts, job: int, from_s: float) -> float:
    idle_w = idle_alone_w(st, job, idle_now_w(st))
    return risen_s(st, admission, idle_w + added_watts(st, job), from_s)


@implement(rises_s, Watts)
@kernel
def _rises_s(st: State, admission: Watts, after_s: float) -> float:
    return first_end_s(st, admission, after_s)


@implement(sets_aside, Watts)
@kernel
def _sets_aside(st: State, admission: Watts) -> bool:
    return True


@implement(exceeds, Watts)
@kernel
def _exceeds(st: State, admission: Watts, job: int, cap_w: float, idle_w: float) -> bool:
    return exceeds_alone(st, job, 1.0, False, cap_w, idle_w)


@implement(cap_to_come_w, Watts)
@kernel
def _cap_to_come_w(st: State, admission: Watts) -> float:
    return float(st.clock[0].cap_w + held_at(st, admission, st.clock[0].now_s))


@implement(watts_of, Watts)
@kernel
def _watts_of(st: State, admission: Watts, job: int) -> float:
    return added_watts(st, job)


@implement(refuses, Watts)
@kernel
def _refuses(st: State, admission: Watts, job: int) -> bool:
    return never_fits(st, job, 1.0, False)


@power_wait.register
def _power_wait(admission: Watts) -> str | None:
    """Windows that are known beforehand are told by no record of the jobs."""
    return None if admission.window_start_s.size else PLANNED


@never_slows.register
def _never_slows(admission: Watts) -> bool:
    return True
