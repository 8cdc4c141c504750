"""Metrics worked out by hand."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from tests.support.run_maker import fcfs_run, some_jobs

from wattline.analysis.metrics import metrics, quantiles, size_class, size_label, spread
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.run import EventLog, Placement, Run, Schedule

# Four nodes, 100 W idle and 250 W active each.
#
#   job  submit  run  nodes  user    starts  ends
#    1      0    100    2      0        0     100
#    2     10      5    4      1      100     105   waits 90, (90 + 5) / 10 = 9.5
#    3     20     50    1      0      105     155   waits 85, 135 / 50 = 2.7
#    4     30     10    9      1        -       -   larger than the machine
#
# Makespan 155 s. Used: 200 + 20 + 50 = 270 unit-seconds of 620. Power: 700 W for 100 s, 1000 W for
# 5 s, 550 W for 50 s: 70,000 + 5,000 + 27,500 = 102,500 J.
HAND = JobTable.build(
    submit_s=[0, 10, 20, 30], run_s=[100, 5, 50, 10], procs=[2, 4, 1, 9], user=[0, 1, 0, 1]
)


def test_metrics_by_hand() -> None:
    found = metrics(fcfs_run(HAND, nodes=4))
    assert found["jobs"] == {"total": 4, "not_run": 1, "completed": 3, "killed": 0}
    assert found["wait_s"]["mean"] == pytest.approx(175 / 3)
    assert found["wait_s"]["p50"] == 85
    assert found["wait_s"]["max"] == 90
    assert found["wait_s"]["p95"] == pytest.approx(85 + 0.9 * 5)
    assert found["turnaround_s"]["mean"] == pytest.approx((100 + 95 + 135) / 3)
    assert found["bounded_slowdown"]["mean"] == pytest.approx((1 + 9.5 + 2.7) / 3)
    assert found["makespan_s"] == 155
    assert found["utilisation"] == pytest.approx(270 / 620)
    assert found["energy_j"] == 102_500
    assert found["edp_js"] == 102_500 * 155
    assert found["power_w"]["mean"] == pytest.approx(102_500 / 155)
    assert found["power_w"]["peak"] == 1000
    assert found["job_energy_j"] == 250 * 270


def test_fairness_by_hand() -> None:
    """User 0 has a mean slowdown of (1 + 2.7) / 2 = 1.85, user 1 one of 9.5."""
    fairness = metrics(fcfs_run(HAND, nodes=4))["fairness"]
    assert fairness["users"] == 2
    assert fairness["jain"] == pytest.approx((1.85 + 9.5) ** 2 / (2 * (1.85**2 + 9.5**2)))
    assert fairness["max_over_mean"] == pytest.approx(9.5 / ((1.85 + 9.5) / 2))


def test_breakdowns_add_up() -> None:
    run = fcfs_run(some_jobs(400))
    found = metrics(run)
    for part in ("by_size", "by_user"):
        assert sum(row["jobs"] for row in found[part]) == found["jobs"]["completed"]
        assert sum(row["share"] for row in found[part]) == pytest.approx(1.0)
        assert sum(row["energy_j"] for row in found[part]) == pytest.approx(found["job_energy_j"])
    assert [row["nodes"] for row in found["by_size"]] == ["1", "2", "3-4", "5-8", "9-16"]
    assert {row["user"] for row in found["by_user"]} == {"ada", "bob", "chi", "dan", "eve"}
    used = [row["unit_s"] for row in found["by_user"]]
    assert used == sorted(used, reverse=True)


def test_size_classes() -> None:
    assert size_class(np.array([1, 2, 3, 4, 5, 8, 9, 1024, 1025])).tolist() == [
        0, 1, 2, 2, 3, 3, 4, 10, 11]
    assert [size_label(code) for code in range(5)] == ["1", "2", "3-4", "5-8", "9-16"]


def test_no_job_ran() -> None:
    found = metrics(fcfs_run(JobTable.build(submit_s=[5], run_s=[10], procs=[99])))
    assert found["jobs"] == {"total": 1, "not_run": 1, "completed": 0, "killed": 0}
    assert math.isnan(found["wait_s"]["mean"])
    assert math.isnan(found["makespan_s"])
    assert found["by_size"] == []
    assert found["fairness"]["users"] == 0


def test_use_by_node_class_comes_from_the_placement() -> None:
    """One job for 10 s on nodes 1 and 2: one small, one large of two small and three large."""
    machine = Machine((NodeGroup(NodeClass("small"), 2), NodeGroup(NodeClass("large"), 3)))
    one = np.ones(1, dtype=np.int64)
    run = Run(
        jobs=JobTable.build(submit_s=[0], run_s=[10], procs=[2]),
        schedule=Schedule(np.array([0.0]), np.array([10.0]), 2 * one, np.array([6000.0]), one,
                          0 * one),
        events=EventLog(np.array([0.0, 0.0, 10.0]), np.array([5, 8, 0]), np.zeros(3, np.int64),
                        np.array([450.0, 870.0, 450.0]), np.array([0, 2, 0]),
                        np.array([1, 0, 0]), np.zeros(3)),
        machine=machine, units=5, start_s=0.0, end_s=10.0, energy_j=8700.0,
        class_energy_j={"small": 3900.0, "large": 4800.0}, time_above_cap_s=0.0,
        energy_above_cap_j=0.0, power_w_peak=870.0, placement=Placement(0 * one, one, 2 * one),
    )
    small, large = metrics(run)["by_class"]
    assert (small["nodes"], small["busy"]) == (2, pytest.approx(0.5))
    assert (large["nodes"], large["busy"]) == (3, pytest.approx(1 / 3))
    # The job has a node of either class, so it counts in both.
    assert [row["jobs"] for row in (small, large)] == [1, 1]
    assert [row["turnaround_s"]["mean"] for row in (small, large)] == [10.0, 10.0]


def test_class_figures_are_of_the_jobs_that_ran_there() -> None:
    """One node each: job 0 runs on the fast one at once; jobs 1 and 2 share the slow one."""
    machine = Machine((NodeGroup(NodeClass("fast"), 1), NodeGroup(NodeClass("slow"), 1)))
    jobs = JobTable.build(submit_s=[0, 0, 0], run_s=[30, 10, 20], procs=[1, 1, 1])
    start_s, node = np.array([0.0, 0.0, 10.0]), np.array([0, 1, 1])
    one = np.ones(3, dtype=np.int64)
    run = Run(
        jobs=jobs,
        schedule=Schedule(start_s, start_s + jobs.run_s, one, 100.0 * jobs.run_s, one, 0 * one),
        events=EventLog(*(np.zeros(0) for _ in range(7))),
        machine=machine, units=2, start_s=0.0, end_s=30.0, energy_j=6000.0,
        class_energy_j={"fast": 3000.0, "slow": 3000.0}, time_above_cap_s=0.0,
        energy_above_cap_j=0.0, power_w_peak=200.0,
        placement=Placement(np.arange(3), node, one),
    )
    fast, slow = metrics(run)["by_class"]
    assert (fast["jobs"], fast["wait_s"]["max"], fast["turnaround_s"]["mean"]) == (1, 0.0, 30.0)
    assert (slow["jobs"], slow["wait_s"]["mean"], slow["turnaround_s"]["mean"]) == (2, 5.0, 20.0)
    assert slow["bounded_slowdown"]["max"] == 1.5


def test_metrics_do_not_import_pandas() -> None:
    code = "import sys, wattline.analysis.metrics; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_percentiles_are_those_of_numpy_to_the_last_digit() -> None:
    random = np.random.default_rng(1)
    for count in (1, 2, 3, 20, 101, 1000):
        values = random.lognormal(3, 2, count)
        parts = [0.0, 0.1, 0.5, 0.95, 0.99, 1.0]
        assert quantiles(values, parts) == np.quantile(values, parts).tolist()


@pytest.mark.parametrize("count", [1, 2, 3, 20, 101, 4567])
def test_percentiles_are_those_of_numpy_to_the_last_bit(count):
    drawn = np.random.default_rng(count)
    for values in (drawn.lognormal(5, 3, count), drawn.integers(0, 3, count).astype(float),
                   np.where(np.arange(count) == count // 2, np.nan, 1.0)):
        found = spread(values)
        expected = np.quantile(values, [0.5, 0.95, 0.99])
        assert np.array_equal([found["p50"], found["p95"], found["p99"]], expected, equal_nan=True)
        assert np.array_equal(found["max"], values.max(), equal_nan=True)
