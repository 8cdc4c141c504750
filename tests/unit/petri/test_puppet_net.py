"""The PuPPET net on workloads small enough to work out by hand."""

from __future__ import annotations

import math

import pytest

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.signal import Signal
from wattline.petri.puppet import SHARED, jobs_from_table, puppet_net
from wattline.petri.puppet_rules import Job, Rules
from wattline.petri.simulate import Simulation


def times(jobs: list[Job], rules: Rules, order: str = "fcfs",
          cap_w: Signal | float = float("inf")) -> dict[int, tuple[float, float]]:
    simulation = Simulation(puppet_net(jobs, rules, order, cap_w))
    simulation.run()
    return {done.n: (done.start, done.end) for done in simulation.place("Done").values()}


def test_the_net_has_three_modules_and_five_shared_places() -> None:
    net = puppet_net([], Rules(4, 0.0))
    assert tuple(place.name for place in net.top.places) == SHARED
    assert [page.name for page in net.pages()] == [
        "PuPPET", "Batch scheduling", "Power-aware allocation", "CPU scaling"]


def test_easy_backfills_by_time_and_by_extra_nodes() -> None:
    # 10 nodes. Job 0 holds 6 until 100 by its request. Job 1 needs 8: reserved at 100 with 2
    # extra. Job 2 (4 nodes, until 60 + 50 > 100, more than the extra) waits; job 3 ends at 60 + 40
    # = 100, just in time; job 4 takes one extra node.
    jobs = [Job(0, 6, 80, 100, 0, 0), Job(1, 8, 10, 10, 0, 50), Job(2, 4, 50, 50, 0, 60),
            Job(3, 2, 40, 40, 0, 60), Job(4, 1, 200, 200, 0, 60)]
    got = times(jobs, Rules(10, 0.0))
    # Job 0 ends early, at 80: jobs 3 and 4 hold 3 nodes, 7 free, job 1 still does not fit. Its
    # reservation is at 100 (job 3), 1 extra; job 2 would run until 130. At 100 job 1 starts.
    assert got == {0: (0, 80), 3: (60, 100), 4: (60, 260), 1: (100, 110), 2: (110, 160)}


def test_wfp_serves_the_largest_and_longest_waiting_first() -> None:
    # All of 4 nodes are busy until 100. Then (size x (wait / request)^3): job 1: 1 x 1; job 2:
    # 4 x (80/100)^3 = 2.05: job 2 goes first.
    jobs = [Job(0, 4, 100, 100, 0, 0), Job(1, 1, 100, 100, 0, 0), Job(2, 4, 100, 100, 0, 20)]
    assert times(jobs, Rules(4, 0.0), "fcfs")[1] == (100, 200)
    got = times(jobs, Rules(4, 0.0), "wfp")
    assert got == {0: (0, 100), 2: (100, 200), 1: (200, 300)}


def test_block_stops_everything_behind() -> None:
    # 4 nodes of 10 W idle, cap 100 W. Job 0: 20 idle + 60 = 80 W. Job 1 would make 10 + 60 + 40 =
    # 110 W: blocked, and with it job 2, which alone would fit (10 + 60 + 10 = 80 W).
    jobs = [Job(0, 2, 100, 100, 60, 0), Job(1, 1, 100, 100, 40, 1), Job(2, 1, 100, 100, 10, 2)]
    assert times(jobs, Rules(4, 10.0), cap_w=100.0) == {0: (0, 100), 1: (100, 200), 2: (100, 200)}


def test_wait_lets_others_pass_until_its_time_is_over() -> None:
    # As above, but job 1 yields: job 2 starts at 2 (80 W). Job 3 comes at 60, when job 1 has
    # waited 50 s or longer: it blocks. At 100 job 0 ends and both start.
    jobs = [Job(0, 2, 100, 100, 60, 0), Job(1, 1, 100, 100, 40, 1), Job(2, 1, 100, 100, 10, 2),
            Job(3, 1, 10, 10, 10, 60)]
    patient = Rules(4, 10.0, wait_slots=1, wait_time_s=1000.0)
    assert times(jobs, patient, cap_w=100.0) == {
        0: (0, 100), 2: (2, 102), 3: (60, 70), 1: (100, 200)}
    hasty = Rules(4, 10.0, wait_slots=1, wait_time_s=50.0)
    assert times(jobs, hasty, cap_w=100.0) == {
        0: (0, 100), 2: (2, 102), 1: (100, 200), 3: (100, 110)}


def test_a_full_wait_queue_blocks() -> None:
    jobs = [Job(0, 2, 100, 100, 60, 0), Job(1, 1, 50, 50, 40, 1), Job(2, 1, 50, 50, 45, 2),
            Job(3, 1, 50, 50, 10, 3)]
    one = Rules(4, 10.0, wait_slots=1)
    # Job 2 finds the queue full and stops job 3. At 100: job 1 (30 + 40 = 70 W), then job 2
    # (20 + 85 = 105 W) does not fit; it takes the slot that job 1 left, and job 3 may go.
    assert times(jobs, one, cap_w=100.0) == {
        0: (0, 100), 1: (100, 150), 3: (100, 150), 2: (150, 200)}
    assert times(jobs, Rules(4, 10.0, wait_slots=2), cap_w=100.0)[3] == (3, 53)


def test_a_job_that_yields_takes_no_extra_nodes() -> None:
    # 10 nodes without idle power, cap 100 W. Job 0 holds 6 nodes and 60 W until 100; job 1 needs
    # 8: reserved at 100, 2 extra. Job 2 may use the extra by its nodes but needs 50 W: it yields.
    # Job 3 gets both extra nodes.
    jobs = [Job(0, 6, 100, 100, 60, 0), Job(1, 8, 10, 10, 10, 10), Job(2, 2, 500, 500, 50, 10),
            Job(3, 2, 500, 500, 10, 10)]
    got = times(jobs, Rules(10, 0.0, wait_slots=4), cap_w=100.0)
    assert got[3] == (10, 510)
    # At 100 the wait queue is tried first, and job 2 takes 2 of the 8 free nodes.
    assert got[2] == (100, 600)
    assert got[1] == (510, 520)


def test_dvfs_slows_all_and_speeds_up_again() -> None:
    # 2 nodes without idle power, all power in the cores, alpha 2, beta 1. Two jobs of 100 W under
    # a cap of 100 W run at 0.7 (98 W). From 10 on: job 0 has 90 s of work left.
    rules = Rules(2, 0.0, levels=(0.5, 0.6, 0.7, 0.8, 0.9, 1.0), core_share=1.0, beta=1.0)
    jobs = [Job(0, 1, 100, 100, 100, 0), Job(1, 1, 200, 200, 100, 10)]
    got = times(jobs, rules, cap_w=100.0)
    first = 10 + 90 / 0.7
    assert got[0] == (0, pytest.approx(first))
    assert got[1] == (10, pytest.approx(first + 200 - 90))


def test_dvfs_waits_when_the_lowest_level_does_not_suffice() -> None:
    rules = Rules(2, 0.0, levels=(0.5, 1.0), core_share=1.0, beta=1.0)
    jobs = [Job(0, 1, 100, 100, 100, 0), Job(1, 1, 100, 100, 100, 10)]
    # Both at 0.5 would draw 50 W; under 40 W only one fits, at 25 W.
    got = times(jobs, rules, cap_w=40.0)
    assert got == {0: (0, 200), 1: (200, 400)}


def test_a_lowered_cap_slows_running_jobs() -> None:
    rules = Rules(1, 0.0, levels=(0.5, 1.0), core_share=1.0, beta=1.0)
    cap = Signal.from_steps([(0.0, 100.0), (50.0, 30.0), (70.0, 100.0)])
    # 50 s at full speed, 20 s at half: 40 s of work left at 70.
    assert times([Job(0, 1, 100, 100, 100, 0)], rules, cap_w=cap) == {0: (0, 110)}


def test_a_raised_cap_is_an_event_that_starts_jobs() -> None:
    cap = Signal.from_steps([(0.0, 100.0), (40.0, 200.0)])
    jobs = [Job(0, 1, 100, 100, 80, 0), Job(1, 1, 100, 100, 80, 10)]
    assert times(jobs, Rules(2, 0.0), cap_w=cap)[1] == (40, 140)


def test_a_job_that_no_cap_allows_is_refused() -> None:
    # 4 nodes of 10 W idle. Job 0 alone needs 20 + 90 = 110 W: too much for every cap to come, so
    # it stops nobody. Job 1 needs 20 + 80 = 100 W and waits for the cap of 100 W.
    cap = Signal.from_steps([(0.0, 60.0), (50.0, 100.0)])
    jobs = [Job(0, 2, 10, 10, 90, 0), Job(1, 2, 10, 10, 80, 0)]
    simulation = Simulation(puppet_net(jobs, Rules(4, 10.0), "fcfs", cap))
    simulation.run()
    assert simulation.place("Refused").values() == [jobs[0]]
    assert [(d.n, d.start) for d in simulation.place("Done").values()] == [(1, 50)]


def test_cap_comparison_has_a_tolerance() -> None:
    # 0.1 + 0.2 is above 0.3 in floating point.
    jobs = [Job(0, 1, 10, 10, 0.1, 0), Job(1, 1, 10, 10, 0.2, 0)]
    assert times(jobs, Rules(2, 0.0), cap_w=0.3)[1] == (0, 10)


def test_jobs_from_a_table_take_power_from_the_log_or_the_node() -> None:
    table = JobTable.build(submit_s=[0, 5], run_s=[10, 20], procs=[2, 3], power_w=[math.nan, 7.0])
    assert [job.jp for job in jobs_from_table(table, 50.0)] == [100.0, 7.0]


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Rules(0, 1.0), "nodes is 0"),
    (lambda: Rules(4, -1.0), "idle_w is -1"),
    (lambda: Rules(4, 1.0, levels=()), "levels is"),
    (lambda: Rules(4, 1.0, levels=(0.9, 0.5)), "must be increasing"),
    (lambda: Rules(4, 1.0, levels=(0.9, 1.5)), r"in \(0, 1\]"),
    (lambda: Rules(4, 1.0, alpha=-1.0), "alpha"),
    (lambda: Rules(4, 1.0, core_share=1.5), "core_share"),
    (lambda: puppet_net([Job(0, 5, 1, 1, 1, 0)], Rules(4, 1.0)), "needs 5 nodes"),
    (lambda: puppet_net([Job(0, 1, 1, 0, 1, 0)], Rules(4, 1.0)), "requested time"),
    (lambda: puppet_net([Job(0, 1, 1, 1, -1, 0)], Rules(4, 1.0)), "power"),
    (lambda: puppet_net([], Rules(4, 1.0), "sjf"), "fcfs and wfp"),
])
def test_bad_parameters_are_named(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]
