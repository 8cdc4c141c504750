"""Records of a run: every joule of every job is in its power over time."""

from dataclasses import replace

import numpy as np
import pytest
from tests.support.run_maker import ACTIVE_W, fcfs_run, some_jobs

from wattline.account.from_run import records_of
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.promises import Frequencies, Promises
from wattline.model.run import Placement


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


def test_what_a_job_allows_its_cores_is_in_khz_and_empty_for_any():
    run = fcfs_run(some_jobs(4))
    assert {record.asked_frequency for record in records_of(run)} == {""}
    low = np.array([1e9, 0.0, 2e9, 1.2e9])
    high = np.array([1.6e9, np.inf, 2e9, 2e9])
    ladder = Frequencies(np.array([1e9, 2e9]), np.array([0.5, 1.0]), np.array([0.5, 1.0]), low,
                         high, 0.0)
    asked = replace(run, promises=Promises(frequencies=ladder))
    found = {record.job_id: record.asked_frequency for record in records_of(asked)}
    assert [found[int(job)] for job in run.jobs.job_id] == [
        "1000000-1600000", "", "2000000", "1200000-2000000"]


def test_without_placement_no_node_is_named():
    run = fcfs_run(some_jobs(5), placed=False)
    assert all(record.node_list == "" for record in records_of(run))


def placed(rows, *, machine, units, sizes):
    """A run whose jobs held the units in rows of (job, first, count)."""
    run = fcfs_run(some_jobs(len(sizes)), placed=True)
    job, first, count = (np.array(column) for column in zip(*rows, strict=True))
    schedule = replace(run.schedule, nodes=np.array(sizes))
    return replace(run, schedule=schedule, machine=machine, units=units,
                   placement=Placement(job, first, count))


def test_scattered_nodes_are_all_named():
    machine = Machine.uniform(16, NodeClass(cores=4))
    run = placed([(0, 0, 3), (1, 3, 1), (0, 7, 1), (2, 12, 2), (2, 10, 2)],
                 machine=machine, units=16, sizes=[4, 1, 4])
    records = list(records_of(run))
    assert [record.node_list for record in records] == ["n[0-2,7]", "n3", "n[10-13]"]
    assert [record.nodes for record in records] == [4, 1, 4]
    assert [record.cores for record in records] == [16, 4, 16]


def test_of_a_paused_job_the_last_stretch_counts():
    machine = Machine.uniform(16, NodeClass())
    run = placed([(0, 0, 2), (1, 2, 1), (0, 5, 1), (0, 8, 1)], machine=machine, units=16,
                 sizes=[2, 1])
    assert [record.node_list for record in records_of(run)] == ["n[5,8]", "n2"]


def test_a_placement_that_does_not_add_up_is_not_believed():
    run = placed([(0, 0, 2), (0, 5, 2)], machine=Machine.uniform(16, NodeClass()), units=16,
                 sizes=[3])
    assert [record.node_list for record in records_of(run)] == [""]


def test_cores_of_nodes_are_listed_as_nodes():
    machine = Machine.uniform(4, NodeClass(cores=8))
    run = placed([(0, 6, 4), (1, 24, 3)], machine=machine, units=32, sizes=[4, 3])
    records = list(records_of(run))
    assert [(r.node_list, r.nodes, r.cores) for r in records] == [("n[0-1]", 2, 4), ("n3", 1, 3)]
    unknown = list(records_of(replace(run, placement=None)))
    assert [(r.node_list, r.nodes, r.cores) for r in unknown] == [("", 1, 4), ("", 1, 3)]


def test_the_class_is_that_of_the_nodes_or_unknown():
    machine = Machine((NodeGroup(NodeClass("fast"), 8), NodeGroup(NodeClass("slow"), 8)))
    run = placed([(0, 0, 2), (1, 7, 2), (2, 9, 1)], machine=machine, units=16, sizes=[2, 2, 1])
    assert [r.node_class for r in records_of(run)] == ["fast", "fast+slow", "slow"]
    assert {r.node_class for r in records_of(replace(run, placement=None))} == {"unknown"}
