"""A job is submitted, becomes eligible, and is over; jobs that wait for others.

sbatch: --dependency (afterany, afterok, afternotok, after, singleton), --begin, --hold; slurm.conf:
MaxJobCount.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.limits import count_submitted, may_submit
from wattline.shared_nodes.outcome import CANCELLED, KILLED, NEVER, RAN, REFUSED
from wattline.shared_nodes.priority import set_priority
from wattline.shared_nodes.queueing import enqueue, sweep_queue
from wattline.shared_nodes.starting import stop_job
from wattline.shared_nodes.state import (
    AFTER,
    AFTERNOTOK,
    AFTEROK,
    BEGIN,
    BLOCKED,
    OVER,
    QUEUED,
    RUNNING,
    TO_COME,
    Books,
)
from wattline.shared_nodes.timers import add_timer
from wattline.shared_nodes.waking import ask_for_pass, something_changed

SUBMITTED_TOO_MANY, NEVER_SATISFIED, IS_HELD, OTHER = 4, 6, 7, 9


@kernel_part
def submit_job(st: Books, job: int) -> None:
    ask = st.ask[job]
    clock = st.clock[0]
    live = st.live[job]
    live.left_s = ask.run_s
    if ask.refused != 0:
        _turn_away(st, job, REFUSED, ask.refused)
        return
    if ask.entries == 0:  # no partition takes it, and it waits for ever
        live.phase = BLOCKED
        live.reason = ask.never
        return
    if clock.pending >= st.rules[0].max_job_count or (
            st.rules[0].enforce_limits != 0 and not may_submit(st, ask.first_entry)):
        _turn_away(st, job, REFUSED, SUBMITTED_TOO_MANY)
        return
    count_submitted(st, ask.first_entry, 1)
    clock.pending += 1
    live.phase = BLOCKED
    if ask.held != 0:
        live.reason = IS_HELD
    elif ask.never != 0:
        live.reason = ask.never
    else:
        become_eligible(st, job)


@kernel_part
def _turn_away(st: Books, job: int, state: int, reason: int) -> None:
    live = st.live[job]
    live.phase = OVER
    live.state = state
    live.reason = reason
    st.clock[0].done += 1
    tell_dependents(st, job)


@kernel_part
def become_eligible(st: Books, job: int) -> None:
    """Into the queue, unless the job has to wait for a time or for another job."""
    ask = st.ask[job]
    clock = st.clock[0]
    live = st.live[job]
    if ask.begin_s > clock.now_s:
        add_timer(st, ask.begin_s, BEGIN, job, live.generation)
        return
    if ask.after_job >= 0:
        verdict = _dependency(st, job)
        if verdict < 0:
            live.reason = NEVER_SATISFIED
        if verdict <= 0:
            return
    something_changed(st)
    live.phase = QUEUED
    if live.requeues == 0:
        live.eligible_s = clock.now_s
        live.age_from_s = ask.submit_s if st.rules[0].accrue_always != 0 else clock.now_s
    set_priority(st, job)
    enqueue(st, job)
    ask_for_pass(st)


@kernel_part
def _dependency(st: Books, job: int) -> int:
    """1 where the job that this one waits for lets it go, -1 where it never will, else 0."""
    ask = st.ask[job]
    other = st.live[ask.after_job]
    if ask.after_kind == AFTER:
        return 1 if other.phase in (RUNNING, OVER) else 0
    if other.phase != OVER:
        return 0
    went_well = other.state == RAN and st.ask[ask.after_job].exit_ok != 0
    if (ask.after_kind == AFTEROK and not went_well) or (
            ask.after_kind == AFTERNOTOK and went_well):
        return -1
    return 1


@kernel_part
def tell_dependents(st: Books, job: int) -> None:
    """Something became of a job that others may wait for."""
    waiting = st.ask[job].first_after
    while waiting >= 0:
        if st.live[waiting].phase == BLOCKED and st.live[waiting].reason == 0:
            become_eligible(st, waiting)
        waiting = st.ask[waiting].next_after


@kernel_part
def end_job(st: Books, job: int) -> None:
    """A running job ends by itself or is killed at its limit."""
    live = st.live[job]
    live.state = KILLED if live.killed != 0 else RAN
    clock = st.clock[0]
    clock.prompt += 1.0 if live.killed != 0 else st.rules[0].prompt_ends
    if clock.prompt >= 1.0:
        clock.prompt -= 1.0
        clock.end_pass = 1
    leave(st, job)


@kernel_part
def leave(st: Books, job: int) -> None:
    """A running job is over: `state` says how."""
    clock = st.clock[0]
    live = st.live[job]
    stop_job(st, job)
    live.phase = OVER
    live.end_s = clock.now_s
    clock.done += 1
    clock.pending -= 1
    count_submitted(st, st.ask[job].first_entry, -1)
    something_changed(st)
    ask_for_pass(st)
    tell_dependents(st, job)


@kernel_part
def send_back(st: Books, job: int, may_requeue: bool) -> None:
    """A running job loses its nodes: into the queue again, or cancelled where it may not."""
    live = st.live[job]
    if not may_requeue:
        live.state = CANCELLED
        leave(st, job)
        return
    stop_job(st, job)
    live.requeues += 1
    live.left_s = st.ask[job].run_s
    live.phase = BLOCKED
    sweep_queue(st)  # it may still stand there from its first start
    st.clock[0].end_pass = 1
    become_eligible(st, job)


@kernel_part
def give_up(st: Books) -> None:
    """Nothing will happen any more: what still waits, waits for ever."""
    for job in range(len(st.live)):
        live = st.live[job]
        if live.phase in (BLOCKED, QUEUED, TO_COME):
            if live.phase == QUEUED and live.reason == 0:
                live.reason = OTHER
            live.state = NEVER
