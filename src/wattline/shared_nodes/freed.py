"""The watts that running jobs will have given back by a time, as a list by time.

Under a cap every plan asks for them at every time at which a planned job begins. The list is made
anew when a job has come onto a node or left one.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import NEVER_S, Books


@kernel_part
def list_ends(st: Books) -> None:
    """Bring the list up to date: when each running job is over, and the watts of all up to it.

    And when all are over up to one in the order of their limits (`latest_s`).
    """
    clock = st.clock[0]
    if clock.ends_moved == clock.moved:
        return
    clock.ends_moved = clock.moved
    times_s, watts = st.over_s, st.over_w
    latest_s = -NEVER_S
    for index in range(clock.running):
        live = st.live[st.running[clock.first_running + index]]
        latest_s = max(latest_s, live.latest_s)
        st.latest_s[index] = latest_s
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
    """Watts of the running jobs that are over by then; the list must be up to date."""
    times_s = st.over_s
    low = 0
    high = st.clock[0].running
    while low < high:
        middle = (low + high) // 2
        if times_s[middle] <= time_s:
            low = middle + 1
        else:
            high = middle
    return float(st.over_w[low - 1]) if low > 0 else 0.0
