"""A job is submitted, becomes eligible, and is over; jobs that wait for others.

sbatch: --dependency (its rules stand in depending.py), --begin, --hold; slurm.conf: MaxJobCount
(remembering.py).
"""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.depending import FAILED, MET, dependency, next_of_name
from wattline.shared_nodes.limits import count_submitted, may_submit
from wattline.shared_nodes.outcome import CANCELLED, KILLED, RAN, REFUSED
from wattline.shared_nodes.priority import set_priority
from wattline.shared_nodes.queueing import enqueue, sweep_queue
from wattline.shared_nodes.remembering import has_room_for, remember
from wattline.shared_nodes.reserving import ITS_RESERVATION_IS_OVER, is_over
from wattline.shared_nodes.starting import stop_job
from wattline.shared_nodes.state import (
    BEGIN,
    BLOCKED,
    OVER,
    QUEUED,
    Books,
)
from wattline.shared_nodes.timers import add_timer
from wattline.shared_nodes.waking import ask_for_pass, something_changed, time_changed

SUBMITTED_TOO_MANY, NEVER_SATISFIED, IS_HELD, INVALID_DEPENDENCY = 4, 6, 7, 12


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
    jobs = _submitted_with(st, job)
    if jobs == 0 or not has_room_for(st, jobs) or (
            st.rules[0].enforce_limits != 0 and not may_submit(st, ask.first_entry, jobs)):
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
def _submitted_with(st: Books, job: int) -> int:
    """How many jobs are submitted with this one: its array counts as a whole, with its first task.

    0 for a task of an array that was refused, 1 for one of an array that was not.
    """
    array = st.ask[job].array
    if array < 0:
        return 1
    submit_s = st.ask[job].submit_s
    if job > 0 and st.ask[job - 1].array == array and st.ask[job - 1].submit_s == submit_s:
        before = st.live[job - 1]
        is_refused = before.state == REFUSED and before.reason == SUBMITTED_TOO_MANY
        return 0 if is_refused else 1
    end = job + 1
    while end < len(st.ask) and st.ask[end].array == array and st.ask[end].submit_s == submit_s:
        end += 1
    return end - job


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
    if _is_let_go(st, job):
        something_changed(st)
        _enter_queue(st, job)
        ask_for_pass(st)


@kernel_part
def may_begin(st: Books, job: int) -> None:
    """A job's time to begin has come: it is in the queue for whoever looks next.

    sbatch: --begin and --dependency=after:ID+MINUTES. As tried on Slurm 22.05.8, nothing is looked
    at for its sake, unless it was not a time alone that it waited for.
    """
    if st.ask[job].prompted != 0:
        become_eligible(st, job)
    elif _is_let_go(st, job):
        time_changed(st)
        _enter_queue(st, job)


@kernel_part
def _is_let_go(st: Books, job: int) -> bool:
    """Whether neither a time nor another job holds it up; what does is kept in mind."""
    ask = st.ask[job]
    live = st.live[job]
    if ask.begin_s > st.clock[0].now_s:
        add_timer(st, ask.begin_s, BEGIN, job, live.generation)
        return False
    if ask.waits > 0:
        verdict = dependency(st, job)
        if verdict == FAILED:
            _never_satisfied(st, job)
        if verdict != MET:
            return False
    if is_over(st, job):
        live.reason = ITS_RESERVATION_IS_OVER
        return False
    return True


@kernel_part
def _enter_queue(st: Books, job: int) -> None:
    ask = st.ask[job]
    clock = st.clock[0]
    live = st.live[job]
    live.phase = QUEUED
    if live.eligible_s != live.eligible_s:  # not yet known
        live.eligible_s = clock.now_s
        live.age_from_s = ask.submit_s if st.rules[0].accrue_always != 0 else clock.now_s
    set_priority(st, job)
    enqueue(st, job)


@kernel_part
def _never_satisfied(st: Books, job: int) -> None:
    """It waits for ever, or is cancelled where the cluster or the job has it so."""
    live = st.live[job]
    live.reason = NEVER_SATISFIED
    if st.ask[job].kill_wait == 0:
        return
    clock = st.clock[0]
    live.reason = INVALID_DEPENDENCY
    live.phase = OVER
    live.state = CANCELLED
    live.cancelled_s = clock.now_s
    clock.done += 1
    clock.pending -= 1
    remember(st)
    count_submitted(st, st.ask[job].first_entry, -1)
    st.told[clock.told] = job
    clock.told += 1


@kernel_part
def tell_dependents(st: Books, job: int) -> None:
    """Something became of a job that others may wait for."""
    first = st.ask[job].first_told
    for place in range(first, first + st.ask[job].tolds):
        _try_again(st, st.wait[st.told_wait[place]].job)
    if st.ask[job].namesakes >= 0:
        following = next_of_name(st, st.ask[job].namesakes)
        if following >= 0:
            _try_again(st, following)


@kernel_part
def _try_again(st: Books, job: int) -> None:
    """One with a begin time to come has a timer for it."""
    live = st.live[job]
    if live.phase == BLOCKED and live.reason == 0 and st.ask[job].begin_s <= st.clock[0].now_s:
        become_eligible(st, job)


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
    remember(st)
    count_submitted(st, st.ask[job].first_entry, -1)
    something_changed(st)
    ask_for_pass(st)
    tell_dependents(st, job)


@kernel_part
def send_back(st: Books, job: int, may_requeue: bool, lost_by: int) -> None:
    """A running job loses its nodes: into the queue again, or over (`lost_by`) where it may not."""
    live = st.live[job]
    if not may_requeue:
        live.state = lost_by
        leave(st, job)
        return
    stop_job(st, job)
    live.requeues += 1
    live.lost_j = live.energy_j
    live.left_s = st.ask[job].run_s
    write_gap(st, job, 1)
    if st.rules[0].requeue_delay_s > 0.0:
        st.ask[job].begin_s = st.clock[0].now_s + st.rules[0].requeue_delay_s
        st.ask[job].prompted = 0
    back_into_queue(st, job)


@kernel_part
def write_gap(st: Books, job: int, is_lost: int) -> None:
    """Write down that a job has left its nodes and will start again."""
    clock = st.clock[0]
    live = st.live[job]
    gap = st.gap[clock.gaps]
    gap.job = job
    gap.start_s = live.start_s
    gap.from_s = clock.now_s
    gap.to_s = np.nan
    gap.energy_j = live.energy_j
    gap.is_lost = is_lost
    clock.gaps += 1
    _write_stays(st, job)


@kernel_part
def _write_stays(st: Books, job: int) -> None:
    """Write down what it had on each node, before another start takes the place of that."""
    clock = st.clock[0]
    live = st.live[job]
    kinds = st.rules[0].kinds
    first = st.ask[job].first_row
    if clock.stays + live.nodes > len(st.stay):  # as for timers
        clock.overfull = 1
        return
    for row in range(first, first + live.nodes):
        stay = st.stay[clock.stays]
        stay.job = job
        stay.node = st.row_node[row]
        stay.cpus = st.row_cpus[row]
        stay.memory = st.row_memory[row]
        stay.watts = st.row_w[row] if live.boots == 0 else 0.0
        stay.given_s = live.given_s
        stay.from_s = live.stretch_s
        stay.to_s = clock.now_s
        for kind in range(kinds):
            st.stay_gres[clock.stays * kinds + kind] = st.row_gres[row * kinds + kind]
        clock.stays += 1


@kernel_part
def back_into_queue(st: Books, job: int) -> None:
    """A job that has lost its nodes waits again."""
    st.live[job].phase = BLOCKED
    sweep_queue(st)  # it may still stand there from its first start
    st.clock[0].end_pass = 1
    something_changed(st)  # its nodes are free, also where it may not begin again yet
    become_eligible(st, job)
