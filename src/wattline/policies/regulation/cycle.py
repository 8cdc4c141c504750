"""What every regulation policy does in a control cycle, whatever it decides.

It reads the target, counts the queues, and in the end carries its choice out: so many starts of
each type, and one ratio between lowest and highest cap for all running jobs.
"""

from __future__ import annotations

from typing import Any

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.kernel import kernel, kernel_part
from wattline.policies.contract import Composition
from wattline.policies.queue import drop_entries
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.rebid import rebid
from wattline.policies.regulation.sleeping import floor_w, switch_servers
from wattline.policies.starting import note, start_at
from wattline.policies.state import ACT_SPEED, State

SLACK_S = 1e-9
"""Times of cycles and hours are products, whose last bit decides nothing."""


@kernel
def begin_cycle(st: State, desk: Desk) -> int:
    """Set the target of this cycle and count the queues; the number of the cycle, or -1."""
    control = desk.control[0]
    now_s = st.clock[0].now_s
    if now_s >= control.end_s - SLACK_S or now_s < control.start_s - SLACK_S:
        return -1
    cycle = int(min((now_s - control.start_s) / control.cycle_s + 0.5, desk.level.size - 1.0))
    hour = hour_of(st, desk)
    control.known = st.clock[0].running
    control.resuming = 0
    control.held = -float("inf")
    count_queues(st, desk)
    for kind in range(desk.types.size):
        desk.types[kind].weight = desk.weights[hour * desk.types.size + kind]
    control.start_share = desk.start_shares[hour]
    if control.adaptive and desk.average[hour] == 0.0:
        rebid(st, desk, hour)
    target_w = float("inf")
    control.highest_w = target_w
    if desk.reserve[hour] > 0.0:
        control.highest_w = desk.average[hour] + control.above * desk.reserve[hour]
        target_w = desk.average[hour] + desk.level[cycle] * desk.reserve[hour]
    control.limit_w = desk.limit[cycle]
    control.target_w = min(target_w, control.limit_w)
    control.bias_w = 0.0
    if control.feedback:
        control.bias_w = st.clock[0].power_w - modelled_w(st, desk, control.ratio)
    return cycle


@kernel
def hour_of(st: State, desk: Desk) -> int:
    """The number of the bid that holds now."""
    control = desk.control[0]
    passed_s = st.clock[0].now_s - control.hour_0_s + SLACK_S
    return int(min(passed_s / control.hour_s, desk.average.size - 1.0))


@kernel
def end_cycle(st: State, desk: Desk, cycle: int) -> None:
    """Switch servers, and write down what was decided."""
    switch_servers(st, desk, cycle, modelled_w(st, desk, desk.control[0].ratio))
    control = desk.control[0]
    row = desk.trace[cycle]
    row.target_w = control.target_w
    row.ratio = control.ratio
    row.waiting = 0
    for kind in range(desk.types.size):
        if kind == control.standby:
            row.standby = desk.types[kind].running
        else:
            row.waiting += desk.types[kind].waiting


@kernel
def count_queues(st: State, desk: Desk) -> None:
    """Find where each type's waiting jobs lie in the queue, which is in the order of types."""
    clock = st.clock[0]
    standby = desk.control[0].standby
    first = clock.queue_first
    if standby >= 0:  # they lie in front: there are many, and one is taken from the head
        first = _set_range(st, desk, standby, first, -0.5)
    for kind in range(desk.types.size):
        if kind != standby:
            first = _set_range(st, desk, kind, first, kind + 0.5)


@kernel
def _set_range(st: State, desk: Desk, kind: int, first: int, above: float) -> int:
    """The type's entries lie from `first` up to the first key above `above`."""
    low = first
    high = st.clock[0].queue_last
    while low < high:
        middle = (low + high) // 2
        if st.queue[middle].key > above:
            high = middle
        else:
            low = middle + 1
    entry = desk.types[kind]
    entry.first = first
    entry.waiting = low - first
    entry.starts = 0
    entry.resumes = 0
    entry.pauses = 0
    return low


@kernel
def modelled_w(st: State, desk: Desk, ratio: float) -> float:
    """Power of the machine by the believed types, after this cycle's choices, at a cap ratio."""
    clock = st.clock[0]
    idle_w = clock.idle_w
    power_w = floor_w(st)
    for kind in range(desk.types.size):
        entry = desk.types[kind]
        count = entry.running + entry.starts + entry.resumes - entry.pauses
        if count > 0:
            cap_w = entry.power_w_min + ratio * (entry.power_w_max - entry.power_w_min)
            power_w += count * entry.servers * (cap_w - idle_w)
    return float(power_w)


@kernel
def room_w(st: State, desk: Desk) -> float:
    """Watts between the target and what all chosen jobs draw without caps."""
    control = desk.control[0]
    return float(control.target_w - control.bias_w - modelled_w(st, desk, 1.0))


@kernel
def free_servers(st: State, desk: Desk) -> int:
    """Servers left beside the jobs that are to start or to go on."""
    free = st.clock[0].free
    for kind in range(desk.types.size):
        entry = desk.types[kind]
        free -= (entry.starts + entry.resumes) * entry.servers
    return int(free)


@kernel
def extra_w(st: State, desk: Desk, kind: int) -> float:
    """Watts that one more job of this type adds."""
    entry = desk.types[kind]
    return float(entry.servers * (entry.power_w_max - st.clock[0].idle_w))


@kernel
def under_limit(st: State, desk: Desk, kind: int) -> bool:
    """Whether one more job of this type, with all caps down, leaves the hard limit kept.

    A target may be overshot, for a job that comes nearer to it or for one that is urgent: caps
    take that away, or the tracking error shows it. A limit is not to be exceeded at all.
    """
    control = desk.control[0]
    if control.limit_w == float("inf"):
        return True
    entry = desk.types[kind]
    least_w = entry.servers * (entry.power_w_min - st.clock[0].idle_w)
    left_w = control.limit_w - control.bias_w - modelled_w(st, desk, 0.0)
    return bool(least_w <= left_w + CAP_SLACK * control.limit_w)


@kernel
def add_standby(st: State, desk: Desk) -> None:
    """Fill what is left below the target of a bid with standby jobs."""
    kind = desk.control[0].standby
    if kind < 0 or desk.control[0].highest_w == float("inf"):
        return  # without a bid there is nothing to fill: a limit alone asks for no power
    if desk.control[0].held > -float("inf"):
        return  # a paused job waits for these servers and watts
    left_w = room_w(st, desk)
    each_w = extra_w(st, desk, kind)
    if left_w < each_w:
        return
    entry = desk.types[kind]
    most = free_servers(st, desk) // entry.servers
    if left_w < most * each_w:
        most = int(left_w / each_w)
    entry.starts = min(most, entry.waiting)


@kernel
def common_ratio(st: State, desk: Desk) -> float:
    """The one cap ratio with which the chosen jobs draw the target, as near as caps allow."""
    control = desk.control[0]
    target_w = control.target_w - control.bias_w
    high_w = modelled_w(st, desk, 1.0)
    if high_w <= target_w:
        return 1.0
    low_w = modelled_w(st, desk, 0.0)
    if low_w >= target_w:
        return 0.0
    return float((target_w - low_w) / (high_w - low_w))


@kernel
def cap_of(st: State, desk: Desk, job: int, ratio: float) -> float:
    """The cap of a server at this ratio, by the type that the job is believed to be of."""
    believed = desk.types[st.jobs[job].kind]
    return float(believed.power_w_min + ratio * (believed.power_w_max - believed.power_w_min))


@kernel
def answer_of(entry: Any, cap_w: float) -> tuple[float, float]:
    """Speed and power of a server that runs a job of this type under a cap."""
    power_w = min(max(cap_w, entry.power_w_min), entry.power_w_max)
    time_s = entry.time_s_min
    if entry.power_w_max > entry.power_w_min:
        part = (entry.power_w_max - power_w) / (entry.power_w_max - entry.power_w_min)
        time_s += part * (entry.time_s_max - entry.time_s_min)
    return float(entry.time_s_min / time_s), float(power_w)


@kernel
def expected(st: State, desk: Desk, job: int, cap_w: float) -> tuple[float, float]:
    """What the policy expects a cap to do: the job's rate and its power.

    The machine may answer otherwise, where a job is not of the type that it is believed to be.
    """
    live = st.live[job]
    speed, power_w = answer_of(desk.types[st.jobs[job].kind], cap_w)
    return speed / live.stretch, power_w * live.units


@kernel
def set_job_ratio(st: State, desk: Desk, job: int, ratio: float) -> None:
    """Ask for a running job's cap at this ratio, if that changes anything."""
    live = st.live[job]
    if desk.mark[job] == st.clock[0].now_s + 1.0:
        return  # it is to be paused in this cycle
    cap_w = cap_of(st, desk, job, ratio)
    rate, power_w = expected(st, desk, job, cap_w)
    if power_w != live.power_w or rate != live.rate:
        note(st, ACT_SPEED, job, rate, power_w)
        st.actions[st.clock[0].actions - 1].cap_w = cap_w


@kernel_part
def carry_out(st: State, desk: Desk, policy: Composition, ratio: float) -> None:
    """Cap the running jobs at the ratio; resume and start the chosen ones at it."""
    control = desk.control[0]
    if ratio != control.ratio:
        for index in range(control.known):
            set_job_ratio(st, desk, st.running[index], ratio)
        control.ratio = ratio
    start_all(st, desk, policy, ratio)


@kernel_part
def start_all(st: State, desk: Desk, policy: Composition, ratio: float) -> None:
    """Resume and start what was chosen, at this cap ratio."""
    control = desk.control[0]
    resume_chosen(st, desk, policy, ratio)
    # From the last to the first in the queue, so that a removal does not move the others' places.
    for kind in range(desk.types.size - 1, -1, -1):
        if kind != control.standby:
            start_kind(st, desk, policy, kind, ratio)
    if control.standby >= 0:
        start_kind(st, desk, policy, control.standby, ratio)


@kernel_part
def resume_chosen(st: State, desk: Desk, policy: Composition, ratio: float) -> None:
    """Let the last `resuming` jobs of the list of paused ones go on."""
    control = desk.control[0]
    while control.resuming > 0:
        job = desk.paused[control.paused - 1]
        if not _start_capped(st, desk, policy, job, ratio):
            return
        control.paused -= 1
        control.resuming -= 1
        desk.types[st.jobs[job].kind].running += 1
        desk.types[st.jobs[job].kind].resumes -= 1


@kernel_part
def start_kind(st: State, desk: Desk, policy: Composition, kind: int, ratio: float) -> None:
    """Start the chosen number of waiting jobs of a type, the oldest first."""
    entry = desk.types[kind]
    started = 0
    while started < entry.starts:
        job = st.queue[entry.first + started].job
        if not _start_capped(st, desk, policy, job, ratio):
            break
        started += 1
    if started > 0:
        before = st.clock[0].queue_first
        drop_entries(st, entry.first, entry.first + started)
        moved = st.clock[0].queue_first - before
        # A gap closed from the head side moves what lies before it.
        if moved > 0:
            _move_places(desk, kind, moved)
    entry.running += started
    entry.waiting -= started
    entry.starts = 0


@kernel_part
def _start_capped(st: State, desk: Desk, policy: Composition, job: int, ratio: float) -> bool:
    """Start or resume a job under the cap of this ratio."""
    cap_w = cap_of(st, desk, job, ratio)
    rate, power_w = expected(st, desk, job, cap_w)
    if not start_at(st, policy, job, rate * st.live[job].stretch, power_w):
        return False
    st.actions[st.clock[0].actions - 1].cap_w = cap_w
    return True


@kernel
def _move_places(desk: Desk, kind: int, moved: int) -> None:
    control = desk.control[0]
    if kind == control.standby:
        return  # it lies in front of all others
    for other in range(kind):
        desk.types[other].first += moved
    if control.standby >= 0:
        desk.types[control.standby].first += moved
