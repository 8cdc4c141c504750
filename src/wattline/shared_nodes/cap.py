"""A cap on the machine's power: a job that would break it does not start.

Not a rule of Slurm's. The cap is known ahead: a job may start only if, with what runs ending no
earlier than at its limit and with the watts held for jobs that are planned, the machine stays under
the cap until the job's own limit.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books

ROUNDING_W = 1e-6


@kernel_part
def cap_at(st: Books, time_s: float) -> float:
    low = 0
    high = len(st.cap_s)
    while low < high:
        middle = (low + high) // 2
        if st.cap_s[middle] <= time_s:
            low = middle + 1
        else:
            high = middle
    return float(st.cap_w[max(low - 1, 0)])


@kernel_part
def cap_allows(st: Books, watts: float, start_s: float, end_s: float, held: int) -> bool:
    """Whether so many watts more stay under the cap from start to end.

    `held` is how many reservations of this backfill cycle hold watts.
    """
    if not _allowed_at(st, watts, start_s, held):
        return False
    for step in range(len(st.cap_s)):
        if start_s < st.cap_s[step] < end_s and not _allowed_at(st, watts, st.cap_s[step], held):
            return False
    for row in range(held):
        if start_s < st.held_begin[row] < end_s and not _allowed_at(
                st, watts, st.held_begin[row], held):
            return False
    return True


@kernel_part
def _allowed_at(st: Books, watts: float, time_s: float, held: int) -> bool:
    total = st.clock[0].power_w + watts
    for place in range(st.clock[0].running):
        job = st.running[place]
        if st.live[job].limit_end_s > time_s:
            break
        total -= st.live[job].watts
    for row in range(held):
        if st.held_begin[row] <= time_s < st.held_end[row]:
            total += st.held_w[row]
    return bool(total <= cap_at(st, time_s) + ROUNDING_W)
