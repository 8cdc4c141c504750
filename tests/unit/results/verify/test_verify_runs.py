"""The checker passes good runs and names what is wrong in broken ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.run_maker import changed, fcfs_run, some_jobs

from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.run import EventKind, EventLog, Outcome, Placement, Run, Schedule
from wattline.model.signal import Signal
from wattline.results.verify.judge import verify

CAP = Signal.from_steps([(0.0, 3000.0), (5000.0, 2200.0), (20000.0, 2500.5)], "W")


@pytest.fixture(scope="module")
def good() -> Run:
    power_w = np.random.default_rng(3).uniform(150.0, 4000.0, 300)
    return fcfs_run(some_jobs(300, power_w=power_w), cap_w=CAP)


def test_a_good_run(good: Run) -> None:
    assert good.time_above_cap_s > 0
    assert good.schedule.nodes.max() == 16
    assert verify(good).sentences == []


@costing(5)
@given(st.data())
def test_good_runs_of_all_shapes(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    numbers = st.lists(st.integers(0, 30), min_size=count, max_size=count)
    jobs = JobTable.build(
        submit_s=np.sort(data.draw(numbers)),
        run_s=data.draw(numbers),
        requested_s=data.draw(numbers),
        procs=np.array(data.draw(numbers)) % 6 + 1,
    )
    assert verify(fcfs_run(jobs, nodes=4, cap_w=Signal.constant(600.0))).sentences == []


def _set(values: Any, row: int, value: Any) -> Any:
    copy = values.copy()
    copy[row] = value
    return copy


def _swap(values: Any, first: int, second: int) -> Any:
    copy = values.copy()
    copy[[first, second]] = copy[[second, first]]
    return copy


def _last(run: Run, kind: EventKind) -> int:
    return int(np.flatnonzero(run.events.kind == kind)[-1])


BROKEN: dict[str, tuple[Callable[[Run], Run], str]] = {
    "one unit twice": (
        lambda run: changed(run, "placement", first=np.zeros_like(run.placement.first)),  # type: ignore[union-attr]
        "start on units that another job still holds"),
    "a unit beyond the machine": (
        lambda run: changed(run, "placement", first=run.placement.first + 16),  # type: ignore[union-attr]
        "outside 0 to 15"),
    "a unit too few": (
        lambda run: changed(run, "placement", count=_set(run.placement.count, 5, 99)),  # type: ignore[union-attr]
        "outside 0 to 15"),
    "fewer units placed than given": (
        lambda run: changed(run, "schedule", nodes=_set(run.schedule.nodes, 5, 7)),
        "another number of units than they were given"),
    "too busy": (
        lambda run: changed(run, "events", busy=_set(run.events.busy, 50, 17)),
        "the machine has 16"),
    "busy by one too many": (
        lambda run: changed(run, "events", busy=run.events.busy + (run.events.busy == 3)),
        "differ from the sum over running jobs"),
    "queue off by one": (
        lambda run: changed(run, "events", queued=_set(run.events.queued, 77, 99)),
        "queue length differs"),
    "a queue that is told too short": (
        lambda run: changed(run, "events", queued=_set(
            run.events.queued, int(run.events.queued.argmax()), 0)),
        "queue length differs"),
    "energy a little off": (
        lambda run: replace(run, energy_j=run.energy_j * (1 + 1e-8)), "the integral of power"),
    "class energies do not add up": (
        lambda run: replace(run, class_energy_j={"node": run.energy_j, "ghost": 1e3}),
        "the sum over classes"),
    "a job's energy off": (
        lambda run: changed(run, "schedule", energy_j=run.schedule.energy_j * (1 + 1e-7)),
        "jobs plus idle units"),
    "energies of two jobs swapped": (
        lambda run: changed(run, "schedule", energy_j=_swap(run.schedule.energy_j, 10, 200)),
        "another energy than the integral of their power"),
    "power that no job draws": (
        lambda run: changed(run, "events", power_w=_set(
            run.events.power_w, 40, run.events.power_w[40] + 1)),
        "the power differs from idle units plus running jobs"),
    "a job starts twice": (
        lambda run: changed(run, "events", job=_set(
            run.events.job, _last(run, EventKind.START), 0)),
        "without exactly one start event"),
    "a job never ends": (
        lambda run: changed(run, "events", kind=_set(
            run.events.kind, _last(run, EventKind.END), int(EventKind.WAKE))),
        "without exactly one end event"),
    "a job is never submitted": (
        lambda run: changed(run, "events", kind=_set(
            run.events.kind, _last(run, EventKind.SUBMIT), int(EventKind.WAKE))),
        "without exactly one submit event"),
    "a job ran but is said not to have": (
        lambda run: changed(run, "schedule", outcome=_set(
            run.schedule.outcome, 9, int(Outcome.NOT_RUN))),
        "never ran but have a start"),
    "start at another time": (
        lambda run: changed(run, "schedule", start_s=_set(
            run.schedule.start_s, 9, run.schedule.start_s[9] + 1)),
        "start event at another time"),
    "start before submission": (
        lambda run: replace(run, jobs=run.jobs.with_columns(
            submit_s=_set(run.jobs.submit_s, 299, run.schedule.end_s[299]))),
        "start before their submission"),
    "end before start": (
        lambda run: changed(run, "schedule", end_s=_set(
            run.schedule.end_s, 9, run.schedule.start_s[9] - 5)),
        "end before their start"),
    "a dependency is ignored": (
        lambda run: replace(run, jobs=run.jobs.with_columns(
            after_job=np.where(np.arange(300) > 0, np.arange(300) - 1, -1))),
        "before the job they depend on has ended"),
    "a start within the think time": (
        lambda run: replace(run, jobs=run.jobs.with_columns(
            after_job=_set(run.jobs.after_job, 299, 0), think_s=_set(
                run.jobs.think_s, 299, run.schedule.start_s[299] - run.schedule.end_s[0] + 1))),
        "before the job they depend on has ended"),
    "killed in time": (
        lambda run: changed(run, "schedule", outcome=np.full(300, int(Outcome.KILLED))),
        "though they asked for enough time"),
    "a dependency that never ran": (
        lambda run: changed(replace(run, jobs=run.jobs.with_columns(
            after_job=_set(run.jobs.after_job, 299, 0))), "schedule",
            outcome=_set(run.schedule.outcome, 0, int(Outcome.NOT_RUN))),
        "ran though the job they depend on never did"),
    "peak too low": (
        lambda run: replace(run, power_w_peak=run.power_w_peak * 0.999), "the peak power"),
    "time above the cap": (
        lambda run: replace(run, time_above_cap_s=run.time_above_cap_s + 1),
        "the time above the cap"),
    "energy above the cap": (
        lambda run: replace(run, energy_above_cap_j=run.energy_above_cap_j * 1.01),
        "the energy above the cap"),
    "above a cap that is not there": (
        lambda run: replace(run, cap_w=None), "the run has no cap"),
    "the log goes back": (
        lambda run: changed(run, "events", time_s=run.events.time_s[::-1].copy()),
        "goes back in time"),
    "the log ends too late": (
        lambda run: replace(run, end_s=run.end_s - 1), "outside the run's"),
    "a job from nowhere": (
        lambda run: changed(run, "events", job=_set(run.events.job, 3, 300)),
        "not in the table"),
    "a column too short": (
        lambda run: changed(run, "schedule", end_s=run.schedule.end_s[:-1]), "has 299 rows"),
    "an empty log": (
        lambda run: changed(run, "events", **{
            name: values[:0] for name, values in vars(run.events).items()}),
        "the event log is empty"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_runs_are_caught(good: Run, name: str) -> None:
    breaks, sentence = BROKEN[name]
    found = verify(breaks(good)).sentences
    assert any(sentence in violation for violation in found), found


def test_uneven_idle_power_leaves_out_what_cannot_be_said(good: Run) -> None:
    """With two classes the free units' idle power depends on which are free."""
    groups = (NodeGroup(NodeClass("a", power_w_idle=90.0), 8),
              NodeGroup(NodeClass("b", power_w_idle=110.0), 8))
    other = replace(good, machine=Machine(groups))
    assert verify(replace(other, placement=None)).sentences == []
    assert any("the power differs from idle units" in each for each in verify(other).sentences)


def test_many_violations_are_summed_up(good: Run) -> None:
    late = changed(good, "schedule", start_s=good.schedule.start_s + 1)
    assert any("and 297 more" in sentence for sentence in verify(late).sentences)


def test_the_run_of_the_benchmark_is_a_good_one() -> None:
    from wattline.benchmarks.analysis import made_up_run

    assert verify(made_up_run(500)).sentences == []


def paused_run() -> Run:
    """Two nodes. Job 1 holds both from 0 s, is paused from 4 s to 6 s, and ends at 12 s.

    Job 2 runs on node 0 in between: 500 W for 4 s, 350 W for 2 s, 500 W for 6 s make 5,700 J.
    """
    kinds = [EventKind.SUBMIT, EventKind.START, EventKind.PAUSE, EventKind.SUBMIT, EventKind.START,
             EventKind.END, EventKind.RESUME, EventKind.END]
    events = EventLog(
        time_s=np.array([0.0, 0, 4, 4, 4, 6, 6, 12]),
        kind=np.array([int(kind) for kind in kinds]),
        job=np.array([0, 0, 0, 1, 1, 1, 0, 0]),
        power_w=np.array([200.0, 500, 200, 200, 350, 200, 500, 200]),
        busy=np.array([0, 2, 0, 0, 1, 0, 2, 0]),
        queued=np.array([1, 0, 0, 1, 0, 0, 0, 0]),
        value=np.array([0.0, 500, 0, 0, 250, 0, 500, 0]),
    )
    done = np.full(2, int(Outcome.COMPLETED))
    return Run(
        jobs=JobTable.build(submit_s=[0, 4], run_s=[10, 2], procs=[2, 1]),
        schedule=Schedule(np.array([0.0, 4]), np.array([12.0, 6]), np.array([2, 1]),
                          np.array([5000.0, 500]), done, 0 * done),
        events=events,
        machine=Machine.uniform(2, NodeClass(power_w_idle=100.0, power_w_active=250.0)),
        units=2, start_s=0.0, end_s=12.0, energy_j=5700.0, class_energy_j={"node": 5700.0},
        time_above_cap_s=0.0, energy_above_cap_j=0.0, power_w_peak=500.0,
        placement=Placement(np.array([0, 1, 0]), np.array([0, 0, 0]), np.array([2, 1, 2])),
    )


def test_a_paused_job_gives_its_units_back() -> None:
    assert verify(paused_run()).sentences == []


def test_a_paused_job_must_be_placed_again() -> None:
    once = changed(paused_run(), "placement", job=np.array([0, 1]), first=np.array([0, 0]),
                   count=np.array([2, 1]))
    assert any("another number of units" in sentence for sentence in verify(once).sentences)


def test_a_job_that_resumes_too_early_is_caught() -> None:
    early = changed(paused_run(), "events", time_s=np.array([0.0, 0, 4, 4, 4, 6, 5, 12]))
    assert any("goes back in time" in sentence for sentence in verify(early).sentences)
    swapped = np.array([0, 1, 2, 3, 4, 6, 5, 7])
    log = {name: values[swapped] for name, values in vars(paused_run().events).items()}
    late = changed(paused_run(), "events", **{
        **log, "time_s": np.array([0.0, 0, 4, 4, 4, 5, 6, 12])})
    assert any("start on units that another job still holds" in s for s in verify(late).sentences)
