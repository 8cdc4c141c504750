"""The engine under a policy written in Python: the same events, the same physics.

The policy is called after the events of every instant; what it asks for is checked, booked with
the same kernels that compiled policies use, and carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from wattline.books.deciding import apply_actions
from wattline.books.keeping import integrate
from wattline.books.log import CONTROL, NO_JOB, log_event
from wattline.books.record import Record, grow_log, grow_spans
from wattline.engine.loop import apply_due, next_instant
from wattline.engine.world import Simulated
from wattline.model.errors import PolicyError
from wattline.model.signal import Signal
from wattline.policies.admission.none import NoLimit
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.configuration.requested import Requested
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.counted import Counted
from wattline.policies.placement.first_fit import FirstFit
from wattline.policies.queue import drop_entries
from wattline.policies.regulation.none import NoRegulation
from wattline.policies.starting import note, start_at
from wattline.policies.state import (
    ACT_DOWN,
    ACT_LEVEL,
    ACT_PAUSE,
    ACT_SPEED,
    ACT_UP,
    ACT_WAKE,
    ASIDE,
    PAUSED,
    QUEUED,
    RUNNING,
    State,
    grow,
)
from wattline.policies.view import (
    Action,
    Pause,
    Policy,
    PowerDown,
    PowerUp,
    QueuedJob,
    RunningJob,
    SetLevel,
    SetSpeed,
    Start,
    View,
    WakeAt,
)

IDLE_CYCLES = 100_000
"""Control cycles in a row in which nothing happens and nothing is asked for; then it is over."""


def run_python(
    state: State,
    record: Record,
    world: Simulated,
    policy: Policy,
    signals: Mapping[str, Signal],
    progress: Callable[[float], None] | None = None,
) -> tuple[State, Record]:
    """Simulate to the end, asking the policy at every instant and at every step of a signal."""
    books = _books(state)
    meter = record.meter[0]
    period_s = _period_s(policy)
    meter.next_cycle_s = meter.start_s if period_s < np.inf else np.inf
    idle_cycles = 0
    while meter.done < len(state.jobs):
        now_s = float(state.clock[0].now_s)
        until_s = min(next_instant(state, record, world), _next_step_s(signals, now_s))
        if until_s == np.inf or idle_cycles == IDLE_CYCLES:
            break
        state, record = _make_room(state, record, 0)
        meter = record.meter[0]
        integrate(state, record, until_s)
        apply_due(state, record, world, books)
        if meter.next_cycle_s <= until_s:
            meter.next_cycle_s = until_s + period_s
            log_event(state, record, CONTROL, NO_JOB, 0.0)
        actions = list(policy.decide(view_of(state, signals)) or ())
        state, record = _make_room(state, record, len(actions))
        meter = record.meter[0]
        leaving: set[int] = set()
        for action in actions:
            _book(state, books, action, leaving)
        apply_actions(state, record, world, books)
        waits = not actions and state.clock[0].running == 0 and meter.timers == 0
        ends = world.ends
        over = meter.arrived == len(state.jobs) and ends.tally[0].caps == len(ends.caps)
        idle_cycles = idle_cycles + 1 if waits and over else 0
        if progress is not None:
            progress(float(meter.done) / len(state.jobs))
    return state, record


def _period_s(policy: Policy) -> float:
    period_s = float(getattr(policy, "cycle_s", np.inf))
    if not period_s > 0:
        raise PolicyError(f"the policy's cycle_s is {period_s}, must be above 0")
    return period_s


def _make_room(state: State, record: Record, actions: int) -> tuple[State, Record]:
    """Grow what the next instant could fill; kernels do not look where they write."""
    meter = record.meter[0]
    needed = len(state.jobs) + actions + 128
    while meter.spare_rows < needed:
        record = grow_log(record)
        meter = record.meter[0]
    while state.nodes.size and len(record.spans) - meter.spans <= state.nodes.size:
        record = grow_spans(record)
        meter = record.meter[0]
    while len(state.timers) - meter.timers < needed:
        state = grow(state, "timers")
    while len(state.actions) - state.clock[0].actions <= actions:
        state = grow(state, "actions")
    return state, record


def _next_step_s(signals: Mapping[str, Signal], now_s: float) -> float:
    """When the next of the signals changes."""
    later = (signal.time_s[np.searchsorted(signal.time_s, now_s, side="right"):][:1]
             for signal in signals.values())
    return min((float(step[0]) for step in later if step.size), default=np.inf)


def view_of(state: State, signals: Mapping[str, Signal]) -> View:
    """A read-only picture of the state; the policy cannot reach the state through it."""
    clock = state.clock[0]
    live = state.live
    return View(
        now_s=float(clock.now_s),
        units=int(clock.units),
        free=int(clock.free),
        power_w=float(clock.power_w),
        cap_w=float(clock.cap_w),
        idle_w=float(clock.idle_w),
        queue=tuple(_queued(state, int(job)) for job in
                    np.flatnonzero(np.isin(live.state, (QUEUED, ASIDE)))),
        running=tuple(_running(state, int(job)) for job in np.flatnonzero(live.state == RUNNING)),
        paused=tuple(_queued(state, int(job)) for job in np.flatnonzero(live.state == PAUSED)),
        off=int(clock.off),
        changing=int(clock.changing),
        speed=float(clock.speed),
        power_factor=float(clock.power_factor),
        signals={name: signal.at(float(clock.now_s)) for name, signal in signals.items()},
        cap_w_max=float(clock.cap_w_max),
        windows=int(clock.windows),
    )


def _queued(state: State, job: int) -> QueuedJob:
    asked, live = state.jobs[job], state.live[job]
    return QueuedJob(
        job=job,
        units=int(live.units),
        requested_s=float(live.requested_s),
        submit_s=float(asked.submit_s),
        watts=float(live.watts),
        user=int(asked.user),
        application=int(asked.kind),
    )


def _running(state: State, job: int) -> RunningJob:
    asked, live = state.jobs[job], state.live[job]
    return RunningJob(
        job=job,
        units=int(live.units),
        start_s=float(live.start_s),
        expected_s=float(live.expected_s),
        power_w=float(live.power_w),
        speed=float(live.rate),
        watts=float(live.watts),
        user=int(asked.user),
        application=int(asked.kind),
    )


def _books(state: State) -> Composition:
    """The axes that the physics needs: where nodes are chosen, the lowest are taken."""
    placement = FirstFit() if state.nodes.size else Counted()
    return Composition(Fcfs(), NoBackfill(), NoLimit(), Requested(), placement, NoRegulation())


def _book(state: State, books: Composition, action: Action, leaving: set[int]) -> None:
    """Check one action and note it; `leaving` are the jobs that this decision pauses."""
    if isinstance(action, Start):
        _book_start(state, books, action)
    elif isinstance(action, SetSpeed):
        _expect_running(state, action.job, leaving, "set the speed of")
        _positive(action.speed)
        _not_negative(action.power_w)
        note(state, ACT_SPEED, action.job, action.speed, action.power_w)
    elif isinstance(action, Pause):
        _expect_running(state, action.job, leaving, "pause")
        leaving.add(action.job)
        note(state, ACT_PAUSE, action.job, 0.0, 0.0)
    elif isinstance(action, PowerDown | PowerUp):
        if action.units < 0:
            raise PolicyError(f"the policy wants to switch {action.units} units")
        if len(state.kinds) > 1:
            raise PolicyError("units are switched off by their number, which on a machine of "
                              "several node classes does not say which: not supported")
        kind = ACT_DOWN if isinstance(action, PowerDown) else ACT_UP
        note(state, kind, -1, float(action.units), 0.0)
    elif isinstance(action, SetLevel):
        _positive(action.speed)
        _not_negative(action.power_factor)
        state.clock[0].latency_s = action.latency_s
        note(state, ACT_LEVEL, 0, action.speed, action.power_factor)
    elif isinstance(action, WakeAt):
        if action.time_s > state.clock[0].now_s:
            note(state, ACT_WAKE, -1, action.time_s, 0.0)
    else:
        raise PolicyError(f"{action!r} is not an action")


def _book_start(state: State, books: Composition, action: Start) -> None:
    job = action.job
    if not 0 <= job < len(state.jobs) or state.live[job].state not in (QUEUED, PAUSED):
        raise PolicyError(f"the policy started job {job}, which is not waiting")
    live, clock = state.live[job], state.clock[0]
    if live.units > clock.free:
        raise PolicyError(
            f"the policy overcommits: job {job} needs {live.units} units, {clock.free} are free"
        )
    speed, power_w = float(clock.speed), float(live.watts * clock.power_factor)
    if action.speed is not None:
        speed, power_w = action.speed, float(live.watts)
    if action.power_w is not None:
        power_w = action.power_w
    _positive(speed)
    _not_negative(power_w)
    if live.state == QUEUED:
        _leave_queue(state, job)
    start_at(state, books, job, speed, power_w)


def _leave_queue(state: State, job: int) -> None:
    clock = state.clock[0]
    queued = state.queue[clock.queue_first : clock.queue_last]
    position = clock.queue_first + int(np.flatnonzero(queued.job == job)[0])
    drop_entries(state, position, position + 1)


def _expect_running(state: State, job: int, leaving: set[int], verb: str) -> None:
    running = 0 <= job < len(state.jobs) and state.live[job].state == RUNNING
    if not running or job in leaving:
        raise PolicyError(f"the policy wants to {verb} job {job}, which does not run")


def _positive(speed: float) -> None:
    if not speed > 0:
        raise PolicyError(f"a speed must be positive, not {speed}; pause a job to stop it")


def _not_negative(power: float) -> None:
    if not power >= 0:
        raise PolicyError(f"a power must not be negative, as {power} is")
