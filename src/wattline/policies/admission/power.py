"""What the machine would draw, against the cap."""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.state import State

TOLERANCE = 1e-9
"""Relative slack in comparisons with a cap, for sums of many floats."""


@kernel
def never_fits(st: State, job: int, power_factor: float, jobs_only: bool) -> bool:
    """Whether a job alone on the machine, at this power, exceeds the highest cap to come."""
    clock = st.clock[0]
    live = st.live[job]
    if jobs_only:
        return bool(live.watts * power_factor > clock.cap_w_max * (1.0 + TOLERANCE))
    alone_w = (clock.units - live.units) * clock.idle_w + live.watts * power_factor
    alone_w += idle_difference_w(st) + live.units * (clock.idle_w - least_idle_w(st))
    return bool(alone_w > clock.cap_w_max * (1.0 + TOLERANCE))


@kernel
def idle_difference_w(st: State) -> float:
    """What the idle machine draws more than if all units were like those of its first class."""
    if st.kinds.size < 2:
        return 0.0
    clock = st.clock[0]
    idle_w = 0.0
    for kind in range(st.kinds.size):
        idle_w += st.kinds[kind].count * st.kinds[kind].idle_w
    return float(idle_w - clock.units * clock.idle_w)


@kernel
def least_idle_w(st: State) -> float:
    """What a unit draws idle, of the class that draws least: there a job raises the power most."""
    if st.kinds.size < 2:
        return float(st.clock[0].idle_w)
    least_w = float("inf")
    for kind in range(st.kinds.size):
        least_w = min(least_w, st.kinds[kind].idle_w)
    return least_w


@kernel
def within_cap(st: State, job: int, jobs_only: bool) -> bool:
    """Whether the machine, or only its jobs, stay under the cap with this job at this level."""
    clock = st.clock[0]
    live = st.live[job]
    if jobs_only:
        jobs_w = (clock.running_watts + live.watts) * clock.power_factor
        return bool(jobs_w <= clock.cap_w * (1.0 + TOLERANCE))
    added_w = live.watts * clock.power_factor - live.units * least_idle_w(st)
    return bool(clock.power_w + added_w <= clock.cap_w * (1.0 + TOLERANCE))
