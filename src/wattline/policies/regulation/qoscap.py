"""QoSCap: caps first, for jobs of hours. Who may be slowed and who starts is decided job by job.

Jobs close to violating their threshold run at full power and start whatever the target says; the
others lend their range to the target. A waiting job starts when the target can be met with all
lendable caps down, so that many jobs run slowly rather than few at full speed. A hard limit holds
for all: nothing starts above it, and what is left to do by caps the urgent jobs do too.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import Composition, cycle_s, regulate
from wattline.policies.regulation.cycle import (
    add_standby,
    begin_cycle,
    end_cycle,
    free_servers,
    modelled_w,
    set_job_ratio,
    start_all,
    under_limit,
)
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.preemption import pause_surplus, resume_paused
from wattline.policies.regulation.quality import estimate, held_back
from wattline.policies.regulation.reserving import ends_by, reserve
from wattline.policies.regulation.sleeping import floor_w
from wattline.policies.regulation.timing import next_cycle_s
from wattline.policies.state import State

RESERVED_FROM = 0.5
"""Share of a threshold from which on a job that does not fit gets a reservation."""


class QosCap(NamedTuple):
    """Caps by each job's estimated degradation."""

    desk: Any

    @property
    def axis(self) -> Literal["regulation"]:
        return "regulation"


@implement(regulate, QosCap)
@kernel
def _regulate(st: State, regulation: QosCap, policy: Composition) -> None:
    desk = regulation.desk
    cycle = begin_cycle(st, desk)
    if cycle < 0:
        return
    resume_paused(st, desk)
    fixed_w, low_w, high_w = _present(st, desk)
    fixed_w, low_w, high_w, reserved = _choose(st, desk, fixed_w, low_w, high_w)
    if not reserved:
        add_standby(st, desk)
    pause_surplus(st, desk)
    ratio, urgent = _within_limit(st, desk, _ratio(st, desk, fixed_w, low_w, high_w))
    _cap(st, desk, ratio, urgent)
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
        job = st.running[index]
        entry = desk.types[st.jobs[job].kind]
        if _urgent(st, desk, job):
            fixed_w += entry.servers * (entry.power_w_max - idle_w)
            desk.mark[job] = -1.0
        else:
            low_w += entry.servers * (entry.power_w_min - idle_w)
            high_w += entry.servers * (entry.power_w_max - idle_w)
            desk.mark[job] = 0.0
    return fixed_w, low_w, high_w


@kernel
def _choose(
    st: State, desk: Desk, fixed_w: float, low_w: float, high_w: float
) -> tuple[float, float, float, bool]:
    """Choose starts, the nearest to violation first; urgent ones whatever the target says.

    All of them below the hard limit, where there is one. Servers for the first job that is on its
    way to violation and does not fit are reserved: others start beside it, or if they are gone
    before. The last answer is whether there is such a job.
    """
    control = desk.control[0]
    idle_w = st.clock[0].idle_w
    free = free_servers(st, desk)
    goal_w = control.target_w - control.bias_w - floor_w(st)
    for kind in range(desk.types.size):
        desk.types[kind].settled = 0
    reserved = False
    wait_s = float("inf")
    beside = 0
    while True:
        kind, relative = _next(st, desk)
        if kind < 0:
            return fixed_w, low_w, high_w, reserved
        entry = desk.types[kind]
        least_w = entry.servers * (entry.power_w_min - idle_w)
        fits = fixed_w + low_w + least_w <= goal_w
        wanted = fits or relative >= control.margin
        due = control.reserve == 1 and relative >= RESERVED_FROM and not reserved
        if wanted and due and entry.servers > free:
            wait_s, beside = reserve(st, desk, entry.servers, free)
            reserved = wait_s < float("inf")
        gone = not reserved or ends_by(st, desk, st.queue[entry.first + entry.starts].job, wait_s)
        wanted = wanted and (gone or entry.servers <= beside)
        if entry.servers <= free and wanted and under_limit(st, desk, kind):
            if not gone:
                beside -= entry.servers
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
    goal_w = control.target_w - control.bias_w - floor_w(st) - fixed_w
    return _part(goal_w, low_w, high_w)


@kernel
def _part(goal_w: float, low_w: float, high_w: float) -> float:
    """Where between the lowest and the highest caps the goal lies."""
    if high_w <= goal_w:
        return 1.0
    if low_w >= goal_w:
        return 0.0
    return float((goal_w - low_w) / (high_w - low_w))


@kernel
def _within_limit(st: State, desk: Desk, ratio: float) -> tuple[float, float]:
    """The cap ratios of the lending and of the urgent jobs, as far as a hard limit allows them.

    The lending ones come down first.
    """
    control = desk.control[0]
    if control.limit_w == float("inf"):
        return ratio, 1.0
    idle_w = st.clock[0].idle_w
    urgent_low_w = 0.0
    urgent_high_w = 0.0
    for index in range(control.known):
        job = st.running[index]
        if desk.mark[job] < 0.0:
            entry = desk.types[st.jobs[job].kind]
            urgent_low_w += entry.servers * (entry.power_w_min - idle_w)
            urgent_high_w += entry.servers * (entry.power_w_max - idle_w)
    bare_w = floor_w(st)
    low_w = modelled_w(st, desk, 0.0) - bare_w - urgent_low_w
    high_w = modelled_w(st, desk, 1.0) - bare_w - urgent_high_w
    left_w = control.limit_w - control.bias_w - bare_w
    ratio = min(ratio, _part(left_w - urgent_high_w, low_w, high_w))
    lent_w = low_w + ratio * (high_w - low_w)
    return ratio, _part(left_w - lent_w, urgent_low_w, urgent_high_w)


@kernel
def _cap(st: State, desk: Desk, ratio: float, urgent: float) -> None:
    control = desk.control[0]
    for index in range(control.known):
        job = st.running[index]
        set_job_ratio(st, desk, job, urgent if desk.mark[job] < 0.0 else ratio)
    control.ratio = ratio


@implement(cycle_s, QosCap)
@kernel
def _cycle_s(st: State, regulation: QosCap) -> float:
    return next_cycle_s(st, regulation.desk)
