"""The watts that running jobs will have given back by a time, as lists by time.

At the latest a job gives them back when it is killed: the cap is kept up to then. Plans count them
as free from its limit on, as they do nodes. The lists are made anew when a job has come onto a node
or left one, each only where it is asked for: when jobs are killed matters where the cap steps.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.planned_times import rounded_down
from wattline.shared_nodes.state import Books


@kernel_part
def list_limits(st: Books) -> None:
    """Bring `ended_w` up to date: the watts of all running jobs up to one, by their limits."""
    clock = st.clock[0]
    if clock.limits_moved == clock.moved:
        return
    clock.limits_moved = clock.moved
    running, live, ended_w = st.running, st.live, st.ended_w
    total = 0.0
    for index in range(clock.running):
        total += live[running[clock.first_running + index]].watts
        ended_w[index] = total


@kernel_part
def list_ends(st: Books) -> None:
    """Bring `over_s` and `over_w` up to date: when each is killed, and the watts of all by then."""
    clock = st.clock[0]
    if clock.ends_moved == clock.moved:
        return
    clock.ends_moved = clock.moved
    times_s, watts = st.over_s, st.over_w
    for index in range(clock.running):
        live = st.live[st.running[clock.first_running + index]]
        over_s = max(live.limit_end_s, live.latest_s)
        own_w = live.watts
        # Limits are in order already, and so mostly are the looks at them.
        place = index
        while place > 0 and times_s[place - 1] > over_s:
            times_s[place] = times_s[place - 1]
            watts[place] = watts[place - 1]
            place -= 1
        times_s[place] = over_s
        watts[place] = own_w
    total = 0.0
    for index in range(clock.running):
        total += watts[index]
        watts[index] = total


@kernel_part
def freed_watts(st: Books, time_s: float) -> float:
    """Watts of the running jobs that are killed by then; the lists must be up to date."""
    times_s = st.over_s
    low, high = 0, st.clock[0].running
    while low < high:
        middle = (low + high) // 2
        if times_s[middle] <= time_s:
            low = middle + 1
        else:
            high = middle
    return float(st.over_w[low - 1]) if low > 0 else 0.0


@kernel_part
def watts_past_limits(st: Books, time_s: float) -> float:
    """Watts of the running jobs that plans count as over by then, which is after now."""
    clock = st.clock[0]
    low, high = 0, clock.running
    while low < high:
        middle = (low + high) // 2
        if rounded_down(st, st.running_end[clock.first_running + middle]) <= time_s:
            low = middle + 1
        else:
            high = middle
    return float(st.ended_w[low - 1]) if low > 0 else 0.0
