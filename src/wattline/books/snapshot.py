"""Compiled policies on a snapshot: the way in for callers that have a view and no history.

A notebook, a test or a policy in Python has a picture of the machine and asks the very kernels that
the simulator runs what to do. The picture becomes books, which are told of its jobs and asked once.
That works for policies that decide from the picture alone, which they say themselves
(`wattline.policies.from_view`); everything else is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from wattline.books.books import Books
from wattline.books.decision import Decision
from wattline.books.events import Event, Started, Submitted
from wattline.model.errors import InputError, PolicyError
from wattline.model.machine import Machine, NodeClass
from wattline.policies.committed import count_below_idle
from wattline.policies.contract import Composition
from wattline.policies.from_view import more_than_view
from wattline.policies.releases import insert_release, remove_release
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
    books = _books(policy, view)
    decisions = books.step(view.now_s)
    _check_known(view, _refused(decisions))
    return [_action(decision, books) for decision in decisions if decision.kind != "refuse"]


def never_starting(policy: Composition, view: View) -> list[int]:
    """Waiting jobs that the policy could not start alone, not even under the view's highest cap."""
    return sorted(_refused(_books(policy, view).step(view.now_s)))


def _refused(decisions: tuple[Decision, ...]) -> list[int]:
    return [int(decision.job) for decision in decisions
            if decision.kind == "refuse" and decision.job is not None]


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
    early = [job for job in view.queue if not job.submit_s <= view.now_s]
    if early:
        raise InputError(f"job {early[0].job} is in the queue at {view.now_s:g} s and submitted at "
                         f"{early[0].submit_s:g} s; leave it out of the view")
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


def _books(policy: Composition, view: View) -> Books:
    """Books that were told of the view's jobs in their order, and stand as it shows."""
    _check(policy, view)
    first_s = min([view.now_s, *(job.submit_s for job in view.queue)])
    books = Books.open(
        Machine.uniform(view.units, _node(view)), policy,
        start_s=first_s, cap_w=view.cap_w,
        cap_w_max=view.cap_w if view.cap_w_max is None else view.cap_w_max,
    )
    running = sorted(view.running, key=lambda job: job.job)
    _tell(books, first_s, [_submitted(job, job.expected_s - job.start_s) for job in running])
    _tell(books, first_s, [Started(job.job) for job in running])
    for job in running:
        _as_shown(books, job)
    waiting = sorted(view.queue, key=lambda job: (job.submit_s, job.job))
    for submit_s, together in groupby(waiting, key=lambda job: job.submit_s):
        _tell(books, submit_s, [_submitted(job, job.requested_s) for job in together])
    clock = books.state.clock[0]
    clock.free, clock.off, clock.changing = view.free, view.off, view.changing
    clock.power_w, clock.speed, clock.power_factor = view.power_w, view.speed, view.power_factor
    return books


def _node(view: View) -> NodeClass:
    """Jobs of a view say what they draw, so a busy node says nothing of its own."""
    return NodeClass(power_w_idle=view.idle_w, power_w_active=view.idle_w)


def _tell(books: Books, time_s: float, events: Sequence[Event]) -> None:
    books.apply(time_s, events)
    if books.refused:
        raise InputError(f"the view shows what cannot be: {books.refused[0].reason}")


def _submitted(job: QueuedJob | RunningJob, requested_s: float) -> Submitted:
    codes = {"user": job.user, "application": job.application}
    return Submitted(job.job, units=job.units, requested_s=max(requested_s, 0.0), watts=job.watts,
                     codes={column: code for column, code in codes.items() if code >= 0})


def _as_shown(books: Books, job: RunningJob) -> None:
    """Times, speed and power of a running job to the last digit, as the view has them."""
    state, row = books.state, books.roll.row(job.job)
    live = state.live[row]
    remove_release(state, live.expected_s, row)
    live.start_s, live.expected_s = job.start_s, job.expected_s
    live.rate, live.power_w = job.speed, job.power_w
    insert_release(state, job.expected_s, row, job.units)
    count_below_idle(state, row)


def _action(decision: Decision, books: Books) -> Action:
    if decision.kind == "wake":
        return WakeAt(decision.rate)
    if decision.kind == "level":
        return SetLevel(decision.rate, decision.power_w, float(books.state.clock[0].latency_s))
    if decision.job is not None and decision.kind in ("start", "resume"):
        return Start(int(decision.job), decision.rate, decision.power_w)
    if decision.job is not None and decision.kind == "speed":
        return SetSpeed(int(decision.job), decision.rate, decision.power_w)
    raise PolicyError(f"a policy asked for '{decision.kind}', which a snapshot cannot carry")
