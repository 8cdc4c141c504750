"""A cap on the machine's power: a job that would break it does not start.

Not a rule of Slurm's. The cap is known ahead, and two things are asked of a job:

To start now, the machine must stay under the cap, with what runs ending no earlier than when it
would be killed, until the job itself would be killed. So no cap is ever passed by what starts.

To be planned, or to start beside plans, it must find room in what plans leave, where running jobs
and planned ones end at their limits: as plans count nodes. Who takes over the nodes of a job that
ends takes over its watts too; that this one may outlast its limit is seen when the start comes.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.freed import freed_watts, list_ends, list_limits, watts_past_limits
from wattline.shared_nodes.overtime import killed_at, last_boot_s
from wattline.shared_nodes.planned_times import JUST_AFTER_S, counted_until
from wattline.shared_nodes.power import picked_watts, woken_watts
from wattline.shared_nodes.state import Books

ROUNDING_W = 1e-6


@kernel_part
def cap_at(st: Books, time_s: float) -> float:
    return float(st.cap_w[max(next_step(st, time_s) - 1, 0)])


@kernel_part
def next_step(st: Books, time_s: float) -> int:
    """The first step of the cap after a time."""
    low = 0
    high = len(st.cap_s)
    while low < high:
        middle = (low + high) // 2
        if st.cap_s[middle] <= time_s:
            low = middle + 1
        else:
            high = middle
    return low


@kernel_part
def over_at(st: Books, job: int, start_s: float) -> float:
    """When a job that starts then is over at the latest, also on nodes that have to boot."""
    return killed_at(st, job, last_boot_s(st, start_s))


@kernel_part
def cap_allows(
    st: Books, job: int, start_s: float, held: int, freed_w: float, bank: int
) -> bool:
    """Whether the job on the nodes that were picked stays under the cap from its start on.

    `held` is how many reservations of this backfill cycle hold watts, `freed_w` the watts of
    running jobs that would give way, which have `leaves` set, and `bank` says where they are gone.
    """
    watts = picked_watts(st, job, bank) + woken_watts(st) - freed_w
    starts_now = start_s <= st.clock[0].now_s
    if starts_now and not stays_under_cap(st, job, watts, bank):
        return False
    # Without plans a start now has been looked at: at their limits jobs leave no less room.
    return bool((starts_now and held == 0) or _fits_plans(st, job, watts, start_s, held))


@kernel_part
def stays_under_cap(st: Books, job: int, watts: float, bank: int) -> bool:
    """Whether the machine keeps the cap if the job starts now and all last as long as they may."""
    clock = st.clock[0]
    total_w = clock.power_w + clock.booting_w + watts
    if total_w > cap_at(st, clock.now_s) + ROUNDING_W:
        return False
    first = next_step(st, clock.now_s)
    if first == len(st.cap_s):
        return True  # nobody asks when jobs are over
    end_s = over_at(st, job, clock.now_s)
    list_ends(st)
    for step in range(first, len(st.cap_s)):
        time_s = st.cap_s[step]
        if time_s >= end_s:
            break
        freed_w = freed_watts(st, time_s) if bank == 0 else _freed_by_others(st, time_s)
        if total_w - freed_w > st.cap_w[step] + ROUNDING_W:
            return False
    return True


@kernel_part
def _fits_plans(st: Books, job: int, watts: float, start_s: float, held: int) -> bool:
    """Whether there is room for the job beside plans, for the times of its own."""
    begin_s = max(start_s, st.clock[0].now_s + JUST_AFTER_S)
    end_s = counted_until(st, start_s, st.ask[job].limit_s)
    if not _allowed_at(st, watts, begin_s, held):
        return False
    for step in range(next_step(st, begin_s), len(st.cap_s)):
        if st.cap_s[step] >= end_s:
            break
        if not _allowed_at(st, watts, st.cap_s[step], held):
            return False
    _sum_held(st, held)
    for row in range(held):
        if begin_s < st.held_begin[row] < end_s and not _allowed_beside(
                st, watts, st.held_begin[row], st.held_sum[row]):
            return False
    return True


@kernel_part
def hold_watts(st: Books, row: int, begin_s: float, end_s: float, watts: float) -> None:
    """Keep the watts of a planned job."""
    st.held_begin[row] = begin_s
    st.held_end[row] = end_s
    st.held_w[row] = watts


@kernel_part
def _sum_held(st: Books, held: int) -> None:
    """Bring the sums of the first reservations up to date: their watts whenever one begins.

    They are kept, as adding them up anew were the square of their number whenever they are asked
    for; and they are seldom asked for, as room.py mostly knows the answer.
    """
    held_begin, held_end, held_w, held_sum = st.held_begin, st.held_end, st.held_w, st.held_sum
    for row in range(st.clock[0].held_summed, held):
        begin_s, end_s, watts = held_begin[row], held_end[row], held_w[row]
        for other in range(row):
            if begin_s <= held_begin[other] < end_s:
                held_sum[other] += watts
        held_sum[row] = _held_at(st, begin_s, row + 1)
    st.clock[0].held_summed = max(st.clock[0].held_summed, held)


@kernel_part
def _held_at(st: Books, time_s: float, held: int) -> float:
    """Watts of the first reservations at a time."""
    held_begin, held_end, held_w = st.held_begin, st.held_end, st.held_w
    total = 0.0
    for row in range(held):
        if held_begin[row] <= time_s < held_end[row]:
            total += held_w[row]
    return total


@kernel_part
def _allowed_at(st: Books, watts: float, time_s: float, held: int) -> bool:
    return _allowed_beside(st, watts, time_s, _held_at(st, time_s, held))


@kernel_part
def _allowed_beside(st: Books, watts: float, time_s: float, held_w: float) -> bool:
    """Whether the cap has room then, after now, with the watts of reservations at that time."""
    list_limits(st)
    total_w = st.clock[0].power_w + st.clock[0].booting_w - watts_past_limits(st, time_s)
    return bool(total_w + watts + held_w <= cap_at(st, time_s) + ROUNDING_W)


@kernel_part
def _freed_by_others(st: Books, time_s: float) -> float:
    """Watts of the running jobs that are over by then, but for those that would give way."""
    total = 0.0
    for place in range(st.clock[0].running):
        live = st.live[st.running[st.clock[0].first_running + place]]
        if live.limit_end_s > time_s:
            break
        if live.latest_s <= time_s and live.leaves == 0:
            total += live.watts
    return total
