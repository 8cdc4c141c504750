"""Averages of waits, CPUs in use and the complete stretch of a log, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from wattline.twin.check import MANY_JOBS, PHASES, phase_shifts, phases_of
from wattline.twin.complete import Stretch, complete_stretch
from wattline.twin.figures import cpu_seconds, series_of


def test_jobs_at_both_ends_of_a_window_count_in_its_average() -> None:
    """Over a log of 100 s a window is 10 s long. Around 0 s it has the jobs of 0 and 5 s, around
    100 s those of 95 and 100 s."""
    series = series_of(np.array([0.0, 5.0, 95.0, 100.0]), np.array([10.0, 20.0, 30.0, 50.0]), None)
    assert series.window_s == 10.0
    assert (series.simulated_s[0], series.simulated_s[-1]) == (15.0, 40.0)


@pytest.mark.parametrize(("start_s", "end_s", "suspended_s", "used"), [
    (0.0, 100.0, 0.0, 0.5), (0.0, 100.0, 50.0, 0.25), (50.0, 150.0, 0.0, 0.25),
    (50.0, 150.0, 25.0, 0.1875), (-100.0, 20.0, 0.0, 0.1), (150.0, 200.0, 0.0, 0.0)])
def test_cpus_are_in_use_within_the_time_that_is_looked_at_and_not_while_a_job_is_suspended(
    start_s: float, end_s: float, suspended_s: float, used: float
) -> None:
    """A job has 4 of 8 CPUs; the time is from 0 to 100 s. Of a job with 25 s of 100 s suspended
    three quarters of the 50 s inside count."""
    columns = [np.array([value]) for value in (start_s, end_s, suspended_s, 4.0)]
    assert cpu_seconds(*columns, 8, 0.0, 100.0) == pytest.approx(used)


def test_the_first_and_the_last_second_of_a_stretch_belong_to_it() -> None:
    found = Stretch(10.0, 20.0).has(np.array([9.9, 10.0, 15.0, 20.0, 20.1]))
    assert found.tolist() == [False, True, True, True, False]


def test_a_short_job_among_long_ones_does_not_tell_that_the_log_begins_at_its_first_end() -> None:
    """120 jobs of a CPU start every 100 s and run 1,000 s, one of them 500 s. Of the ten that start
    before the first end, at 1,000 s, five would have had the time of the short one: of 120, that
    says nothing. A tenth of what is in use is missing until 119 x (1,000 - d) = 119,500 / 10."""
    start_s = 100.0 * np.arange(120)
    run_s = np.full(120, 1000.0)
    run_s[60] = 500.0
    found = complete_stretch(start_s, start_s, start_s + run_s, np.ones(120), None)
    assert found is not None
    lag_s = 1000.0 - 11950.0 / 119
    assert found.first_s == pytest.approx(lag_s)
    assert found.last_s == pytest.approx(11900.0 + 1000.0 - lag_s)


@pytest.mark.parametrize(("backfill_s", "main_s", "shifts_s"), [
    (30.0, 60.0, [5.0, 25.0, 45.0]), (90.0, 60.0, [5.0, 35.0, 65.0]),
    (0.0, 0.0, [5.0, 5.0 + 1 / 3, 5.0 + 2 / 3])])
def test_phases_are_spread_over_the_longer_of_the_two_loops(
    backfill_s: float, main_s: float, shifts_s: list[float]
) -> None:
    """From the scenario's own phase of 5 s on, in thirds, of a second at least."""
    loops = SimpleNamespace(bf_interval_s=backfill_s, sched_interval_s=main_s)
    ready = SimpleNamespace(slurm=loops,
                            scenario=SimpleNamespace(twin=SimpleNamespace(phase_s=5.0)))
    assert phase_shifts(ready, 3) == pytest.approx(shifts_s)


def test_a_log_of_very_many_jobs_is_simulated_at_one_phase_unless_more_are_asked_for() -> None:
    assert [phases_of(None, jobs) for jobs in (1, MANY_JOBS, MANY_JOBS + 1)] == [PHASES, PHASES, 1]
    assert phases_of(3, MANY_JOBS + 1) == 3
