"""The running jobs in the order in which they end at the latest (start and time limit)."""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books


@kernel_part
def add_running(st: Books, job: int) -> None:
    place = _place_of(st, job)
    for index in range(st.clock[0].running, place, -1):
        st.running[index] = st.running[index - 1]
    st.running[place] = job
    st.clock[0].running += 1


@kernel_part
def drop_running(st: Books, job: int) -> None:
    count = st.clock[0].running - 1
    for index in range(_place_of(st, job), count):
        st.running[index] = st.running[index + 1]
    st.clock[0].running = count


@kernel_part
def _place_of(st: Books, job: int) -> int:
    end_s = st.live[job].limit_end_s
    low = 0
    high = st.clock[0].running
    while low < high:
        middle = (low + high) // 2
        other = st.running[middle]
        other_s = st.live[other].limit_end_s
        if other_s < end_s or (other_s == end_s and other < job):
            low = middle + 1
        else:
            high = middle
    return low
