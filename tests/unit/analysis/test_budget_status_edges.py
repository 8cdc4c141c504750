"""An energy budget at the very second at which something begins or ends, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.run_maker import fcfs_run

from wattline.analysis.budget_status import EnergyStatus, status_at
from wattline.model.jobs import JobTable
from wattline.model.promises import EnergyPeriods, Promises
from wattline.model.run import Run


def four_jobs(energy_j: float, *edge_s: float, asked_s: float = 60.0, **terms: str) -> Run:
    """Four nodes, 100 W idle and 250 W busy. Jobs 1 and 2 have two nodes each from 0 to 40 s and
    from 0 to 60 s, job 3 has all four from 60 to 100 s; job 4, of two nodes for 10 s, stands behind
    it. 1,000 W, from 40 s on 700 W, from 60 s on 1,000 W."""
    jobs = JobTable.build(submit_s=[0, 0, 10, 10], run_s=[40, 60, 40, 10],
                          requested_s=[40, 60, 40, 10], procs=[2, 2, 4, 2])
    run = fcfs_run(jobs, nodes=4)
    assert run.schedule.start_s.tolist() == [0, 0, 60, 100]
    run = replace(run, jobs=run.jobs.with_columns(requested_s=np.array([40.0, asked_s, 40, 10])))
    return replace(run, promises=Promises(budget=EnergyPeriods(
        energy_j, np.array(edge_s), **terms)))


def waiting(found: EnergyStatus) -> dict[int, str]:
    return {job.job_id: job.why for job in found.waiting}


def test_a_job_that_ends_now_has_left_its_nodes() -> None:
    """Of four nodes two are free at 40 s. Job 3 asks for more than that, job 4 for no more."""
    found = waiting(status_at(four_jobs(1e6, 0.0, 200.0), 40.0))
    assert found == {3: "nodes: 4 of 2 free", 4: "its turn, or the power of this slot"}


def test_a_job_that_starts_now_does_not_wait() -> None:
    run = four_jobs(1e6, 0.0, 200.0)
    assert list(waiting(status_at(run, 59.0))) == [3, 4]
    assert list(waiting(status_at(run, 60.0))) == [4]


@pytest.mark.parametrize(("energy_j", "why"), [
    (153_000.0, "its turn, or the power of this slot"),
    (152_999.0, "energy: this period has less left than it needs")])
def test_a_job_lacks_joules_where_the_period_has_less_left_than_it_needs(
    energy_j: float, why: str
) -> None:
    """At 50 s the machine has drawn 47,000 J; idle nodes are still to draw 400 W for 250 s,
    job 2 300 W more for 10 s, and job 4 needs 300 W for 10 s: 153,000 J in all."""
    found = status_at(four_jobs(energy_j, 0.0, 300.0), 50.0)
    assert found.now.drawn_j == 47_000.0
    assert (found.now.idle_j, found.now.promised_j) == (100_000.0, 3000.0)
    assert waiting(found)[4] == why


def test_a_job_that_is_overdue_may_stay_until_the_period_ends() -> None:
    """Job 2 asked for 40 s and still runs at 50 s: 300 W above idle until 300 s."""
    found = status_at(four_jobs(1e6, 0.0, 300.0, asked_s=40.0), 50.0)
    assert found.now.promised_j == 300.0 * 250.0


@pytest.mark.parametrize(("unspent", "now_s", "second_j"), [
    ("carry", 49.0, 50_000.0), ("carry", 50.0, 53_000.0), ("expire", 50.0, 50_000.0)])
def test_what_a_period_leaves_is_kept_from_its_very_end_on(
    unspent: str, now_s: float, second_j: float
) -> None:
    """Until 50 s the machine draws 47,000 of 50,000 J."""
    found = status_at(four_jobs(50_000.0, 0.0, 50.0, 100.0, 150.0, unspent=unspent), now_s)
    assert found.periods[1].budget_j == second_j


@pytest.mark.parametrize(("now_s", "periods"), [(0.0, 2), (49.0, 2), (50.0, 3), (109.0, 4),
                                                (110.0, 4)])
def test_periods_are_told_up_to_the_one_after_now(now_s: float, periods: int) -> None:
    """The second of three periods of 50 s begins at 50 s, and job 2 ends in it; the run is over at
    110 s, in the third."""
    found = status_at(four_jobs(1e6, 0.0, 50.0, 100.0, 150.0), now_s)
    assert len(found.periods) == periods


def test_no_period_is_told_beyond_the_one_after_the_last() -> None:
    """A run may end with its last period: there is one to say what holds from then on."""
    found = status_at(four_jobs(1e6, 0.0, 55.0, 110.0), 110.0)
    assert [row.start_s for row in found.periods] == [0.0, 55.0, 110.0]
