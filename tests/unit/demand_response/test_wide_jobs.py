"""QoSCap keeps servers for a wide job that is due; narrow ones go on beside it or before it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wattline.demand_response.case import Case
from wattline.demand_response.run import run_contract
from wattline.grid.workloads import JobType, Workload, job_table
from wattline.model.signal import Signal
from wattline.studies.regulation.long_jobs import LongResult

NARROW = JobType("narrow", 1, 60.0, 200.0, 60.0, 150.0, 50.0)
WIDE = JobType("wide", 4, 30.0, 200.0, 30.0, 150.0, 1.0)


def test_a_wide_job_that_is_due_is_not_starved_by_narrow_ones() -> None:
    load = Workload("mix", (NARROW, WIDE), 4, 100.0)
    # A narrow job every 15 s keeps all four servers busy, never four of them free at once.
    submit_s = np.append(15.0 * np.arange(40), 60.0)
    code = np.append(np.zeros(40, dtype=np.int64), 1)
    jobs = job_table(load, submit_s, code, 0.0, 600.0)
    case = Case(load, jobs, Signal.constant(0.0), policy="qoscap", duration_s=600.0, cycle_s=1.0)
    wide = int(np.flatnonzero(jobs.application == 1)[0])
    kept, starved = (run_contract(replace(case, reserve=reserve), None).run.schedule
                     for reserve in (True, False))
    assert np.isnan(starved.start_s[wide]) or starved.start_s[wide] > 550
    assert kept.start_s[wide] < 160
    # Those that are gone before it, or run beside it, were not held up for longer than that.
    narrow = np.flatnonzero(jobs.application == 0)[:20]
    assert np.nanmax(kept.start_s[narrow] - jobs.submit_s[narrow]) < 120


def test_a_day_that_is_broken_without_a_contract_is_not_held_against_it() -> None:
    row = LongResult(2.0, 0.9, "qoscap", "adaptive", 0.01, 12.0, 1.0, 0.1, False, 11.0)
    assert row.verdict == "broken without a contract"
    assert replace(row, degradation_alone=0.5).verdict == "not met"
    assert replace(row, degradation_alone=0.5, degradation=1.0, met=True).verdict == "met"
