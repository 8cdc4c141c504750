"""A run by accounting and by the emulator's log."""

from __future__ import annotations

import math

from wattline.controller.testbed.accounted import Accounted, longest_above, worked_jobs
from wattline.controller.testbed.workload import BedJob

TEXT = """1|COMPLETED|2026-11-16T06:00:00|2026-11-16T06:00:01|2026-11-16T06:00:05|1000
2|NODE_FAIL|2026-11-16T06:00:00|2026-11-16T06:00:01|2026-11-16T06:00:05|10
2|COMPLETED|2026-11-16T06:00:00|2026-11-16T06:00:11|2026-11-16T06:00:15|500
3|COMPLETED|2026-11-16T06:00:00|2026-11-16T06:00:01|2026-11-16T06:00:05|1
3|COMPLETED|2026-11-16T06:00:00|2026-11-16T06:00:11|2026-11-16T06:00:15|1
4|CANCELLED by 0|2026-11-16T06:00:00|None|2026-11-16T06:00:05|
"""


def test_lost_doubled_and_requeued_jobs_are_told_apart() -> None:
    found = Accounted.read(TEXT, {label: BedJob(int(label), 0.0, 4.0, 60.0, 1, 200.0)
                                  for label in ("1", "2", "3", "4", "5")})
    assert found.lost == ("4", "5")
    assert found.doubled == ("3",)
    assert found.requeued == ("2", "3")
    assert found.begun_s["2"] - found.begun_s["1"] == 10.0
    assert found.energy_error({"1.0": 1020.0, "2.0": 1.0}) == abs(1000 / 1020 - 1)


def test_a_job_that_slurm_ended_at_its_own_limit_is_not_lost() -> None:
    """One that had room for its work, and ran into its limit all the same, is."""
    row = "|TIMEOUT|2026-11-16T06:00:00|2026-11-16T06:00:01|2026-11-16T06:01:23|1"
    text = f"1{row}\n2{row}\n"
    jobs = {"1": BedJob(1, 0.0, 200.0, 60.0, 1, 250.0), "2": BedJob(2, 0.0, 40.0, 60.0, 1, 250.0)}
    found = Accounted.read(text, jobs)
    assert (found.timed_out, found.lost) == (("1",), ("2",))
    assert found.ended_s["1"] - found.begun_s["1"] == 82.0


def test_the_longest_time_above_a_cap_that_changes() -> None:
    curve = [(0.0, 5.0), (10.0, 9.0), (20.0, 5.0)]
    assert longest_above(curve, 8.0) == 10.0
    assert longest_above(curve, [(-math.inf, 10.0), (17.0, 8.0)]) == 3.0
    assert longest_above(curve, [(-math.inf, 10.0), (25.0, 1.0)]) == 0.0


def test_a_job_has_worked_where_one_life_of_this_run_did_all_of_it() -> None:
    log = [{"time_s": 1.0, "power_w": 90.0},
           {"job": "4.0", "start_s": 12.0, "end_s": 14.0, "done": False},
           {"job": "4.1", "start_s": 15.0, "end_s": 19.0, "done": True},
           {"job": "5.0", "start_s": 12.0, "end_s": 13.0, "done": False},
           {"job": "6.0", "start_s": 2.0, "end_s": 5.0, "done": True}]  # of a run before
    assert worked_jobs(log, 10.0) == {"4"}
