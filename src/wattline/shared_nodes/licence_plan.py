"""Licences that backfill plans ahead.

slurm.conf, SchedulerParameters: bf_licenses. A job that waits for licences is planned for when they
are there by the limits of running jobs and of those that are planned before it, for as long as it
may last, and holds them then. Without the option backfill leaves such a job, and nothing is kept
for it.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.planned_times import rounded_down
from wattline.shared_nodes.state import NEVER_S, Books


@kernel_part
def plans_licences(st: Books, job: int) -> bool:
    return bool(st.rules[0].bf_licences != 0 and st.ask[job].any_licence != 0)


@kernel_part
def hold_licences(st: Books, job: int, begin_s: float, end_s: float) -> None:
    """Keep what a planned job needs, in this cycle."""
    row = st.clock[0].licence_holds
    st.licence_hold_job[row] = job
    st.licence_hold_begin[row] = begin_s
    st.licence_hold_end[row] = end_s
    st.clock[0].licence_holds = row + 1


@kernel_part
def licences_from(st: Books, entry: int, from_s: float) -> float:
    """The first time from `from_s` on at which the job has its licences until its limit."""
    time_s = from_s
    while time_s < NEVER_S and not _enough_until_limit(st, entry, time_s):
        time_s = _next_end(st, time_s)
    return float(time_s)


@kernel_part
def _enough_until_limit(st: Books, entry: int, time_s: float) -> bool:
    """Less is free only at `time_s` and where a planned job begins."""
    row = st.entry[entry]
    if not _enough_at(st, row.job, time_s):
        return False
    for hold in range(st.clock[0].licence_holds):
        begin_s = st.licence_hold_begin[hold]
        if time_s < begin_s <= time_s + row.limit_s and not _enough_at(st, row.job, begin_s):
            return False
    return True


@kernel_part
def _enough_at(st: Books, job: int, time_s: float) -> bool:
    count = st.rules[0].licences
    for licence in range(count):
        needed = st.need_licence[job * count + licence]
        if needed > 0 and needed > st.licence_free[licence] + _given_back(
                st, licence, time_s) - _held(st, licence, time_s):
            return False
    return True


@kernel_part
def _given_back(st: Books, licence: int, time_s: float) -> int:
    """By running jobs that are over by then, if not before their limits."""
    clock = st.clock[0]
    count = st.rules[0].licences
    found = 0
    if time_s > clock.now_s:
        for place in range(clock.running):
            job = st.running[clock.first_running + place]
            if rounded_down(st, st.live[job].limit_end_s) <= time_s:
                found += st.need_licence[job * count + licence]
    return found


@kernel_part
def _held(st: Books, licence: int, time_s: float) -> int:
    """By planned jobs at that time."""
    count = st.rules[0].licences
    found = 0
    for hold in range(st.clock[0].licence_holds):
        if st.licence_hold_begin[hold] <= time_s < st.licence_hold_end[hold]:
            found += st.need_licence[st.licence_hold_job[hold] * count + licence]
    return found


@kernel_part
def _next_end(st: Books, time_s: float) -> float:
    """When the next running or planned job is over; NEVER_S after the last."""
    clock = st.clock[0]
    found_s = NEVER_S
    for place in range(clock.running):
        job = st.running[clock.first_running + place]
        end_s = rounded_down(st, st.live[job].limit_end_s)
        if time_s < end_s < found_s:
            found_s = end_s
    for hold in range(clock.licence_holds):
        end_s = st.licence_hold_end[hold]
        if time_s < end_s < found_s:
            found_s = end_s
    return float(found_s)
