"""Memory limits, nodes of one user, and default time limits of partitions, by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from tests.support.shared_judged import findings
from wattline.shared_nodes.machine import SharedMachine
from wattline.shared_nodes.outcome import KILLED, RAN, REASONS, REFUSED
from wattline.shared_nodes.rules import BACKFILL, BUILTIN, Rules
from wattline.shared_nodes.simulate import simulate_shared

MAIN = Rules(scheduler=BUILTIN, batch_sched_delay_s=0.0, kill_late_s=0.0)
BOTH = (MAIN, replace(MAIN, scheduler=BACKFILL))
ADA, BOB = {"association": 2}, {"association": 3}
PLAIN = {"tasks": 1, "memory_per_cpu_mb": -1}


def with_partitions(on: SharedMachine, **columns: Any) -> SharedMachine:
    return replace(on, partitions=replace(on.partitions, **{
        name: np.array(values) for name, values in columns.items()}))


def of_one_user(
    on: SharedMachine, *jobs: dict[str, Any], own: list[int], rules: Rules = MAIN
) -> Any:
    """Jobs in these rows share nodes with those of their user alone."""
    asked = requests(on, *jobs)
    flags = np.isin(np.arange(len(jobs)), own)
    asked = replace(asked, own_user=flags)
    found = simulate_shared(on, asked, rules)
    assert findings(on, asked, rules, found) == []
    return found


@pytest.mark.parametrize("rules", BOTH)
def test_a_node_of_one_user_takes_no_job_of_another(rules: Rules) -> None:
    """Job 1 is Bob's and waits for the end of Ada's; job 2 is hers and fits beside it."""
    found = of_one_user(machine(1), ADA, {**BOB, "submit_s": 1.0},
                        {**ADA, "submit_s": 2.0, "run_s": 60.0, "limit_s": 60.0}, own=[0],
                        rules=rules)
    assert found.start_s[0] == 0.0
    assert found.start_s[1] >= 600.0
    if rules.scheduler == BACKFILL:
        assert found.start_s[2] < 600.0


def test_a_job_that_wants_its_users_nodes_goes_beside_jobs_of_that_user_alone() -> None:
    """Job 1, Ada's, goes beside her job 0, which did not ask for it; Bob's job 2 does not."""
    found = of_one_user(machine(1), ADA, {**ADA, "submit_s": 1.0}, {**BOB, "submit_s": 2.0},
                        own=[1, 2])
    assert found.start_s[1] < 10.0
    assert found.start_s[2] >= found.end_s[1]


@pytest.mark.parametrize(("user", "start_s"), [(ADA, 30.0), (BOB, 1200.0)])
def test_backfill_tries_jobs_that_ask_for_the_same_for_each_user(
    user: dict[str, Any], start_s: float,
) -> None:
    """Node 0 is Ada's and node 1 full, both until 600 s, when job 2 gets them until 1200 s. Bob's
    job 3 is planned for then. Job 4 asks for the same, and could start on Ada's node if hers."""
    short = {"run_s": 60.0, "limit_s": 60.0}
    found = of_one_user(machine(2), ADA, {**BOB, "tasks": 4},
                        {**BOB, "tasks": 8, "min_nodes": 2, "submit_s": 1.0},
                        {**BOB, **short, "submit_s": 2.0}, {**user, **short, "submit_s": 3.0},
                        own=[0], rules=BOTH[1])
    assert found.start_s[:4].tolist() == [0.0, 0.0, 600.0, 1200.0]
    assert found.start_s[4] == start_s


def test_a_node_with_jobs_of_others_is_left_alone() -> None:
    found = of_one_user(machine(1), ADA, {**BOB, "submit_s": 1.0}, own=[1])
    assert found.start_s[1] >= found.end_s[0]


def test_a_node_is_open_again_when_the_job_that_closed_it_is_over() -> None:
    """Ada's job 1 closes the node until 100 s; her job 0 stays, and Bob's comes beside it."""
    found = of_one_user(machine(1), ADA, {**ADA, "submit_s": 1.0, "run_s": 100.0},
                        {**BOB, "submit_s": 2.0}, own=[1])
    assert found.end_s[1] <= found.start_s[2] < 600.0


def test_the_checker_sees_two_users_on_a_node_of_one() -> None:
    on = machine(1)
    asked = requests(on, ADA, BOB)
    found = simulate_shared(on, asked, MAIN)
    asked = replace(asked, own_user=np.array([True, False]))
    assert any("of one user" in line for line in findings(on, asked, MAIN, found))


@pytest.mark.parametrize(("asked", "cpus"), [
    ({"memory_per_node_mb": 700}, [3]),  # 3 CPUs at 250 MB hold 700 MB
    ({"memory_per_node_mb": 250}, [1]),
    ({"memory_per_node_mb": 700, "tasks": 2}, [4]),  # two CPUs for each task
    ({"memory_per_node_mb": 700, "tasks": 2, "min_nodes": 2}, [3, 3]),
    ({"memory_per_node_mb": 700, "cpus_per_task": 4}, [4]),
    ({"memory_per_cpu_mb": 400}, [2]),
    ({"memory_per_node_mb": 0}, [1]),  # all of the memory asks for no CPUs
])
def test_memory_over_the_limit_per_cpu_takes_more_cpus(
    asked: dict[str, int], cpus: list[int]
) -> None:
    on = with_partitions(machine(2), max_memory_per_cpu_mb=[250])
    job = requests(on, {**PLAIN, **asked})
    found = simulate_shared(on, job, MAIN)
    assert found.allocation_cpus.tolist() == cpus
    assert found.state[0] == RAN


def test_memory_that_takes_more_cpus_than_a_node_has_never_fits() -> None:
    on = with_partitions(machine(2), max_memory_per_cpu_mb=[100])
    found = simulate_shared(on, requests(on, {**PLAIN, "memory_per_node_mb": 700}), MAIN)
    assert np.isnan(found.start_s[0])


def test_a_partitions_default_memory_counts_towards_its_limit_per_cpu() -> None:
    on = with_partitions(machine(1), max_memory_per_cpu_mb=[250],
                         default_memory_per_node_mb=[500])
    found = simulate_shared(on, requests(on, PLAIN), MAIN)
    assert found.allocation_cpus.tolist() == [2]
    assert found.allocation_memory_mb.tolist() == [500]


@pytest.mark.parametrize("asked", [
    {"memory_per_node_mb": 500}, {"memory_per_cpu_mb": 300, "cpus_per_task": 2}])
def test_memory_over_the_limit_per_node_is_refused(asked: dict[str, int]) -> None:
    on = with_partitions(machine(1), max_memory_per_node_mb=[400])
    rules = replace(MAIN, enforce_part_limits="any")
    found = simulate_shared(on, requests(on, {**PLAIN, **asked}), rules)
    assert found.state[0] == REFUSED
    assert REASONS[found.reason[0]] == "over the partition's memory per node"
    fits = simulate_shared(on, requests(on, {**PLAIN, "memory_per_node_mb": 400}), rules)
    assert fits.state[0] == RAN


@pytest.mark.parametrize("rules", BOTH)
def test_the_default_limit_is_that_of_the_partition_in_which_a_job_starts(rules: Rules) -> None:
    """Node 0, of partition 0, is taken: job 1 runs in partition 1, for 20 minutes at most."""
    on = with_partitions(machine(2, partitions=[[0], [1]]), default_time_s=[300, 1200])
    jobs = ({"tasks": 4, "limit_s": 3600.0, "run_s": 3600.0},
            {"tasks": 4, "partition": [0, 1], "limit_s": -1.0, "run_s": 9999.0, "submit_s": 1.0},
            {"tasks": 4, "partition": 0, "limit_s": -1.0, "run_s": 9999.0, "submit_s": 2.0})
    found = simulate_shared(on, requests(on, *jobs), rules)
    assert found.partition.tolist() == [0, 1, 0]
    assert found.state.tolist() == [RAN, KILLED, KILLED]
    lasted_s = found.end_s - found.start_s
    assert lasted_s[1:] == pytest.approx([1200.0, 300.0], abs=1.0)


def test_memory_per_cpu_is_had_for_whole_cores() -> None:
    """sbatch(1), --mem-per-cpu: of cores with two threads, three tasks have four CPUs and 400 MB.

    So a node of 750 MB has none for a second such job, and one of 800 MB has.
    """
    for memory_mb, second_s in ((750, 600.0), (800, 0.0)):
        on = machine(1, cpus=8, memory_mb=memory_mb, nodes={"threads_per_core": np.array([2])})
        asked = requests(on, *2 * [{"tasks": 3, "memory_per_cpu_mb": 100}])
        found = simulate_shared(on, asked, MAIN)
        assert findings(on, asked, MAIN, found) == []
        assert found.allocation_cpus.tolist() == [4, 4]
        assert found.allocation_memory_mb.tolist() == [400, 400]
        assert found.start_s.tolist() == [0.0, second_s]
