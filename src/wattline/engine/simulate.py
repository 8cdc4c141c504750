"""Simulate jobs on a machine under a policy: the one entrance to the engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from wattline.engine.by_class import class_energy
from wattline.engine.loop import (
    FINISHED,
    LOG_FULL,
    SPANS_FULL,
    TIMERS_FULL,
    run_events,
)
from wattline.engine.prepare import Rules, effective_cap, prepare, units_of
from wattline.engine.world import World, grow_log, grow_spans
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.run import EventLog, Outcome, Placement, Run, Schedule
from wattline.policies.contract import Composition, cycle_s
from wattline.policies.fresh import fresh
from wattline.policies.state import DONE, State, grow
from wattline.policies.together import refuse_clashes
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
    in_place: bool = False,
) -> Run:
    """Run the jobs to their end.

    `policy` is a composition of built-in policies, or any object with `decide(view)` that returns
    actions (see `wattline.policies.view`). A composition is left as it was, so that it can be run
    again; with `in_place` the run writes into its arrays, for callers that read them afterwards.
    """
    rules = rules or Rules()
    state, world = prepare(jobs, machine, rules)
    if isinstance(policy, Composition):
        refuse_clashes(policy, len(machine.groups))
        if not in_place:
            policy = fresh(policy)
        policy = policy.narrowed(len(state.windows))
        run_events(state, world, policy, 0)  # compile first: that is not time in the engine
    started = time.perf_counter()
    if isinstance(policy, Composition):
        state, world = run_compiled(state, world, policy, progress)
    else:
        from wattline.engine.driver import run_python

        state, world = run_python(state, world, policy, rules.signals, progress)
    engine_s = time.perf_counter() - started
    run = collect(jobs, machine, rules, state, world, engine_s)
    return replace(run, policy_powers=not isinstance(policy, Composition))


def run_compiled(
    state: State,
    world: World,
    policy: Composition,
    progress: Callable[[float], None] | None = None,
) -> tuple[State, World]:
    """Call the loop until it is done, growing what is full."""
    period_s = cycle_s(state, policy.regulation)
    world.meter.next_cycle_s = world.meter.start_s if period_s < np.inf else np.inf
    while True:
        reason = run_events(state, world, policy, INSTANTS_A_CALL)
        if progress is not None:
            progress(float(world.meter[0].done) / max(len(state.jobs), 1))
        if world.meter[0].undone:
            raise TypeError("a policy marked starts_only asked for more than starts")
        if reason == FINISHED:
            return state, world
        if reason == LOG_FULL:
            world = grow_log(world)
        elif reason == SPANS_FULL:
            world = grow_spans(world)
        elif reason == TIMERS_FULL:
            state = grow(state, "timers")


def collect(
    jobs: JobTable, machine: Machine, rules: Rules, state: State, world: World, engine_s: float
) -> Run:
    """The result as the model's types."""
    live, meter = state.live, world.meter[0]
    done = live.state == DONE
    rows = int(meter.rows)
    placement = _placement(world) if state.nodes.size else None
    schedule = Schedule(
        start_s=np.where(done, live.start_s, np.nan),
        end_s=np.where(done, live.end_s, np.nan),
        nodes=live.units.copy(),
        energy_j=live.energy_j.copy(),
        outcome=_outcome(state),
        configuration=live.config.copy(),
    )
    events = EventLog(
        time_s=world.log_time_s[:rows],
        kind=world.log_kind[:rows],
        job=world.log_job[:rows],
        power_w=world.log_power_w[:rows],
        busy=world.log_busy[:rows],
        queued=world.log_queued[:rows],
        value=world.log_value[:rows],
    )
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
            machine, state.kinds, events, live.units, placement, meter, float(state.clock[0].now_s)
        ),
        time_above_cap_s=float(meter.time_above_s),
        energy_above_cap_j=float(meter.energy_above_j),
        power_w_peak=float(meter.peak_w),
        cap_w=effective_cap(rules),
        placement=placement,
        engine_s=engine_s,
    )


def _outcome(state: State) -> Any:
    live = state.live
    outcome = np.full(live.units.shape, int(Outcome.NOT_RUN), dtype=np.int64)
    outcome[live.state == DONE] = int(Outcome.COMPLETED)
    # A job that was killed has work left; what floats leave of a finished one is far less.
    left = live.work_s > 1e-6 * np.maximum(state.jobs.run_s, 1.0)
    outcome[(live.state == DONE) & left] = int(Outcome.KILLED)
    return outcome


def _placement(world: World) -> Placement:
    spans = world.spans[: world.meter[0].spans]
    return Placement(
        job=spans.job.astype(np.int64),
        first=spans.first.astype(np.int64),
        count=spans.count.astype(np.int64),
    )
