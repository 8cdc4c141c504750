"""Until when the plans of a backfill cycle stay what they are if nothing happens.

A cycle plans with times that do not depend on the time at which it runs: ends of running jobs, of
plans and of reservations. So where nothing has happened since the last cycle, the next one plans
the same, and starts nothing, but for what time alone changes: the window (bf_window) takes in
another end; a running job is past its limit, and those behind it are planned from now on; its watts
count as free from now on; a job becomes old enough to hold nodes (bf_min_age_reserve).
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.planned_times import rounded_down, step_after
from wattline.shared_nodes.state import NEVER_S, QUEUED, Books
from wattline.shared_nodes.will_run import first_after


@kernel_part
def plans_hold_until(st: Books) -> float:
    """When a cycle may plan otherwise than the plans made last; NEVER_S: not by itself."""
    clock = st.clock[0]
    until_s = _next_end_in_window(st)
    if clock.running > 0:
        until_s = min(until_s, st.running_end[clock.first_running] - 1.0)
    if st.rules[0].capped != 0 or st.rules[0].bounded != 0:
        until_s = min(until_s, _next_rounded_end(st))
    if st.rules[0].bf_min_age_reserve_s > 0.0:
        until_s = min(until_s, _next_of_age(st))
    return float(until_s)


@kernel_part
def _next_end_in_window(st: Books) -> float:
    """When the window reaches the next end of a running job or of a plan."""
    clock = st.clock[0]
    window_s = st.rules[0].bf_window_s
    until_s = clock.now_s + window_s
    end_s = NEVER_S
    place = first_after(st, until_s)
    if place < clock.first_running + clock.running:
        end_s = st.running_end[place]
    for span in range(clock.intervals):
        if st.span_end[span] >= until_s:
            end_s = min(end_s, st.span_end[span])
    return float(end_s - window_s) if end_s < NEVER_S else NEVER_S


@kernel_part
def _next_rounded_end(st: Books) -> float:
    """When plans of watts first count another running job as over right after now."""
    clock = st.clock[0]
    step_s = step_after(st, clock.now_s)
    for place in range(clock.first_running, clock.first_running + clock.running):
        if st.running_end[place] >= step_s:
            return rounded_down(st, st.running_end[place])
    return NEVER_S


@kernel_part
def _next_of_age(st: Books) -> float:
    """When the next job of the queue is old enough to hold nodes."""
    of_age_s = NEVER_S
    for place in range(st.clock[0].queue):
        live = st.live[st.entry[st.queue[place]].job]
        time_s = live.eligible_s + st.rules[0].bf_min_age_reserve_s
        if live.phase == QUEUED and time_s > st.clock[0].now_s:
            of_age_s = min(of_age_s, time_s)
    return float(of_age_s)
