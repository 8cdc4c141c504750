"""What the machine would draw, against the cap."""

from __future__ import annotations

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.kernel import kernel
from wattline.policies.committed import committed_w
from wattline.policies.state import State


@kernel
def never_fits(st: State, job: int, power_factor: float, jobs_only: bool) -> bool:
    """Whether a job alone on the machine, at this power, exceeds the highest cap to come."""
    return exceeds_alone(st, job, power_factor, jobs_only, st.clock[0].cap_w_max,
                         idle_machine_w(st))


@kernel
def exceeds_alone(
    st: State, job: int, power_factor: float, jobs_only: bool, cap_w: float, idle_w: float
) -> bool:
    """Say whether a job at this power exceeds a cap on a machine that draws `idle_w` without it."""
    if jobs_only:
        return bool(st.live[job].watts * power_factor > cap_w * (1.0 + CAP_SLACK))
    alone_w = idle_w + max(raised_w(st, job, power_factor), 0.0)
    return bool(alone_w > cap_w * (1.0 + CAP_SLACK))


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
def idle_beneath_w(st: State, job: int) -> float:
    """The idle power of the units that a waiting job would get."""
    if st.kinds.size < 2:
        return float(st.live[job].units * st.clock[0].idle_w)
    return float(st.live[job].idle_w)


@kernel
def raised_w(st: State, job: int, power_factor: float) -> float:
    """Return how much a waiting job raises the power at this level, on the units it would get.

    Below 0 where it draws less than they do idle: that room is nobody else's, it comes back.
    """
    live = st.live[job]
    idle_w = idle_beneath_w(st, job)
    watts = live.watts if st.kinds.size < 2 else idle_w + live.rise_w
    return float(watts * power_factor - idle_w)


@kernel
def within_cap(st: State, job: int, jobs_only: bool) -> bool:
    """Say whether the machine, or only its jobs, stay under the cap with this job at this level,
    also when jobs that draw less than idle units have ended."""
    clock = st.clock[0]
    if jobs_only:
        jobs_w = (clock.running_watts + st.live[job].watts) * clock.power_factor
        return bool(jobs_w <= clock.cap_w * (1.0 + CAP_SLACK))
    added_w = max(raised_w(st, job, clock.power_factor), 0.0)
    return bool(committed_w(st) + added_w <= clock.cap_w * (1.0 + CAP_SLACK))
