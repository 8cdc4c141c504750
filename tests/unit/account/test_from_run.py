"""Records of a run: every joule of every job is in its power over time."""

import numpy as np
import pytest
from tests.unit.analysis.run_maker import ACTIVE_W, fcfs_run, some_jobs

from wattline.account.from_run import records_of


def test_power_over_time_holds_the_joules_of_each_job():
    run = fcfs_run(some_jobs(60))
    records = list(records_of(run))
    assert len(records) == 60
    for record in records:
        assert record.quality == "simulated"
        total = sum(s.power_w.integral(s.start_s, s.end_s) for s in record.steps)
        assert total == pytest.approx(record.energy_j, rel=1e-6)
        assert record.steps[0].power_w.value[0] == pytest.approx(record.nodes * ACTIVE_W)
    assert {r.user for r in records} == {"ada", "bob", "chi", "dan", "eve"}


def test_the_sum_of_the_records_is_the_sum_of_the_run():
    run = fcfs_run(some_jobs(60))
    total = sum(record.energy_j for record in records_of(run))
    assert total == pytest.approx(float(np.nansum(run.schedule.energy_j)))


def test_without_placement_no_node_is_named():
    run = fcfs_run(some_jobs(5), placed=False)
    assert all(record.first_node == -1 for record in records_of(run))
