"""Events as the books apply them: jobs arrive and become eligible, timers go off, caps change."""

from __future__ import annotations

from wattline.books.log import NO_JOB, RESERVATION, SUBMIT, WAKE, log_event
from wattline.books.power_states import nodes_again, nodes_off, nodes_on
from wattline.books.record import Record
from wattline.books.reserving import begin_window, end_window, pay_windows
from wattline.books.timers import (
    ELIGIBLE,
    NODES_AGAIN,
    NODES_OFF,
    NODES_ON,
    WINDOW_END,
    WINDOW_START,
    pop_timer,
    push_timer,
)
from wattline.model.kernel import kernel_part
from wattline.policies.contract import (
    Composition,
    chooses_watts,
    holds,
    least_factor,
    never_configured,
    never_placed,
    refuses,
)
from wattline.policies.node_classes import expect_classes_alone
from wattline.policies.set_aside import queue_or_set_aside, set_aside
from wattline.policies.state import CANCELLED, DONE, HELD, REFUSED, State


@kernel_part
def submit(st: State, record: Record, policy: Composition, job: int) -> None:
    """A job arrives: it is refused, set aside, held for the job that it depends on, or queued."""
    st.clock[0].least_factor = least_factor(st, policy.admission)
    after = st.jobs[job].after
    if never_starts(st, policy, job):
        st.live[job].state = REFUSED
        record.meter[0].done += 1
    elif holds(st, policy.admission, job):
        set_aside(st, job)
    elif after >= 0:
        st.live[job].state = HELD
        if st.live[after].state == DONE:
            _become_eligible(st, record, policy, job, st.live[after].end_s)
        elif st.live[after].state in (REFUSED, CANCELLED):
            queue_or_set_aside(st, policy, job)  # as where that job is left out of the log
    else:
        queue_or_set_aside(st, policy, job)
    log_event(st, record, SUBMIT, job, 1.0 if st.live[job].state == REFUSED else 0.0)


@kernel_part
def never_starts(st: State, policy: Composition, job: int) -> bool:
    """Whether a job could not start even alone on the machine under the highest cap to come.

    By its size and watts as submitted or, where a configuration chooses those, by its choices.
    """
    if chooses_watts(st, policy.configuration, job):
        return never_configured(st, policy.configuration, job)
    if st.kinds.size > 1:
        exceeds = expect_classes_alone(st, policy, job)
    else:
        exceeds = refuses(st, policy.admission, job)
    return bool(
        exceeds
        or never_configured(st, policy.configuration, job)
        or never_placed(st, policy.placement, job)
    )


@kernel_part
def release_dependents(st: State, record: Record, policy: Composition, job: int) -> None:
    """A job has ended; those that wait for it may be queued."""
    dependent = st.jobs[job].first_dependent
    while dependent >= 0:
        if st.live[dependent].state == HELD:
            _become_eligible(st, record, policy, dependent, st.clock[0].now_s)
        dependent = st.jobs[dependent].next_dependent


@kernel_part
def _become_eligible(
    st: State, record: Record, policy: Composition, job: int, end_s: float
) -> None:
    """A job may be queued once the job before it has ended and the think time has passed."""
    eligible_s = end_s + st.jobs[job].think_s
    if eligible_s <= st.clock[0].now_s:
        queue_or_set_aside(st, policy, job)
    else:
        push_timer(st, record.meter[0].timers, eligible_s, ELIGIBLE, job)
        record.meter[0].timers += 1


@kernel_part
def let_timers_go_off(st: State, record: Record, policy: Composition) -> None:
    """All timers that are due, then free units for reservations that have begun."""
    meter = record.meter[0]
    while meter.timers > 0 and st.timers[0].time_s <= st.clock[0].now_s:
        kind = st.timers[0].kind
        arg = st.timers[0].arg
        pop_timer(st, meter.timers)
        meter.timers -= 1
        _go_off(st, record, policy, kind, arg)
    if st.clock[0].owed > 0:
        pay_windows(st)


@kernel_part
def _go_off(st: State, record: Record, policy: Composition, kind: int, arg: int) -> None:
    clock = st.clock[0]
    if kind == NODES_OFF:
        nodes_off(st, record, arg)
    elif kind == NODES_ON:
        nodes_on(st, record, arg)
    elif kind == NODES_AGAIN:
        nodes_again(st, record, arg)
    elif kind == ELIGIBLE:
        if st.live[arg].state == HELD:
            queue_or_set_aside(st, policy, arg)
    elif kind == WINDOW_START:
        begin_window(st, record, arg)
        log_event(st, record, RESERVATION, NO_JOB, float(arg))
    elif kind == WINDOW_END:
        end_window(st, record, arg)
        log_event(st, record, RESERVATION, NO_JOB, float(arg))
    else:
        clock.examined = 0
        log_event(st, record, WAKE, arg, 0.0)
