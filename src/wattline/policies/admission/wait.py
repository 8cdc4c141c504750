"""WAIT: a job that would take the machine over the cap steps aside for others, for a while."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from wattline.model.kernel import implement, kernel, slot
from wattline.policies.admission.power import never_fits, within_cap
from wattline.policies.contract import (
    SET_ASIDE,
    START,
    STOP,
    Composition,
    Everything,
    admit,
    before_queue,
    carries,
    refuses,
)
from wattline.policies.node_classes import expect_classes
from wattline.policies.profile import earliest, plan_running
from wattline.policies.starting import note, start
from wattline.policies.state import ACT_WAKE, ASIDE, PLAN_STALE, State
from wattline.policies.traits import never_slows


class Wait(NamedTuple):
    """At most `slots` jobs wait aside; one that waited longer than `wait_s` there blocks all.

    Jobs aside are tried first whenever power falls, and hold no reservation in units. `jobs_only`:
    the cap counts running jobs, and idle units come on top.
    """

    wait_s: float = 30_000.0
    slots: int = 10
    jobs_only: bool = False

    @property
    def axis(self) -> Literal["admission"]:
        return "admission"


@implement(admit, Wait)
@kernel
def _admit(st: State, admission: Wait, policy: Composition, job: int) -> int:
    clock = st.clock[0]
    if within_cap(st, job, admission.jobs_only):
        return START
    if clock.aside >= admission.slots:
        return STOP
    st.aside[clock.aside].job = job
    clock.aside += 1
    st.live[job].state = ASIDE
    st.live[job].aside_s = clock.now_s
    note(st, ACT_WAKE, job, clock.now_s + admission.wait_s, 0.0)
    return SET_ASIDE


@implement(carries, Wait)
@kernel
def _carries(st: State, admission: Wait, job: int) -> bool:
    return within_cap(st, job, admission.jobs_only)


@slot(1, default=True)
def _meets_window(st: State, scope: Any, job: int) -> bool:
    """Return True if a job that starts now would run into a reservation of nodes."""
    return False


@implement(_meets_window, Everything)
@kernel
def _meets_known_window(st: State, scope: Everything, job: int) -> bool:
    clock = st.clock[0]
    if clock.windows == 0:
        return False
    plan_running(st)
    live = st.live[job]
    return bool(earliest(
        st, clock.now_s, live.units, live.requested_s / clock.speed) > clock.now_s)


@implement(before_queue, Wait)
@kernel
def _before_queue(st: State, admission: Wait, policy: Composition) -> bool:
    """Try the jobs aside in their order; one that has waited too long lets nobody pass."""
    clock = st.clock[0]
    kept = 0
    index = 0
    blocked = False
    while index < clock.aside and not blocked:
        job = st.aside[index].job
        live = st.live[job]
        starts = False
        expect_classes(st, policy, job)
        if (live.units <= clock.free and within_cap(st, job, admission.jobs_only)
                and not _meets_window(st, policy.scope, job)):
            starts = start(st, policy, job)
        if not starts:
            blocked = clock.now_s > live.aside_s + admission.wait_s
            if kept < index:
                st.aside[kept] = st.aside[index]
            kept += 1
        index += 1
    if kept == index:
        return not blocked  # all of them are where they were
    for later in range(index, clock.aside):
        st.aside[kept] = st.aside[later]
        kept += 1
    clock.aside = kept
    clock.examined = 0  # units were taken: the head job's reservation has to be found anew
    clock.replan = PLAN_STALE
    return not blocked


@implement(refuses, Wait)
@kernel
def _refuses(st: State, admission: Wait, job: int) -> bool:
    return never_fits(st, job, 1.0, admission.jobs_only)


@never_slows.register
def _never_slows(admission: Wait) -> bool:
    return True
