"""Simulate jobs on a machine under a policy: the one entrance to the engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books.opening import units_of
from wattline.books.record import Record, grow_log, grow_spans
from wattline.engine.at_once import is_little, is_wanted, run_plain
from wattline.engine.by_class import class_energy
from wattline.engine.compiling import Parts, compile_or_wait, may_start_processes
from wattline.engine.counted_power import above_cap, jobs_power_w
from wattline.engine.loop import (
    FINISHED,
    LOG_FULL,
    SPANS_FULL,
    TIME_IS_UP,
    TIMERS_FULL,
    run_events,
)
from wattline.engine.prepare import Opening, Rules, effective_cap, prepare, shares_of
from wattline.engine.world import Simulated
from wattline.model.jobs import JobTable
from wattline.model.kernel import at_hand, is_compiled, uncompiled
from wattline.model.machine import Machine
from wattline.model.promises import Promises
from wattline.model.run import EventLog, Outcome, Placement, Run, Schedule
from wattline.policies.contract import Composition, cycle_s
from wattline.policies.memory import bound, memories
from wattline.policies.state import ASIDE, DONE, State, grow
from wattline.policies.traits import (
    account_shares,
    keeps_full_speed,
    power_wait,
    queue_rule,
    steers_all,
)

if TYPE_CHECKING:
    from wattline.policies.view import Policy

INSTANTS_A_CALL = 200_000
"""Instants simulated before the caller hears of progress and can be interrupted."""


def simulate(
    jobs: JobTable,
    machine: Machine,
    policy: Composition | Policy,
    rules: Rules | None = None,
    *,
    progress: Callable[[float], None] | None = None,
    before_compiling: Callable[[], None] | None = None,
    opening: Opening | None = None,
) -> Run:
    """Run the jobs to their end.

    `policy` is a composition of built-in policies, or any object with `decide(view)` that returns
    actions (see `wattline.policies.view`). A composition is left as it was, so that it can be
    run again; what its policies remembered at the end is in the run's `memories`.

    `before_compiling` is called where these policies have to be compiled first, which takes ten
    seconds: time to begin what is needed after them.

    Where many runs begin alike, `opening` has their books; only the nature of `rules` may differ
    from its own.
    """
    rules = rules or Rules()
    if not isinstance(policy, Composition):
        from wattline.engine.driver import run_python

        state, record, world = prepare(jobs, machine, rules)
        started = time.perf_counter()
        with uncompiled(is_little(state, world)):
            state, record = run_python(state, record, world, policy, rules.signals, progress)
        run = collect(jobs, machine, rules, state, record, time.perf_counter() - started)
        return replace(run, policy_powers=True)
    parts = made_ready(jobs, machine, policy, rules, opening)
    asked = policy
    started = time.perf_counter()
    after = run_plain(parts) if is_wanted(parts, run_events) else None
    state, record, world, policy = after or parts
    if after is None:
        loop = at_hand(run_events, *parts, 0)
        if loop is None:
            if (before_compiling is not None and may_start_processes()
                    and not is_compiled(run_events, *parts, 0)):
                before_compiling()
            compile_or_wait(parts, run_events)  # first: that is not time in the engine
        started = time.perf_counter()
        state, record = run_compiled(state, record, world, policy, progress, loop or run_events)
    engine_s = time.perf_counter() - started
    run = collect(jobs, machine, rules, state, record, engine_s)
    return replace(run, memories=memories(policy), promises=_promised(asked, jobs, rules))


def _promised(policy: Composition, jobs: JobTable, rules: Rules) -> Promises:
    """Return the promises of a composition that hold on any machine; a scenario knows more."""
    limits = power_wait(policy.admission) != "" and rules.cap_counts == "machine"
    full, together = keeps_full_speed(policy), steers_all(policy.admission)
    return Promises(keeps_cap=rules.cap_w is not None and limits, full_speed=full,
                    **(queue_promises(policy, jobs, rules) if full or together else {}))


def queue_promises(policy: Composition, jobs: JobTable, rules: Rules) -> dict[str, Any]:
    """Return the promise of a policy to jobs that wait, and the shares that its order goes by."""
    rule = queue_rule(policy)
    if rule is None:
        return {}
    return {"queue": rule, "accounts": account_shares(policy.order, jobs, rules.logged),
            "user_share": shares_of(jobs, rules) if rule.terms.get("share") else None}


def made_ready(
    jobs: JobTable, machine: Machine, policy: Composition, rules: Rules,
    opening: Opening | None = None,
) -> Parts:
    """What the loop is called with."""
    state, record, world = opening.begin(rules) if opening else prepare(jobs, machine, rules)
    return state, record, world, knowing(policy.narrowed(len(state.windows)), jobs, rules.logged)


def compile_loop(state: State, record: Record, world: Simulated, policy: Composition) -> None:
    """Compile, or load, all that a run of these calls; no time passes in it."""
    cycle_s(state, policy.regulation)
    run_events(state, record, world, policy, 0)


def knowing(policy: Composition, jobs: JobTable, logged: Mapping[str, Any]) -> Composition:
    """The policy with memories of its own that know these jobs."""
    policy = bound(policy, len(jobs))
    for memory in memories(policy).values():
        memory.annotate(0, jobs, logged)
    return policy


def run_compiled(
    state: State,
    record: Record,
    world: Simulated,
    policy: Composition,
    progress: Callable[[float], None] | None = None,
    loop: Callable[..., Any] = run_events,
) -> tuple[State, Record]:
    """Call the loop until it is done, growing what is full, which leaves all types as they are."""
    period_s = cycle_s(state, policy.regulation)
    record.meter.next_cycle_s = record.meter.start_s if period_s < np.inf else np.inf
    while True:
        reason = loop(state, record, world, policy, INSTANTS_A_CALL)
        if progress is not None:
            progress(float(record.meter[0].done) / max(len(state.jobs), 1))
        if record.meter[0].undone:
            raise TypeError("a policy marked starts_only asked for more than starts")
        if reason in (FINISHED, TIME_IS_UP):
            return state, record
        if reason == LOG_FULL:
            record = grow_log(record)
        elif reason == SPANS_FULL:
            record = grow_spans(record)
        elif reason == TIMERS_FULL:
            state = grow(state, "timers")


def collect(
    jobs: JobTable, machine: Machine, rules: Rules, state: State, record: Record, engine_s: float
) -> Run:
    """The result as the model's types."""
    live, meter = np.asarray(state.live)[: len(jobs)], record.meter[0]
    done = live["state"] == DONE
    rows = int(meter.rows)
    placement = _placement(record) if state.nodes.size else None
    schedule = Schedule(
        start_s=np.where(done, live["start_s"], np.nan),
        end_s=np.where(done, live["end_s"], np.nan),
        nodes=live["units"].copy(),
        energy_j=live["energy_j"].copy(),
        outcome=_outcome(live, done),
        configuration=live["config"].copy(),
    )
    events = EventLog(
        time_s=record.log_time_s[:rows],
        kind=record.log_kind[:rows],
        job=record.log_job[:rows],
        power_w=record.log_power_w[:rows],
        busy=record.log_busy[:rows],
        queued=record.log_queued[:rows],
        value=record.log_value[:rows],
    )
    above_s, above_j = float(meter.time_above_s), float(meter.energy_above_j)
    cap_w = effective_cap(rules)
    if rules.cap_counts == "jobs" and cap_w is not None:
        clock = state.clock[0]
        jobs_w = jobs_power_w(events, units_of(machine, rules.granularity), float(clock.idle_w))
        above_s, above_j = above_cap(events, jobs_w, cap_w, float(clock.now_s))
    return Run(
        jobs=jobs,
        schedule=schedule,
        events=events,
        machine=machine,
        units=units_of(machine, rules.granularity),
        start_s=float(meter.start_s),
        end_s=float(state.clock[0].now_s),
        energy_j=float(meter.energy_j),
        class_energy_j=class_energy(
            machine, state.kinds, events, live["units"], placement, meter,
            float(state.clock[0].now_s)
        ),
        time_above_cap_s=above_s,
        energy_above_cap_j=above_j,
        power_w_peak=float(meter.peak_w),
        cap_w=cap_w,
        placement=placement,
        engine_s=engine_s,
        reservations=tuple(rules.reservations),
        set_aside=tuple(np.flatnonzero(live["state"] == ASIDE).tolist()),
    )


def _outcome(live: Any, done: Any) -> Any:
    outcome = np.full(done.shape, int(Outcome.NOT_RUN), dtype=np.int64)
    outcome[done] = int(Outcome.COMPLETED)
    outcome[done & (live["completed"] == 0)] = int(Outcome.KILLED)
    return outcome


def _placement(record: Record) -> Placement:
    spans = record.spans[: record.meter[0].spans]
    return Placement(
        job=spans.job.astype(np.int64),
        first=spans.first.astype(np.int64),
        count=spans.count.astype(np.int64),
    )
