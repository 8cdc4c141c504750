"""Figures of a run where a bound or a missing name decides, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.run_maker import fcfs_run

from wattline.analysis.metrics import job_figures, metrics
from wattline.analysis.series import Steps, above
from wattline.model.jobs import JobTable
from wattline.model.run import LOST
from wattline.model.signal import Signal


def test_the_bounded_slowdown_is_at_least_one_and_takes_short_jobs_for_ten_seconds() -> None:
    """Four jobs one after the other on all nodes, submitted at once:

    2 s long, no wait: 2 / 10 is below one. 2 s long, over at 4: 4 / 10 too. 10 s long, over at 14:
    14 / 10. 30 s long, over at 44: 44 / 30.
    """
    run = fcfs_run(JobTable.build(submit_s=[0] * 4, run_s=[2, 2, 10, 30], procs=[4] * 4), nodes=4)
    found = job_figures(run)
    assert found.turnaround_s.tolist() == [2, 4, 14, 44]
    assert found.bounded_slowdown.tolist() == pytest.approx([1.0, 1.0, 1.4, 44 / 30])


def test_jobs_that_name_nobody_are_no_user_in_fairness() -> None:
    """Slowdowns of user 0: 1; of nobody: 95 / 10; of user 1: (135 / 50) = 2.7."""
    jobs = JobTable.build(submit_s=[0, 10, 20], run_s=[100, 5, 50], procs=[2, 4, 1],
                          user=[0, -1, 1])
    found = metrics(fcfs_run(jobs, nodes=4))
    assert found["bounded_slowdown"]["max"] == 9.5
    assert found["fairness"]["users"] == 2
    assert found["fairness"]["jain"] == pytest.approx((1 + 2.7) ** 2 / (2 * (1 + 2.7**2)))
    assert found["fairness"]["max_over_mean"] == pytest.approx(2.7 / 1.85)


def test_energy_times_delay_takes_the_time_to_the_last_end() -> None:
    """One node of 250 W beside three idle ones for 100 s, 55,000 J; the log goes on until 300 s."""
    run = replace(fcfs_run(JobTable.build(submit_s=[0], run_s=[100], procs=[1]), nodes=4),
                  end_s=300.0)
    found = metrics(run)
    assert found["makespan_s"] == 100.0
    assert found["edp_js"] == 55_000.0 * 100.0
    assert found["power_w"]["mean"] == pytest.approx(55_000.0 / 300.0)


@pytest.mark.parametrize(("power_w", "found"), [
    (999.0, (0.0, 0.0)), (1000.0, (0.0, 0.0)), (1000.0000001, (0.0, 0.0)), (1001.0, (10.0, 10.0))])
def test_power_is_above_a_limit_from_more_than_rounding_on(
    power_w: float, found: tuple[float, float]
) -> None:
    """For ten seconds, against 1,000 W; the joules are those in excess."""
    steps = Steps(np.array([0.0, 10.0]), np.array([power_w]))
    assert above(steps, Signal.constant(1000.0, "W")) == pytest.approx(found)


def test_turnarounds_and_slowdowns_are_of_jobs_that_were_not_lost() -> None:
    """Of jobs that are over at 100 s and 105 s the second was lost: it was served all the same."""
    run = fcfs_run(JobTable.build(submit_s=[0, 0], run_s=[100, 5], procs=[4, 4]), nodes=4)
    lost = np.array([int(run.schedule.outcome[0]), min(LOST)])
    found = metrics(replace(run, schedule=replace(run.schedule, outcome=lost)))
    assert found["turnaround_s"]["max"] == 100.0
    assert found["bounded_slowdown"]["max"] == 1.0
    assert found["wait_s"]["max"] == 100.0
