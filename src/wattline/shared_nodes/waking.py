"""When the scheduler looks at the queue again.

slurm.conf, SchedulerParameters: batch_sched_delay (a submission is looked at on the next tick of
the controller's loop, one second apart, but so long after the last pass), sched_interval (a pass
over the whole queue), bf_interval (from the end of one backfill cycle to the next; with nothing to
do it looks every second). The end of a job asks for a pass like a submission, one that was
killed for a pass at once. All loops count from the start of the scheduler. `phase_s` says where the
loop's ticks lie.

A pass that could find nothing new is left out, which changes nothing but the time it takes. That
is so where nothing has happened since the last of its kind. A start is something that happened, but
for main passes not one of their own, unless that pass ended at a limit on the jobs it looks at
(default_queue_depth, partition_job_depth). replanning.py says what time alone changes.
"""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import NEVER_S, Books


@kernel_part
def next_on_grid(time_s: float, first_s: float, step_s: float) -> float:
    """The first time of the grid that is not before `time_s`."""
    return float(first_s + np.ceil((time_s - first_s) / step_s) * step_s)


@kernel_part
def something_changed(st: Books) -> None:
    """A job may be able to start that could not before."""
    time_changed(st)
    ask_for_cycle(st)


@kernel_part
def time_changed(st: Books) -> None:
    """Nothing happened but that a time came, of which nobody tells the scheduler.

    The next pass over the whole queue sees it, or one that comes for others; backfill goes on
    looking only where jobs wait.
    """
    clock = st.clock[0]
    rules = st.rules[0]
    clock.changed = 1
    clock.changed_quick = 1
    if clock.full_s >= NEVER_S:
        full_s = next_on_grid(clock.now_s, rules.phase_s, rules.sched_interval_s)
        if full_s <= clock.last_full_s:
            full_s += rules.sched_interval_s
        clock.full_s = full_s
    if clock.queued > 0:
        ask_for_cycle(st)


@kernel_part
def others_are_next(st: Books) -> None:
    """A job that was looked at no longer is: the next backfill cycle may plan for others.

    Those behind a limit of its own move up, and those for which the start left no room, by licences
    and limits, hold nothing any more. loop.py says when it matters to main passes.
    """
    st.clock[0].gone += 1
    if st.clock[0].queued > 1:  # this one is still counted
        ask_for_cycle(st)


@kernel_part
def ask_for_cycle(st: Books) -> None:
    """The next backfill cycle is not left out."""
    clock = st.clock[0]
    if st.rules[0].backfill != 0 and clock.backfill_s >= NEVER_S:
        clock.backfill_s = _next_cycle(st)


@kernel_part
def cycle_takes_s(st: Books, jobs: int) -> float:
    """How long a backfill cycle over so many jobs lasts."""
    rules = st.rules[0]
    return float(min(min(jobs, rules.bf_max_job_test) * rules.bf_try_s, rules.bf_max_time_s))


@kernel_part
def _next_cycle(st: Books) -> float:
    """`last_backfill_s` is when the last cycle ended."""
    clock = st.clock[0]
    due_s = clock.last_backfill_s + st.rules[0].bf_interval_s
    if due_s >= clock.now_s:
        return float(due_s)
    if clock.queued > 0:
        return cycle_from(st, clock.now_s)
    return next_on_grid(clock.now_s, due_s, st.rules[0].tick_s)


@kernel_part
def cycle_from(st: Books, time_s: float) -> float:
    """The first cycle from a time on, where those before it find nothing and the queue stays."""
    clock = st.clock[0]
    due_s = clock.last_backfill_s + st.rules[0].bf_interval_s
    step_s = st.rules[0].bf_interval_s + cycle_takes_s(st, clock.queued)
    return next_on_grid(max(time_s, due_s), due_s, step_s)


@kernel_part
def ask_for_pass(st: Books) -> None:
    """A job was submitted: it is looked at on one of the next ticks."""
    clock = st.clock[0]
    rules = st.rules[0]
    earliest_s = max(clock.now_s, clock.last_pass_s + rules.batch_delay_s)
    clock.pass_s = min(clock.pass_s, next_on_grid(earliest_s, rules.phase_s, rules.tick_s))
