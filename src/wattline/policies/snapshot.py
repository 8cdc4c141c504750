"""Compiled policies on a snapshot: the way in for callers that have a view and no simulation.

A notebook, a test or a policy in Python has a picture of the machine and asks the very kernels that
the simulator runs what to do. That works for policies that decide from the picture alone, which
they say themselves (`wattline.policies.from_view`); everything else is refused.
"""

from __future__ import annotations

import numpy as np

from wattline.model.errors import InputError, PolicyError
from wattline.model.jobs import JobTable
from wattline.policies.contract import Composition, refuses, schedule, settle
from wattline.policies.from_view import more_than_view
from wattline.policies.memory import bound, memories
from wattline.policies.queue import enqueue
from wattline.policies.releases import insert_release
from wattline.policies.state import (
    ACT_LEVEL,
    ACT_RESUME,
    ACT_SPEED,
    ACT_START,
    ACT_WAKE,
    PLAN_STALE,
    RUNNING,
    State,
    make_state,
)
from wattline.policies.view import (
    Action,
    QueuedJob,
    RunningJob,
    SetLevel,
    SetSpeed,
    Start,
    View,
    WakeAt,
)


def decide(policy: Composition, view: View) -> list[Action]:
    """What a composition of compiled policies does in this situation.

    Jobs that could not even start alone under the highest cap (`never_starting`) are left out, as
    the simulator refuses them at their submission; one at the head would hold up all others.
    """
    _check(policy, view)
    state, jobs, table = _books(view)
    policy = _knowing(policy, table)
    never = _never_starting(policy, view, state, jobs)
    _check_known(view, never)
    _enqueue(policy, state, jobs, set(never))
    schedule(state, policy.backfill, policy)
    settle(state, policy.admission, policy)
    names = [job.job for job in jobs]
    return [_action(state, index, names) for index in range(state.clock[0].actions)]


def never_starting(policy: Composition, view: View) -> list[int]:
    """Waiting jobs that the policy could not start alone, not even under the view's highest cap."""
    _check(policy, view)
    state, jobs, table = _books(view)
    return _never_starting(_knowing(policy, table), view, state, jobs)


def _knowing(policy: Composition, table: JobTable) -> Composition:
    """The policy with memories of its own that know these jobs and no earlier decisions."""
    policy = bound(policy, len(table))
    for memory in memories(policy).values():
        memory.annotate(0, table, {})
    return policy


def _never_starting(
    policy: Composition, view: View, state: State, jobs: list[QueuedJob | RunningJob]
) -> list[int]:
    state.clock[0].cap_w_max = view.cap_w if view.cap_w_max is None else view.cap_w_max
    return [job.job for row, job in enumerate(jobs)
            if isinstance(job, QueuedJob) and refuses(state, policy.admission, row)]


def _check(policy: Composition, view: View) -> None:
    """Refuse what would be decided otherwise here than in a simulation."""
    needed = more_than_view(policy)
    if needed:
        raise PolicyError(f"a snapshot cannot be decided: {needed}; simulate it instead")
    if view.paused:
        raise InputError(f"job {view.paused[0].job} of the view is paused; a snapshot resumes "
                         "nothing: put it into the queue with what is left of it, or leave it out")
    if view.windows:
        raise InputError(f"{view.windows} reservations lie ahead; a view does not show when: "
                         "a snapshot is decided without any")
    impossible = _impossible(view)
    if impossible:
        raise InputError(f"there is no such machine: {impossible}")
    large = [job for job in view.queue if job.units > view.units]
    if large:
        raise InputError(f"job {large[0].job} asks for {large[0].units} units and the machine has "
                         f"{view.units}; leave it out of the view")


def _impossible(view: View) -> str:
    """What in a view cannot be, whatever the machine; empty where nothing is."""
    jobs: list[QueuedJob | RunningJob] = [*view.queue, *view.running]
    busy = sum(job.units for job in view.running)
    if not (np.isfinite(view.now_s) and 0 <= view.power_w < np.inf and 0 <= view.idle_w < np.inf):
        return f"time {view.now_s}, power {view.power_w} W, {view.idle_w} W of an idle unit"
    if not view.cap_w > 0:
        return f"a cap of {view.cap_w} W"
    if view.free < 0 or view.off < 0 or view.changing < 0:
        return f"{view.free} units free, {view.off} off, {view.changing} changing"
    if busy + view.free + view.off + view.changing > view.units:
        return (f"{busy} units run jobs, {view.free} are free, {view.off} off and {view.changing} "
                f"changing, of {view.units}")
    numbers = [job.job for job in jobs]
    if len(set(numbers)) < len(numbers):
        return f"two jobs are called {max(numbers, key=numbers.count)}"
    for job in jobs:
        times = job.requested_s if isinstance(job, QueuedJob) else job.speed
        if job.units < 1 or not 0 <= job.watts < np.inf or not 0 <= times < np.inf:
            return f"job {job.job} has {job.units} units, {job.watts} W and {times}"
    return ""


def _check_known(view: View, never: list[int]) -> None:
    if never and view.cap_w_max is None:
        raise InputError(f"job {never[0]} alone exceeds the cap of now, {view.cap_w:g} W; whether "
                         "it waits for another or never starts, cap_w_max of the view must say")


def _books(view: View) -> tuple[State, list[QueuedJob | RunningJob], JobTable]:
    """Clock, jobs and running jobs; nobody stands in the queue yet."""
    jobs: list[QueuedJob | RunningJob] = [*view.queue, *view.running]
    jobs.sort(key=lambda job: job.job)
    table = JobTable.build(
        submit_s=np.maximum.accumulate([_submit_s(job) for job in jobs]),
        run_s=[_requested_s(job, view.now_s) for job in jobs],
        procs=[job.units for job in jobs],
        user=[job.user for job in jobs],
        application=[job.application for job in jobs],
    )
    watts = np.array([job.watts for job in jobs])
    state = make_state(
        table, table.procs, watts, units=view.units, idle_w=view.idle_w, cap_w=view.cap_w
    )
    clock = state.clock[0]
    clock.now_s = view.now_s
    clock.free = view.free
    clock.off = view.off
    clock.changing = view.changing
    clock.power_w = view.power_w
    clock.speed = view.speed
    clock.power_factor = view.power_factor
    for row, job in enumerate(jobs):
        if isinstance(job, RunningJob):
            _book(state, row, job)
    return state, jobs, table


def _enqueue(
    policy: Composition, state: State, jobs: list[QueuedJob | RunningJob], never: set[int]
) -> None:
    for row, job in enumerate(jobs):
        if isinstance(job, QueuedJob) and job.job not in never:
            state.jobs[row].submit_s = job.submit_s
            enqueue(state, policy, row)
    state.clock[0].examined = 0
    state.clock[0].replan = PLAN_STALE


def _submit_s(job: QueuedJob | RunningJob) -> float:
    return job.submit_s if isinstance(job, QueuedJob) else job.start_s


def _requested_s(job: QueuedJob | RunningJob, now_s: float) -> float:
    if isinstance(job, QueuedJob):
        return job.requested_s
    return max(job.expected_s - now_s, 0.0) * job.speed


def _book(state: State, row: int, job: RunningJob) -> None:
    clock = state.clock[0]
    live = state.live[row]
    live.state = RUNNING
    live.start_s = job.start_s
    live.expected_s = job.expected_s
    live.power_w = job.power_w
    live.rate = job.speed
    live.idle_w = job.units * clock.idle_w
    live.place = clock.running
    state.running[clock.running] = row
    clock.running += 1
    clock.running_watts += job.watts
    insert_release(state, job.expected_s, row, job.units)


def _action(state: State, index: int, names: list[int]) -> Action:
    found = state.actions[index]
    if found.kind in (ACT_START, ACT_RESUME):
        return Start(names[found.job], float(found.value), float(found.power_w))
    if found.kind == ACT_SPEED:
        return SetSpeed(names[found.job], float(found.value), float(found.power_w))
    if found.kind == ACT_LEVEL:
        return SetLevel(
            float(found.value), float(found.power_w), float(state.clock[0].latency_s))
    if found.kind == ACT_WAKE:
        return WakeAt(float(found.value))
    raise PolicyError(f"a policy asked for action {found.kind}, which a snapshot cannot carry")
