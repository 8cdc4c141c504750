"""Adaptive bidding inside a run: at the start of an hour, from the jobs that run and wait."""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.in_order import units_to_count_on
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.quality import estimate
from wattline.policies.state import State

LEAST = 0.02
"""Below this share of the average a reserve is not worth offering: the next job that starts or
ends is larger than all of it."""


@kernel
def rebid(st: State, desk: Desk, hour: int) -> None:
    """Write the bid of this hour: the middle and half of the range that the jobs can be moved in.

    Where one direction is offered, it is the end from which the whole range can be called.
    A job that violates its constraint runs at full power and lends no range. Waiting jobs count
    as far as servers are left for them. Where there is hardly a range the reserve is 0: no bid.
    """
    clock = st.clock[0]
    high_w = clock.units * clock.idle_w
    low_w = high_w
    left = units_to_count_on(st)
    for index in range(clock.running):
        job = st.running[index]
        high_w, low_w = _add(st, desk, job, high_w, low_w)
        left -= st.live[job].units
    for kind in range(desk.types.size):
        entry = desk.types[kind]
        if kind == desk.control[0].standby:
            continue
        for place in range(entry.first, entry.first + entry.waiting):
            if entry.servers <= left:
                high_w, low_w = _add(st, desk, st.queue[place].job, high_w, low_w)
                left -= entry.servers
    control = desk.control[0]
    desk.average[hour] = (high_w + low_w) / 2
    reserve_w = (high_w - low_w) / 2
    if control.below + control.above < 2.0:
        desk.average[hour] = high_w if control.below > 0.0 else low_w
        reserve_w = high_w - low_w
    desk.reserve[hour] = reserve_w if reserve_w >= LEAST * desk.average[hour] else 0.0


@kernel
def _add(
    st: State, desk: Desk, job: int, high_w: float, low_w: float
) -> tuple[float, float]:
    entry = desk.types[st.jobs[job].kind]
    full_w = entry.servers * (entry.power_w_max - st.clock[0].idle_w)
    least_w = entry.servers * (entry.power_w_min - st.clock[0].idle_w)
    late = estimate(st, desk, job) > entry.threshold
    return high_w + full_w, low_w + (full_w if late else least_w)
