"""Arrays that fill up are grown, and nothing is lost on the way."""

from __future__ import annotations

import numpy as np
from tests.support.workloads import compose

from wattline.books.record import grow_log, grow_spans
from wattline.engine.loop import FINISHED, LOG_FULL, SPANS_FULL, TIMERS_FULL, run_events
from wattline.engine.prepare import Rules, prepare
from wattline.engine.simulate import collect, run_compiled, simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.run import EventKind
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.placement.first_fit import FirstFit
from wattline.policies.state import grow
from wattline.policies.view import SetSpeed, Start, WakeAt
from wattline.results.verify.judge import verify


def many(count: int) -> JobTable:
    random = np.random.default_rng(3)
    gaps = random.integers(0, 3, count)
    return JobTable.build(submit_s=np.cumsum(gaps) - gaps[0],
                          run_s=random.integers(1, 9, count), procs=random.integers(1, 9, count),
                          requested_s=random.integers(9, 12, count))


def test_log_and_timers_grow_in_the_middle_of_a_run():
    """The loop comes back when either is nearly full; the run is the same as with ample room."""
    jobs, machine, rules = many(40), Machine.uniform(8), Rules()
    policy = compose(backfill=Conservative())
    ample = simulate(jobs, machine, policy, rules)
    state, record, world = prepare(jobs, machine, rules)
    state = state.with_arrays(timers=state.timers[:4].copy())
    record.meter[0].spare_rows = 0
    assert run_events(state, record, world, policy, 10) == LOG_FULL
    record = grow_log(record)
    assert run_events(state, record, world, policy, 10) == TIMERS_FULL
    state, record = run_compiled(state, record, world, policy)
    assert run_events(state, record, world, policy, 10) == FINISHED
    tight = collect(jobs, machine, rules, state, record, 0.0)
    assert verify(tight).sentences == []
    np.testing.assert_array_equal(ample.schedule.start_s, tight.schedule.start_s)
    np.testing.assert_array_equal(ample.events.time_s, tight.events.time_s)


def test_spans_grow_in_the_middle_of_a_run():
    jobs, machine, rules = many(40), Machine.uniform(8), Rules(choose_nodes=True)
    policy = compose(placement=FirstFit())
    state, record, world = prepare(jobs, machine, rules)
    record = record.with_arrays(spans=record.spans[:9].copy())
    record.meter.next_cycle_s = np.inf
    assert run_events(state, record, world, policy, 1) != SPANS_FULL
    assert run_events(state, record, world, policy, 1000) == SPANS_FULL
    state, record = run_compiled(state, grow_spans(record), world, policy)
    assert verify(collect(jobs, machine, rules, state, record, 0.0)).sentences == []


def test_grown_arrays_keep_what_they_hold():
    state, _, _ = prepare(many(5), Machine.uniform(8), Rules())
    state.timers[0].time_s = 7.0
    grown = grow(state, "timers")
    assert len(grown.timers) == 2 * len(state.timers)
    assert grown.timers[0].time_s == 7.0
    assert grown.jobs is state.jobs


class Restless:
    """Asks for far more wake-ups and changes of speed than there is room for at first."""

    def decide(self, view):
        actions = [WakeAt(view.now_s + 1.0 + step / 1000.0) for step in range(600)
                   if view.now_s < 1.0]
        free = view.free
        for job in view.queue:
            if job.units <= free:
                free -= job.units
                actions.append(Start(job.job))
        faster = [SetSpeed(run.job, 1.0, run.power_w + step) for run in view.running[:1]
                  for step in range(8)]
        return actions + faster


def test_a_python_policy_cannot_overflow_the_engine():
    run = simulate(many(20), Machine.uniform(8), Restless())
    assert verify(run).sentences == []
    assert run.ran.all()
    assert np.sum(run.events.kind == EventKind.WAKE) >= 600
    assert np.sum(run.events.kind == EventKind.RATE) > 4096


class Lazy:
    cycle_s = 1.0

    def decide(self, view):
        return []


def test_a_policy_that_never_does_anything_comes_to_an_end(monkeypatch):
    from wattline.engine import driver

    monkeypatch.setattr(driver, "IDLE_CYCLES", 50)
    run = simulate(many(3), Machine.uniform(8), Lazy())
    assert not run.ran.any()
