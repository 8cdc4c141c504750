"""Pausing and resuming jobs: the power stays that of the jobs which run, whatever is decided."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.examples import seeds

from wattline.demand_response.case import Case
from wattline.demand_response.run import ContractRun, run_contract
from wattline.grid.market import Bid
from wattline.grid.signals import generate
from wattline.grid.workloads import JobType, Workload, poisson_jobs

SERVERS, IDLE_W, HIGHEST_W = 20, 100.0, 250.0


def _type(name: str, servers: int, time_s: float) -> JobType:
    """Jobs that caps can hardly slow: only pausing them follows a low target."""
    return JobType(
        name=name, servers=servers, time_s_min=time_s, time_s_max=time_s + 1,
        power_w_max=HIGHEST_W, power_w_min=HIGHEST_W - 1, threshold=5.0,
    )


def _run(policy: str, seed: int, *types: JobType) -> ContractRun:
    rng = np.random.default_rng(seed)
    load = Workload("own", types, SERVERS, IDLE_W, 0.9)
    signal = generate(rng, 400.0, correlation_s=40.0)
    case = Case(load, poisson_jobs(load, 400.0, rng), signal, policy=policy, duration_s=400.0,
                preempt=True)
    return run_contract(case, Bid(3400.0, 1300.0))


@pytest.mark.parametrize("policy", ["aqa", "qoscap", "tracking"])
def test_power_is_that_of_the_running_jobs_under_preemption(policy: str) -> None:
    pauses = resumes = 0
    drawn = seeds(1)
    for seed in drawn:
        run = _run(policy, 1 + seed, _type("one", 1, 60), _type("four", 4, 90)).run
        events = run.events
        pauses += int((events.kind == 1).sum())
        resumes += int((events.kind == 9).sum())
        assert events.power_w.min() >= SERVERS * IDLE_W - 1e-6
        assert events.power_w.max() <= SERVERS * HIGHEST_W + 1e-6
        # All jobs draw 249 to 250 W a server.
        extra_w = events.power_w - SERVERS * IDLE_W
        assert np.all(extra_w <= 150 * events.busy + 1e-6)
        assert np.all(extra_w >= 149 * events.busy - 1e-6)
        span_s = np.diff(events.time_s)
        drawn_j = float(events.power_w[:-1] @ span_s)
        idle_j = float((SERVERS - events.busy[:-1]) @ span_s) * IDLE_W
        assert float(run.schedule.energy_j.sum()) + idle_j == pytest.approx(drawn_j, rel=1e-9)
    assert pauses > 4 * len(drawn)
    assert resumes > 4 * len(drawn)


@pytest.mark.parametrize("policy", ["aqa", "tracking"])
def test_new_jobs_do_not_take_the_room_that_a_paused_job_waits_for(policy: str) -> None:
    found = _run(policy, 5, _type("one", 1, 60), _type("four", 4, 90))
    jobs, events = found.case.jobs, found.run.events
    paused: set[int] = set()
    wide_resumes = held_s = 0.0
    for time_s in np.unique(events.time_s):
        rows = np.flatnonzero(events.time_s == time_s)
        resumed = {int(events.job[r]) for r in rows if events.kind[r] == 9}
        wide_resumes += sum(int(jobs.procs[j]) == 4 for j in resumed)
        waiting = paused - resumed
        held_s += bool(waiting)
        for row in rows[events.kind[rows] == 8]:
            job = int(events.job[row])
            near = (time_s - jobs.submit_s[job]) / jobs.run_s[job] / 5.0
            assert not waiting or near >= 0.9, (time_s, job)
        paused = waiting | {int(events.job[r]) for r in rows if events.kind[r] == 1}
    assert wide_resumes > 0
    assert held_s > 10
