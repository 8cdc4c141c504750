"""Conservative backfilling against its definition, second by second on an array."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.thinned import crossed
from tests.support.workloads import compose

from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.policies.backfill.conservative import Conservative

UNITS, JOBS = 16, 40
SIZES = {"few kinds": (1, 4, 16), "all kinds": tuple(range(1, UNITS + 1))}
LIMITS_S = {"few kinds": (20, 60), "all kinds": tuple(range(1, 90))}
SHORTEST = {"ends early": 0.05, "ends in time": 1.0}
"""The least part of its requested time that a job runs for."""


def by_definition(submit_s, units, requested_s, run_s):
    """Starts, by free units of every second: a plan for all, moved up whenever a job ends early."""
    free = np.full(int(submit_s[-1] + requested_s.sum()) + 2, UNITS)
    planned: dict[int, int] = {}
    ends: dict[int, int] = {}
    start_s = np.zeros(len(units))

    def hold(job, from_s, sign):
        free[from_s : from_s + requested_s[job]] -= sign * units[job]

    def first_time(job, from_s):
        while (free[from_s : from_s + requested_s[job]] < units[job]).any():
            from_s += 1
        return from_s

    for now in range(len(free)):
        early = False
        for job in [job for job, end_s in ends.items() if end_s == now]:
            free[now : int(start_s[job]) + requested_s[job]] += units[job]
            early |= run_s[job] < requested_s[job]
            del ends[job]
        waiting = sorted(planned, key=lambda job: (planned[job], job)) if early else []
        for job in waiting:
            hold(job, planned[job], -1)
            planned[job] = first_time(job, now)
            hold(job, planned[job], 1)
        for job in np.flatnonzero(submit_s == now).tolist():
            planned[job] = first_time(job, now)
            hold(job, planned[job], 1)
        for job in [job for job, time_s in planned.items() if time_s == now]:
            start_s[job] = now
            ends[job] = now + run_s[job]
            del planned[job]
    return start_s


@pytest.mark.parametrize(("sizes", "limits", "runs", "seed"), crossed(
    list(SIZES), list(LIMITS_S), list(SHORTEST), range(3), later=pytest.mark.long, together=2))
def test_starts_are_those_of_the_definition(sizes: str, limits: str, runs: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    units = random.choice(SIZES[sizes], JOBS)
    requested_s = random.choice(LIMITS_S[limits], JOBS)
    run_s = np.maximum(np.floor(requested_s * random.uniform(SHORTEST[runs], 1.0, JOBS)), 1)
    submit_s = np.sort(random.integers(0, 300, JOBS))
    jobs = JobTable.build(submit_s=submit_s, run_s=run_s, procs=units, requested_s=requested_s)
    found = simulate(jobs, Machine.uniform(UNITS), compose(backfill=Conservative()))
    expected = by_definition(submit_s, units, requested_s, run_s.astype(int))
    assert found.schedule.start_s.tolist() == expected.tolist()
    assert (expected > submit_s).any()  # some had to wait
