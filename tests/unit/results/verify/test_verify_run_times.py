"""Units and run times of jobs on whole nodes, held to what their records say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.support.run_maker import changed
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.placement.first_fit import FirstFit
from wattline.results.verify.judge import verify

NODE = NodeClass(cores=4, power_w_idle=100.0, power_w_active=300.0)
JOBS = JobTable.build(submit_s=[0, 0, 5], run_s=[10, 20, 30], requested_s=[20, 15, 30],
                      procs=[4, 5, 1])
"""On nodes of 4 cores: 1, 2 and 1 nodes; the second asks for less time than it needs."""
HALF = Dvfs(speed=np.array([0.5, 1.0]), power_factor=np.array([0.5, 1.0]))


def judged(run: Run, rule: str) -> list[str]:
    return [each.sentence for each in verify(run).findings if each.rule == rule]


def with_jobs(run: Run, name: str, row: int, value: Any) -> Run:
    values = getattr(run.jobs, name).copy()
    values[row] = value
    return replace(run, jobs=run.jobs.with_columns(**{name: values}))


def plain(overrun: Any = "extend") -> Run:
    run = simulate(JOBS, Machine.uniform(4, NODE), compose(), Rules(overrun=overrun))
    return replace(run, scenario={"policy": {"overrun": overrun}})


def test_units_are_the_whole_nodes_that_hold_the_processors() -> None:
    run = plain()
    assert run.schedule.nodes.tolist() == [1, 2, 1]
    assert verify(run).findings == ()
    assert judged(with_jobs(run, "procs", 2, 5), "jobs.units") == [
        "jobs 3 ran on another number of units than they asked for"]
    assert judged(with_jobs(run, "procs", 2, 4), "jobs.units") == []


def test_units_are_processors_where_jobs_get_cores() -> None:
    run = simulate(JOBS, Machine.uniform(4, NODE), compose(), Rules(granularity="core"))
    assert run.schedule.nodes.tolist() == [4, 5, 1]
    assert judged(run, "jobs.units") == []
    assert judged(with_jobs(run, "procs", 2, 2), "jobs.units") != []


@pytest.mark.parametrize(("run_s", "sentence"), [
    (300, "jobs 3 end before their work is done"), (31, "jobs 3 end before their work is done"),
    (29, "jobs 3 run on when their work is done")])
def test_a_job_runs_as_long_as_its_log_says(run_s: float, sentence: str) -> None:
    run = plain()
    assert judged(run, "jobs.run-times") == []
    assert judged(with_jobs(run, "run_s", 2, run_s), "jobs.run-times") == [sentence]


def test_a_killed_job_ends_at_the_time_that_it_asked_for() -> None:
    run = plain("kill")
    assert (run.schedule.end_s - run.schedule.start_s).tolist() == [10, 15, 30]
    assert verify(run).findings == ()
    assert judged(with_jobs(run, "requested_s", 1, 16), "jobs.run-times") == [
        "jobs 2 end before their work is done"]
    lenient = replace(run, scenario={"policy": {"overrun": "extend"}})
    assert judged(lenient, "jobs.run-times") == [
        "jobs 2 were killed, though jobs may run longer than they asked for"]


def test_nobody_runs_past_his_request_where_jobs_are_killed() -> None:
    strict = replace(plain("extend"), scenario={"policy": {"overrun": "kill"}})
    assert judged(strict, "jobs.run-times") == [
        "jobs 2 ran longer than they asked for, and were not killed"]


def test_a_job_takes_the_speed_of_its_slowest_node() -> None:
    """Nodes 0 and 1 are twice as fast: of 10, 20 and 30 s these are 5, 20 and 15 s where job 2 has
    nodes 1 and 2, and job 3 node 0."""
    machine = Machine((NodeGroup(replace(NODE, name="fast", speed=2.0), 2), NodeGroup(NODE, 2)))
    run = simulate(JOBS, machine, compose(placement=FirstFit()), Rules(choose_nodes=True))
    assert (run.schedule.end_s - run.schedule.start_s).tolist() == [5, 20, 15]
    assert judged(run, "jobs.run-times") == []
    assert judged(with_jobs(run, "run_s", 0, 10.1), "jobs.run-times") == [
        "jobs 1 end before their work is done"]
    assert [each.why for each in verify(replace(run, placement=None)).skipped
            if each.rule == "jobs.run-times"] == [
        "nodes differ in speed, and the run does not name those of its jobs"]


def test_work_is_the_common_speed_over_time() -> None:
    """4 nodes draw 1,000 W with 3 busy, which the cap of 900 W has not: half speed until 20 s."""
    cap_w = Signal.from_steps([(0.0, 900.0), (20.0, 2000.0)], "W")
    run = simulate(JOBS, Machine.uniform(4, NODE), compose(admission=HALF), Rules(cap_w=cap_w))
    assert (run.schedule.end_s[0], run.schedule.end_s[1]) == (20.0, 30.0)
    assert judged(run, "jobs.run-times") == []
    assert judged(with_jobs(run, "run_s", 1, 19.9), "jobs.run-times") == [
        "jobs 2 run on when their work is done"]
    assert judged(with_jobs(run, "run_s", 1, 20.1), "jobs.run-times") == [
        "jobs 2 end before their work is done"]


def test_where_nobody_says_how_fast_jobs_run_it_is_said() -> None:
    run = plain()
    silent = replace(run, promises=replace(run.promises, full_speed=False, queue=None))
    assert [each.why for each in verify(silent).skipped if each.rule == "jobs.run-times"] == [
        "the run does not say how fast its jobs ran"]


def test_a_log_whose_times_are_halved_is_found() -> None:
    """The ends move with it, in the table and in the log: no other rule of times sees it."""
    run = plain()
    short = simulate(JOBS.with_columns(run_s=JOBS.run_s / 2), Machine.uniform(4, NODE), compose(),
                     Rules())
    swapped = replace(short, jobs=run.jobs)
    assert judged(swapped, "jobs.run-times") == ["jobs 1, 2, 3 end before their work is done"]
    assert judged(changed(run, "schedule", nodes=run.schedule.nodes * 2), "jobs.units") != []
