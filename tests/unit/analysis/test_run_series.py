"""Series: exact, and none of the peaks is lost when there are fewer points."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.run_maker import fcfs_run, some_jobs

from wattline.analysis import series
from wattline.analysis.metrics import metrics
from wattline.analysis.series import Steps
from wattline.model.jobs import JobTable
from wattline.model.signal import Signal


def test_steps_are_what_lasted() -> None:
    """Two jobs swap at 10 s; the empty machine between them lasts no time."""
    run = fcfs_run(JobTable.build(submit_s=[0, 0], run_s=[10, 10], procs=[4, 4]), nodes=4)
    power = series.power_steps(run)
    assert power.edge_s.tolist() == [0, 10, 20]
    assert power.value.tolist() == [1000, 1000]
    assert series.queue_steps(run).value.tolist() == [1, 0]
    assert series.utilisation_steps(run).value.tolist() == [1, 1]


def test_means_agree_with_the_metrics() -> None:
    run = fcfs_run(some_jobs(500))
    found = metrics(run)
    assert series.power_steps(run).mean == pytest.approx(found["power_w"]["mean"])
    assert series.utilisation_steps(run).mean == pytest.approx(found["utilisation"])
    assert series.power_steps(run).value.max() == found["power_w"]["peak"]


@pytest.mark.parametrize("span_s", [3.0, 100.0, 5000.0])
def test_a_band_keeps_the_peaks_and_the_mean(span_s: float) -> None:
    rng = np.random.default_rng(1)
    steps = Steps(np.cumsum(rng.exponential(1.0, 1001)), rng.uniform(0, 9, 1000))
    found = series.band(steps, span_s)
    assert found.high.max() == steps.value.max()
    assert found.low.min() == steps.value.min()
    assert np.dot(found.mean, np.diff(found.edge_s)) == pytest.approx(
        np.dot(steps.value, steps.length_s))
    assert np.all((found.low <= found.mean + 1e-9) & (found.mean <= found.high + 1e-9))
    assert np.diff(found.edge_s)[:-1] == pytest.approx(span_s)
    assert found.edge_s[-1] == steps.edge_s[-1]


def test_a_short_series_stays_as_it_is() -> None:
    steps = Steps(np.array([0.0, 1.0, 3.0]), np.array([5.0, 6.0]))
    assert series.band(steps, 1.0).mean.tolist() == [5, 6]


def test_spans_are_round() -> None:
    assert series.round_span_s(86400.0, 300) == 300
    assert series.round_span_s(120 * 86400.0, 300) == 43200
    assert series.round_span_s(0.5, 300) == 1
    assert series.round_span_s(300 * 7 * 86400.0 * 3.5, 300) == 4 * 7 * 86400


def test_wait_cdf() -> None:
    jobs = JobTable.build(submit_s=[0, 0, 0], run_s=[10, 20, 5], procs=[4, 4, 4])
    wait_s, share = series.wait_cdf(fcfs_run(jobs, nodes=4))
    assert wait_s.tolist() == [0, 10, 30]
    assert share.tolist() == pytest.approx([1 / 3, 2 / 3, 1])


def test_duration_curve() -> None:
    """9 for a quarter of the time, at least 5 for three quarters, at least 1 always."""
    share, value = series.duration_curve(
        Steps(np.array([0.0, 1.0, 2.0, 4.0]), np.array([1.0, 9.0, 5.0])), most=101)
    assert np.interp([0.1, 0.24, 0.5, 0.74, 0.9], share, value).tolist() == [9, 9, 5, 5, 1]


def test_time_above_a_limit_that_steps() -> None:
    steps = Steps(np.array([0.0, 10.0, 20.0]), np.array([100.0, 300.0]))
    limit = Signal.from_steps([(0.0, 90.0), (5.0, 200.0), (15.0, 400.0)], "W")
    assert series.above(steps, limit) == (10.0, 5 * 10.0 + 5 * 100.0)


def test_above_agrees_with_the_run() -> None:
    cap = Signal.from_steps([(0.0, 3000.0), (5000.0, 2200.0), (20000.0, 2500.5)], "W")
    run = fcfs_run(some_jobs(300), cap_w=cap)
    assert series.above(series.power_steps(run), cap) == pytest.approx(
        (run.time_above_cap_s, run.energy_above_cap_j))


def test_use_by_size_adds_up() -> None:
    run = fcfs_run(some_jobs(300))
    edge_s, layers = series.use_by_size(run)
    assert [label for label, _ in layers] == ["1", "2 to 4", "5 to 8", "9 to 16"]
    total = sum(units for _, units in layers)
    used = np.dot(total, np.diff(edge_s)) / (16 * (run.end_s - run.start_s))
    assert used == pytest.approx(metrics(run)["utilisation"])
    assert np.all(total <= 16 + 1e-9)


def test_job_map_by_hand() -> None:
    """Four units, twenty seconds: job 0 on 0-1 for all, job 1 on 2-3 for the second half."""
    jobs = JobTable.build(submit_s=[0, 10], run_s=[20, 10], procs=[2, 2])
    picture = series.job_map(fcfs_run(jobs, nodes=4), columns=4, rows=400)
    assert picture is not None
    assert picture.job.tolist() == [[0] * 4, [0] * 4, [-1, -1, 1, 1], [-1, -1, 1, 1]]


def test_job_map_covers_what_was_used() -> None:
    run = fcfs_run(some_jobs(300))
    picture = series.job_map(run, columns=4000)
    assert picture is not None
    assert np.mean(picture.job >= 0) == pytest.approx(metrics(run)["utilisation"], abs=2e-3)


def test_no_job_map_without_placement() -> None:
    assert series.job_map(fcfs_run(some_jobs(5), placed=False)) is None


def test_nothing_ran() -> None:
    run = fcfs_run(JobTable.build(submit_s=[5], run_s=[10], procs=[99]))
    assert series.power_steps(run).value.tolist() == [1600]
    assert series.wait_cdf(run)[0].size == 0
    assert series.use_by_size(run)[1] == []
    assert series.duration_curve(series.power_steps(run))[1].max() == 1600
