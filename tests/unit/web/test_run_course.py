"""Power and energy of running jobs: by the run's events, and adding up to the machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.demos import KeptDemo

from wattline.model.run import EventKind, EventLog
from wattline.web.sources.rates import Rates
from wattline.web.sources.run_course import Course
from wattline.web.sources.run_index import RunIndex
from wattline.web.sources.run_joules import bill
from wattline.web.sources.run_profile import EXACT, profile


@pytest.fixture(scope="module")
def index() -> RunIndex:
    return KeptDemo(speed=0.0, jobs=200).shown.index


@pytest.fixture(scope="module")
def times_s(index: RunIndex) -> list[float]:
    run = index.run
    some = np.random.default_rng(5).uniform(run.start_s, run.end_s, 60).tolist()
    return [*some, *run.events.time_s[::29].tolist()]


def test_joules_so_far_are_the_integral_of_the_job_s_profile(
        index: RunIndex, times_s: list[float]) -> None:
    seen, far = 0, 0
    for time_s in times_s:
        moment = index.at(time_s)
        mean_w = index.mean_at(moment, moment.running)
        for row, joules, watts in zip(
                moment.running.tolist(), index.energy_at(moment, moment.running), mean_w,
                strict=True):
            told, quality = profile(index, row, time_s)
            assert quality == EXACT
            told_j = np.dot(np.array(told.power_w[:-1], float), np.diff(told.time_s))
            assert joules == pytest.approx(told_j, rel=1e-9, abs=1e-6)
            held_s = time_s - index.start_s[row]
            assert held_s == 0 or watts == pytest.approx(joules / held_s)
            seen, far = seen + 1, far + (abs(watts / index.mean_w[row] - 1.0) > 0.01)
    assert seen > 500
    assert far > 20  # the mean power of the whole life would be another figure


def told_by_events(index: RunIndex, job: int) -> list[tuple[float, float]]:
    """The power of a job at each of its changes, followed event by event, in the plainest way."""
    log = index.run.events
    power_w, holds, before_w = 0.0, False, index.run.machine.power_w_idle
    found = []
    for at, kind in enumerate(log.kind.tolist()):
        change_w = float(log.power_w[at] - before_w)
        own = int(log.job[at]) == job
        if own and kind in (EventKind.START, EventKind.RESUME):
            power_w, holds = float(index.job_idle_w[job]) + change_w, True
        elif own and kind in (EventKind.PAUSE, EventKind.END):
            power_w, holds = 0.0, False
        elif own and kind == EventKind.RATE:
            power_w += change_w
        elif holds and kind == EventKind.RATE and int(log.job[at]) == -1:
            jobs_w = float(before_w - index.free_idle_w[at])
            power_w *= (jobs_w + change_w) / jobs_w if jobs_w > 0 else 1.0
        before_w = float(log.power_w[at])
        if kind != EventKind.SUBMIT and (own or (holds and int(log.job[at]) == -1)):
            found.append((float(log.time_s[at]), power_w))
    return found


def test_the_steps_of_a_job_are_those_that_its_events_tell_one_by_one(index: RunIndex) -> None:
    together = 0
    for job in np.flatnonzero(index.run.ran)[::9].tolist():
        times_s, power_w = index.course.steps(job)
        told = told_by_events(index, job)
        steps = dict(zip(times_s.tolist(), power_w.tolist(), strict=True))
        for time_s, watts in dict(told).items():
            if time_s in steps:
                assert steps[time_s] == pytest.approx(watts, rel=1e-9, abs=1e-6)
        assert set(steps) <= {time_s for time_s, _ in told}
        changes = {time_s for (time_s, watts), (_, was_w) in zip(told[1:], told, strict=False)
                   if abs(watts - was_w) > 1e-6}
        assert changes <= set(steps)
        together += len(steps) > 2
    assert together > 3  # of those that were slowed


def test_jobs_and_free_nodes_are_the_machine(index: RunIndex, times_s: list[float]) -> None:
    log, every = index.run.events, np.arange(len(index.run.jobs))
    for time_s in times_s:
        moment = index.at(time_s)
        place = int(np.searchsorted(log.time_s, time_s, side="right"))
        edges_s = np.append(log.time_s[:place], time_s)
        free_j = float(np.dot(index.free_idle_w[:place], np.diff(edges_s)))
        jobs_j = float(index.energy_at(moment, every).sum())
        assert jobs_j + free_j == pytest.approx(index.drawn_j(time_s), rel=1e-9, abs=1e-3)
        assert index.drawn_by(moment).power_w.sum() + index.free_idle_w[place - 1] == (
            pytest.approx(moment.power_w))


def test_no_node_draws_less_than_idle_or_more_than_it_can(
        index: RunIndex, times_s: list[float]) -> None:
    for time_s in times_s:
        moment = index.at(time_s)
        found = index.node_powers(moment)
        assert found is not None
        power_w, _ = found
        assert power_w.sum() == pytest.approx(moment.power_w)
        assert np.all(power_w >= index.idle_w - 1e-6)
        assert np.all(power_w <= index.active_w + 1e-6)


def test_pauses_own_rates_and_common_ones_are_told_apart() -> None:
    kinds = [EventKind.START, EventKind.START, EventKind.RATE, EventKind.RATE, EventKind.PAUSE,
             EventKind.RESUME, EventKind.END, EventKind.END]
    jobs = [0, 1, -1, 0, 0, 0, 0, 1]
    # Two jobs on nodes of 10 W when idle: 110 and 60 W, then half of it, then 45 more for one.
    power_w = np.array([120.0, 170.0, 85.0, 130.0, 40.0, 90.0, 40.0, 20.0])
    free_w = np.array([10.0, 0.0, 0.0, 0.0, 10.0, 0.0, 10.0, 20.0])
    log = EventLog(np.array([0.0, 1.0, 3.0, 5.0, 6.0, 8.0, 9.0, 10.0]), np.array(kinds),
                   np.array(jobs), power_w, np.zeros(8, np.int64), np.zeros(8, np.int64),
                   np.zeros(8))
    course = Course(log, 20.0, np.array([10.0, 10.0]), free_w)
    for time_s, watts, joules in (
            (2.0, (110, 60), (220, 60)), (4.0, (55, 30), (385, 150)),
            (5.5, (100, 30), (490, 195)), (7.0, (0, 30), (540, 240)),
            (8.5, (60, 30), (570, 285))):
        found_w, found_j = course.upto(np.array([0, 1]), np.full(2, time_s))
        assert found_w == pytest.approx(watts)
        assert found_j == pytest.approx(joules)


def test_where_events_do_not_tell_it_the_mean_stands_for_it_and_the_bill_says_so(
        index: RunIndex) -> None:
    run = index.run
    schedule = replace(run.schedule, energy_j=1.5 * run.schedule.energy_j)
    other = RunIndex(replace(run, schedule=schedule))
    moment = other.at(run.start_s + 0.35 * (run.end_s - run.start_s))
    rows = moment.running
    assert other.energy_at(moment, rows) == pytest.approx(
        other.mean_w[rows] * (moment.time_s - other.start_s[rows]))
    said = " ".join(bill(other, moment, "user", None, Rates()).assumptions)
    assert f"of {len(rows)} that run only the mean power is known" in said
    assert "only the mean power" not in " ".join(
        bill(index, index.at(moment.time_s), "user", None, Rates()).assumptions)
