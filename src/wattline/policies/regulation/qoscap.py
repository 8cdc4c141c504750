"""QoSCap: caps first, for jobs of hours. Who may be slowed and who starts is decided job by job.

Jobs close to violating their threshold run at full power and start whatever the target says; the
others lend their range to the target. A waiting job starts when the target can be met with all
lendable caps down, so that many jobs run slowly rather than few at full speed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import Composition, cycle_s, regulate
from wattline.policies.regulation.cycle import (
    add_standby,
    begin_cycle,
    end_cycle,
    free_servers,
    set_job_ratio,
    start_all,
)
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.preemption import pause_surplus, resume_paused
from wattline.policies.regulation.quality import estimate, held_back
from wattline.policies.regulation.timing import next_cycle_s
from wattline.policies.state import State


class QosCap(NamedTuple):
    """Caps by each job's estimated degradation."""

    desk: Any


@implement(regulate, QosCap)
@kernel
def _regulate(st: State, regulation: QosCap, policy: Composition) -> None:
    desk = regulation.desk
    cycle = begin_cycle(st, desk)
    if cycle < 0:
        return
    resume_paused(st, desk)
    fixed_w, low_w, high_w = _present(st, desk)
    fixed_w, low_w, high_w = _choose(st, desk, fixed_w, low_w, high_w)
    add_standby(st, desk)
    pause_surplus(st, desk)
    ratio = _ratio(st, desk, fixed_w, low_w, high_w)
    _cap(st, desk, ratio)
    start_all(st, desk, policy, ratio)
    end_cycle(st, desk, cycle)


@kernel
def _urgent(st: State, desk: Desk, job: int) -> bool:
    """Close enough to violation to be spared."""
    entry = desk.types[st.jobs[job].kind]
    return bool(estimate(st, desk, job) >= desk.control[0].margin * entry.threshold)


@kernel
def _present(st: State, desk: Desk) -> tuple[float, float, float]:
    """Watts above idle of the running jobs: of the urgent ones, and the range of the others."""
    fixed_w = 0.0
    low_w = 0.0
    high_w = 0.0
    idle_w = st.clock[0].idle_w
    for index in range(desk.control[0].known):
        job = st.heap[index].job
        entry = desk.types[st.jobs[job].kind]
        if _urgent(st, desk, job):
            fixed_w += entry.servers * (entry.power_w_max - idle_w)
            st.live[job].slack = -1.0
        else:
            low_w += entry.servers * (entry.power_w_min - idle_w)
            high_w += entry.servers * (entry.power_w_max - idle_w)
            st.live[job].slack = 0.0
    return fixed_w, low_w, high_w


@kernel
def _choose(
    st: State, desk: Desk, fixed_w: float, low_w: float, high_w: float
) -> tuple[float, float, float]:
    """Choose starts, the nearest to violation first; urgent ones whatever the target says."""
    control = desk.control[0]
    idle_w = st.clock[0].idle_w
    free = free_servers(st, desk)
    goal_w = control.target_w - control.bias_w - st.clock[0].units * idle_w
    for kind in range(desk.types.size):
        desk.types[kind].settled = 0
    while True:
        kind, relative = _next(st, desk)
        if kind < 0:
            return fixed_w, low_w, high_w
        entry = desk.types[kind]
        least_w = entry.servers * (entry.power_w_min - idle_w)
        fits = fixed_w + low_w + least_w <= goal_w
        if entry.servers <= free and (fits or relative >= control.margin):
            entry.starts += 1
            free -= entry.servers
            low_w += least_w
            high_w += entry.servers * (entry.power_w_max - idle_w)
        else:
            entry.settled = 1


@kernel
def _next(st: State, desk: Desk) -> tuple[int, float]:
    """The type whose next waiting job is nearest to violation, and how near."""
    found = -1
    most = -float("inf")
    for kind in range(desk.types.size):
        entry = desk.types[kind]
        if entry.settled or entry.starts >= entry.waiting or kind == desk.control[0].standby:
            continue
        if held_back(st, desk, kind):
            continue
        job = st.queue[entry.first + entry.starts].job
        relative = estimate(st, desk, job) / entry.threshold
        if relative > most:
            most = relative
            found = kind
    return found, float(most)


@kernel
def _ratio(st: State, desk: Desk, fixed_w: float, low_w: float, high_w: float) -> float:
    """The cap ratio of the jobs that lend their range."""
    control = desk.control[0]
    goal_w = control.target_w - control.bias_w - st.clock[0].units * st.clock[0].idle_w - fixed_w
    if high_w <= goal_w:
        return 1.0
    if low_w >= goal_w:
        return 0.0
    return float((goal_w - low_w) / (high_w - low_w))


@kernel
def _cap(st: State, desk: Desk, ratio: float) -> None:
    control = desk.control[0]
    for index in range(control.known):
        job = st.heap[index].job
        set_job_ratio(st, desk, job, 1.0 if st.live[job].slack < 0.0 else ratio)
    control.ratio = ratio


@implement(cycle_s, QosCap)
@kernel
def _cycle_s(st: State, regulation: QosCap) -> float:
    return next_cycle_s(st, regulation.desk)
