"""What the machine would draw, against the cap."""

from __future__ import annotations

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.kernel import kernel
from wattline.policies.state import State


@kernel
def never_fits(st: State, job: int, power_factor: float, jobs_only: bool) -> bool:
    """Whether a job alone on the machine, at this power, exceeds the highest cap to come."""
    clock = st.clock[0]
    live = st.live[job]
    if jobs_only:
        return bool(live.watts * power_factor > clock.cap_w_max * (1.0 + CAP_SLACK))
    if st.kinds.size < 2:
        alone_w = (clock.units - live.units) * clock.idle_w + live.watts * power_factor
    else:
        alone_w = idle_machine_w(st) + most_raised_w(st, job, power_factor)
    return bool(alone_w > clock.cap_w_max * (1.0 + CAP_SLACK))


@kernel
def idle_machine_w(st: State) -> float:
    """What the machine draws with all units on and idle."""
    return float(st.clock[0].units * st.clock[0].idle_w + idle_difference_w(st))


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
def idle_beneath_w(st: State, job: int) -> float:
    """The idle power of its units above which a waiting job's watts are counted.

    Where classes differ, a job that brings its watts along raises the power most on the units that
    draw least idle. What one without is taken to draw says that of itself: it is the idle power of
    the first class and the rise of the hungriest (`unit_active_w` of the books).
    """
    live = st.live[job]
    each_w = least_idle_w(st) if live.own_watts else st.clock[0].idle_w
    return float(live.units * each_w)


@kernel
def most_raised_w(st: State, job: int, power_factor: float) -> float:
    """The most by which a waiting job raises the power at this level, whichever nodes it gets."""
    live = st.live[job]
    least_w = live.units * least_idle_w(st)
    watts = live.watts
    if st.kinds.size > 1 and not live.own_watts:
        watts = st.jobs[job].watts - idle_beneath_w(st, job) + least_w
    return float(watts * power_factor - least_w)


@kernel
def within_cap(st: State, job: int, jobs_only: bool) -> bool:
    """Whether the machine, or only its jobs, stay under the cap with this job at this level."""
    clock = st.clock[0]
    if jobs_only:
        jobs_w = (clock.running_watts + st.live[job].watts) * clock.power_factor
        return bool(jobs_w <= clock.cap_w * (1.0 + CAP_SLACK))
    added_w = most_raised_w(st, job, clock.power_factor)
    return bool(clock.power_w + added_w <= clock.cap_w * (1.0 + CAP_SLACK))
