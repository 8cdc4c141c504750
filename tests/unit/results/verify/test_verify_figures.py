"""Figures that are printed of a run, held to its records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.run_maker import fcfs_run

from wattline.analysis.metrics import metrics
from wattline.analysis.result import verify as verify_folder
from wattline.analysis.rundir import write
from wattline.model.jobs import JobTable
from wattline.model.signal import Signal
from wattline.results.verify.judge import verify

JOBS = JobTable.build(submit_s=[0.0, 0.0, 1.0], run_s=[2.0, 20.0, 20.0], procs=[1, 2, 2],
                      user=[0, 1, 1])
"""On two nodes: job 1 runs from 0 to 2 s, job 2 from 2 to 22 s, job 3 from 22 to 42 s."""


def test_the_bounded_slowdown_is_at_least_one() -> None:
    """2 s of ten count as one; 22 s of 20 are 1.1; 41 s of 20 are 2.05: the mean is 4.15 / 3."""
    run = fcfs_run(JOBS, nodes=2)
    told = metrics(run)
    assert told["bounded_slowdown"]["mean"] == pytest.approx(4.15 / 3)
    assert verify(run, told).findings == ()
    unbounded = {**told, "bounded_slowdown": {**told["bounded_slowdown"], "mean": 3.35 / 3}}
    found, = verify(run, unbounded).findings
    assert (found.rule, found.job) == ("metrics", None)
    assert found.sentence.startswith("the metric bounded_slowdown.mean is 1.116666")


@pytest.mark.parametrize("name", [
    "wait_s.p95", "turnaround_s.max", "makespan_s", "utilisation", "energy_j", "job_energy_j",
    "power_w.mean", "power_w.peak", "fairness.jain", "jobs.completed", "edp_js"])
def test_each_figure_is_worked_out_again(name: str) -> None:
    run = fcfs_run(JOBS, nodes=2)
    told: dict[str, Any] = json.loads(json.dumps(metrics(run)))
    at, *path = name.split(".")
    part = told[at] if path else told
    part[path[0] if path else at] *= 1.001
    assert [each.sentence.split()[2] for each in verify(run, told).findings] == [name]


@pytest.mark.parametrize("name", ["time_above_cap_s", "energy_above_cap_j"])
def test_time_and_energy_above_the_cap_are_held_to_the_run(name: str) -> None:
    run = fcfs_run(JOBS, nodes=2, cap_w=Signal.constant(400.0))
    told = metrics(run)
    assert verify(run, told).findings == ()
    found, = verify(run, {**told, name: told[name] + 1.0}).findings
    assert found.sentence.startswith(f"the metric {name} is ")


def test_jobs_that_did_not_run_are_counted_again() -> None:
    run = fcfs_run(JOBS, nodes=2)
    told = metrics(run)
    found, = verify(run, {**told, "jobs": {**told["jobs"], "not_run": 1}}).findings
    assert found.sentence == "the metric jobs.not_run is 1, the records give 0"


@pytest.mark.parametrize(("table", "name"), [
    ("by_size", "unit_s"), ("by_size", "jobs"), ("by_user", "share"), ("by_user", "energy_j"),
    ("by_class", "nodes"), ("by_class", "busy"), ("by_class", "energy_j")])
def test_figures_of_groups_are_worked_out_again(table: str, name: str) -> None:
    run = fcfs_run(JOBS, nodes=2)
    told: dict[str, Any] = json.loads(json.dumps(metrics(run)))
    told[table][0][name] *= 2
    found, = verify(run, told).findings
    assert found.sentence.startswith(f"the metric {table}.")
    assert f".{name} is " in found.sentence


@pytest.mark.parametrize("table", ["by_size", "by_user", "by_class"])
def test_a_group_that_is_left_out_is_reported(table: str) -> None:
    run = fcfs_run(JOBS, nodes=2)
    told = metrics(run)
    found, = verify(run, {**told, table: told[table][1:]}).findings
    assert found.sentence.startswith(f"{table} has ")


def test_figures_that_a_folder_does_not_have_are_not_judged() -> None:
    run = fcfs_run(JOBS, nodes=2)
    told = metrics(run)
    del told["utilisation"]
    found = verify(run, told)
    assert found.findings == ()
    assert [each.why for each in found.skipped if each.rule == "metrics"] == [
        "the run tells no figure 'utilisation'"]


def test_the_figures_of_a_folder_are_judged(tmp_path: Path) -> None:
    run = fcfs_run(JOBS, nodes=2)
    folder = write(run, tmp_path / "good")
    assert verify_folder(folder).findings == ()
    wrong = metrics(run)
    wrong["makespan_s"] += 1.0
    found, = verify_folder(write(run, tmp_path / "wrong", wrong)).findings
    assert found.sentence == "the metric makespan_s is 43.0, the records give 42.0"
