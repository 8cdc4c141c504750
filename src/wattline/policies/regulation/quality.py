"""Estimated degradation of jobs that have not finished."""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.regulation.desk import Desk
from wattline.policies.state import RUNNING, State


@kernel
def estimate(st: State, desk: Desk, job: int) -> float:
    """The degradation that a job will have if it runs at full speed from now on.

    The time since submission, plus what is left of its work, over the shortest time, less one
    (the published estimate leaves the one in; its thresholds are for degradations without it).
    """
    time_s = shortest_s(st, desk, job)
    left = work_left(st, job)
    remain_s = left * time_s
    if desk.control[0].feedback:
        remain_s = measured_remain_s(st, desk, job, left)
    return float((st.clock[0].now_s - st.jobs[job].submit_s + remain_s) / time_s - 1.0)


@kernel
def relative_to_threshold(st: State, desk: Desk, job: int) -> float:
    """How near a job is to violation: at one its estimate reaches its type's threshold."""
    return estimate(st, desk, job) / float(desk.types[st.jobs[job].kind].threshold)


@kernel
def held_back(st: State, desk: Desk, kind: int) -> bool:
    """Whether the type's next job is to wait because a paused one waits for servers or watts.

    It starts only where it is nearer to violation than the paused one, and close to it.
    """
    held = desk.control[0].held
    if held == -float("inf"):
        return False
    entry = desk.types[kind]
    job = st.queue[entry.first + entry.starts].job
    return bool(relative_to_threshold(st, desk, job) < max(held, desk.control[0].margin))


@kernel
def shortest_s(st: State, desk: Desk, job: int) -> float:
    """A job's shortest time as far as it is known: its own, or that of its type."""
    if desk.control[0].own_times:
        return float(st.jobs[job].run_s)
    return float(desk.types[st.jobs[job].kind].time_s_min)


@kernel
def work_left(st: State, job: int) -> float:
    """The share of a job's work that is left now: what phases or loops it reports as undone."""
    live = st.live[job]
    left_s = live.work_s
    if live.state == RUNNING:
        worked_s = st.clock[0].now_s - max(live.updated_s, live.still_s)
        left_s -= live.rate * max(worked_s, 0.0)
    return float(max(left_s, 0.0) / st.jobs[job].run_s)


@kernel
def measured_remain_s(st: State, desk: Desk, job: int, left: float) -> float:
    """What is left at full speed, from the speed at which the job was seen to progress.

    A job under a wrong label betrays itself: so much work in so much time at such a cap. The
    cap's slowdown is taken as that of the believed type.
    """
    entry = desk.types[st.jobs[job].kind]
    live = st.live[job]
    done = 1.0 - left
    if live.state != RUNNING or done < 0.02:
        return left * shortest_s(st, desk, job)
    elapsed_s = st.clock[0].now_s - live.start_s
    slowest = entry.time_s_max / entry.time_s_min
    ratio = desk.control[0].ratio
    slowdown = 1.0 + (1.0 - ratio) * (slowest - 1.0)
    return float(left * elapsed_s / done / slowdown)


@kernel
def mean_relative(st: State, desk: Desk) -> float:
    """The mean over all jobs that run or wait of degradation so far over threshold."""
    total = 0.0
    count = 0
    for index in range(st.clock[0].running):
        job = st.running[index]
        kind = st.jobs[job].kind
        if kind != desk.control[0].standby:
            total += max(0.0, estimate(st, desk, job)) / desk.types[kind].threshold
            count += 1
    for kind in range(desk.types.size):
        entry = desk.types[kind]
        if kind == desk.control[0].standby:
            continue
        for place in range(entry.first, entry.first + entry.waiting):
            total += max(0.0, estimate(st, desk, st.queue[place].job)) / entry.threshold
            count += 1
    return total / count if count > 0 else 0.0
