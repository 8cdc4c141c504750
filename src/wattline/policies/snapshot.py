"""Compiled policies on a snapshot: the way in for callers that have a view and no simulation.

The live controller looks at the machine, builds a view, and asks the very kernels that the
simulator runs what to do.
"""

from __future__ import annotations

import numpy as np

from wattline.model.errors import PolicyError
from wattline.model.jobs import JobTable
from wattline.policies.contract import Composition, schedule, settle
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
    """What a composition of built-in policies does in this situation."""
    jobs: list[QueuedJob | RunningJob] = [*view.queue, *view.running]
    jobs.sort(key=lambda job: job.job)
    state = _state(policy, view, jobs)
    schedule(state, policy.backfill, policy)
    settle(state, policy.admission, policy)
    return [
        action
        for index in range(state.clock[0].actions)
        if (action := _action(state, index, [job.job for job in jobs])) is not None
    ]


def _state(policy: Composition, view: View, jobs: list[QueuedJob | RunningJob]) -> State:
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
    clock.power_w = view.power_w
    clock.speed = view.speed
    clock.power_factor = view.power_factor
    for row, job in enumerate(jobs):
        if isinstance(job, RunningJob):
            _book(state, row, job)
    for row, job in enumerate(jobs):
        if isinstance(job, QueuedJob):
            state.jobs[row].submit_s = job.submit_s
            enqueue(state, policy, row)
    clock.examined = 0
    clock.replan = PLAN_STALE
    return state


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
    clock.running += 1
    clock.running_watts += job.watts
    insert_release(state, job.expected_s, row, job.units)


def _action(state: State, index: int, names: list[int]) -> Action | None:
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
