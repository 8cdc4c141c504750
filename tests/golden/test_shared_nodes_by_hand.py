"""Machines with shared nodes that decide as Slurm does: small cases worked out by hand.

Two nodes of 4 CPUs unless said; the controller's ticks lie on whole seconds, backfill cycles every
30 seconds from the first submission on, jobs run as long as they asked unless said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from wattline.shared_nodes.outcome import KILLED, NEVER, RAN, REASONS, REFUSED
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared


def starts(on: Any, *jobs: dict[str, Any], rules: Rules | None = None, **more: Any) -> list[float]:
    asked = requests(on, *jobs, **more)
    return list(simulate_shared(on, asked, rules or Rules()).start_s)


def test_a_short_job_is_backfilled_and_a_long_one_waits_behind_the_reservation() -> None:
    """Jobs 0 and 1 leave one CPU on each node; job 2 needs all at 600 s and holds both nodes.

    Job 3 ends by 330 s and starts in the next cycle; job 4 would run past 600 s.
    """
    found = starts(
        machine(), {"tasks": 3}, {"tasks": 3}, {"tasks": 8, "submit_s": 1.0},
        {"tasks": 1, "submit_s": 2.0, "run_s": 300.0, "limit_s": 300.0},
        {"tasks": 1, "submit_s": 3.0, "run_s": 1200.0, "limit_s": 1200.0})
    assert found == [0.0, 0.0, 600.0, 30.0, 1200.0]


def test_a_job_that_cannot_start_holds_back_its_partition_in_the_main_pass() -> None:
    """Without backfill job 2, which would fit, waits for job 1, which does not."""
    jobs = ({"tasks": 6}, {"tasks": 4, "min_nodes": 1, "submit_s": 1.0}, {"submit_s": 2.0})
    assert starts(machine(), *jobs, rules=Rules(scheduler="builtin")) == [0.0, 600.0, 600.0]


def test_a_job_of_another_partition_on_other_nodes_is_not_held_back() -> None:
    on = machine(partitions=[[0], [1]])
    jobs = ({"tasks": 3}, {"tasks": 4, "submit_s": 1.0}, {"tasks": 2, "partition": 1,
                                                          "submit_s": 2.0})
    assert starts(on, *jobs, rules=Rules(scheduler="builtin")) == [0.0, 600.0, 3.0]


def test_a_job_is_killed_late_at_its_limit_and_limits_are_whole_minutes() -> None:
    """Asked 90 s, which is 2 minutes, over at 130 s; limits are looked at every 30 s."""
    on = machine()
    asked = requests(on, {"run_s": 500.0, "limit_s": 90.0, "submit_s": 10.0})
    found = simulate_shared(on, asked, Rules())
    assert (found.end_s[0], found.state[0]) == (150.0, KILLED)


def test_limits_count_from_the_whole_second_in_which_a_job_started() -> None:
    """Job 0 starts at 0.5 s, in Slurm's second 0: its 60 s are over when limits are looked at at
    60.5 s, and those of job 1, which starts then, at 120.5 s. By the time that the launch takes
    alone each would live 30 s longer."""
    on = machine(1)
    asked = requests(on, {"tasks": 4, "run_s": 500.0, "limit_s": 60.0},
                     {"tasks": 4, "run_s": 500.0, "limit_s": 60.0, "submit_s": 40.0})
    rules = Rules(scheduler="builtin", start_latency_s=0.1)
    found = simulate_shared(on, asked, rules, phase_s=0.5)
    assert (found.start_s[1], found.end_s[1]) == (60.5, 120.5)


def test_backfill_cycles_follow_the_end_of_the_last_one() -> None:
    """Cycles at 30 s and then 30 s after the end of the last; each takes 2 s for the one job that
    waits (job 1, planned for 600 s), and job 2 comes at 100 s: 30, 62, 94, and 126 s."""
    jobs = ({"tasks": 3}, {"tasks": 4, "submit_s": 1.0},
            {"tasks": 1, "submit_s": 100.0, "run_s": 60.0, "limit_s": 60.0})
    at_once = starts(machine(1), *jobs)[2]
    slow = starts(machine(1), *jobs, rules=Rules(bf_try_s=2.0))[2]
    assert (at_once, slow) == (120.0, 126.0)


@pytest.mark.parametrize(("job", "reason"), [
    ({"tasks": 9}, "no node has what it asks for"),
    ({"memory_per_node_mb": 1001, "memory_per_cpu_mb": -1}, "no node has what it asks for"),
    ({"gpus": 1}, "no node has what it asks for"),
])
def test_what_no_node_has_is_refused_with_a_reason(job: dict[str, Any], reason: str) -> None:
    on = machine()
    found = simulate_shared(on, requests(on, job, {}), Rules())
    assert list(found.state) == [REFUSED, RAN]
    assert REASONS[found.reason[0]] == reason
    assert np.isnan(found.start_s[0])


def test_memory_keeps_two_jobs_apart_that_the_cores_would_not() -> None:
    """Each wants 600 of 1000 MB: one on each node, the third after them."""
    job = {"memory_per_node_mb": 600, "memory_per_cpu_mb": -1}
    assert starts(machine(), job, job, job) == [0.0, 0.0, 600.0]


def test_devices_are_counted_by_node() -> None:
    on = machine(gpus=np.array([0, 2]))
    assert starts(on, {"gpus": 1}, {"gpus": 1}, {"gpus": 1}) == [0.0, 0.0, 600.0]


def test_an_exclusive_job_waits_for_an_empty_node() -> None:
    found = starts(machine(), {"run_s": 60.0, "limit_s": 60.0}, {},
                   {"exclusive": True, "min_nodes": 2, "submit_s": 1.0})
    assert found == [0.0, 0.0, 600.0]


def test_the_node_of_the_lowest_weight_is_taken() -> None:
    on = machine(weight=np.array([5, 1]))
    found = simulate_shared(on, requests(on, {}), Rules())
    assert list(found.allocation_node) == [1]


def test_one_node_that_fits_best_is_taken_of_a_set() -> None:
    """Job 0 leaves 1 CPU on node 0; job 1 of one CPU goes there, not to the empty node."""
    on = machine()
    found = simulate_shared(on, requests(on, {"tasks": 3}, {"submit_s": 5.0}), Rules())
    assert list(found.allocation_node) == [0, 0]


def test_a_job_waits_for_its_features_and_excluded_nodes() -> None:
    on = machine()
    masks = [[False, True]]
    found = simulate_shared(on, requests(on, {"features": 0}, {"excluded": 0},
                                         feature_masks=masks, node_masks=masks), Rules())
    assert list(found.allocation_node) == [1, 0]


def test_a_submission_is_looked_at_on_the_next_tick_but_three_seconds_apart() -> None:
    """The pass at 0 is followed by one at 3 for what comes at 0.5 and at 1.2."""
    rules = Rules(scheduler="builtin")
    found = starts(machine(), {}, {"submit_s": 0.5}, {"submit_s": 1.2}, {"submit_s": 10.5},
                   rules=rules)
    assert found == [0.0, 3.0, 3.0, 11.0]
    on = machine()
    shifted = simulate_shared(on, requests(on, {"submit_s": 0.2}), rules, phase_s=0.5)
    assert list(shifted.start_s) == [0.5]


def test_a_quick_pass_looks_at_few_jobs_and_the_full_one_at_all() -> None:
    """Depth 0 looks at one job: job 2 waits on a limit of its array, job 3 for the full pass."""
    rules = Rules(scheduler="builtin", default_queue_depth=0)
    found = starts(machine(), {}, {"submit_s": 5.0, "tasks": 2}, {"submit_s": 5.0}, rules=rules)
    assert found == [0.0, 5.0, 60.0]


def test_planned_jobs_hold_whole_nodes() -> None:
    """Job 1 will have one CPU of node 0 at 600 s. Node 0 has 1 CPU free now, and job 2 asks for it
    for 20 minutes: though a CPU would be left beside job 1, the node is held from 600 s on."""
    on = machine(1)
    found = starts(on, {"tasks": 3}, {"tasks": 2, "submit_s": 1.0},
                   {"tasks": 1, "submit_s": 2.0, "run_s": 1200.0, "limit_s": 1200.0})
    assert found == [0.0, 600.0, 600.0]


def test_a_dependency_a_begin_time_and_a_hold_keep_jobs_back() -> None:
    """Job 2 may begin from 100 s on, which is seen by the pass over all jobs at 120 s."""
    on = machine()
    asked = requests(on, {}, {"after_job": 0, "after_kind": 1}, {"begin_s": 100.0},
                     {"held": True}, {"after_job": 0, "after_kind": 2},
                     {"after_job": 0, "after_kind": 3})
    found = simulate_shared(on, asked, replace(Rules(), scheduler="builtin"))
    assert list(found.start_s[[0, 1, 2, 5]]) == [0.0, 600.0, 120.0, 3.0]
    assert list(found.state[3:5]) == [NEVER, NEVER]
    assert [REASONS[row] for row in found.reason[3:5]] == ["held", "dependency never satisfied"]


def test_backfill_plans_in_whole_minutes_of_unix_time() -> None:
    """Job 1 is planned for 600 s; its node is held from the last whole minute of Unix time on.

    Job 2 would be over at 570 s. That is before 600 s and 590 s, but not before 550 s.
    """
    jobs = ({"tasks": 3}, {"tasks": 4, "submit_s": 1.0},
            {"tasks": 1, "submit_s": 2.0, "run_s": 540.0, "limit_s": 540.0})
    found = [starts(machine(1), *jobs, rules=Rules(unix_start_s=unix_s))[2]
             for unix_s in (0.0, 10.0, 50.0)]
    assert found == [30.0, 30.0, 1200.0]


def test_a_node_that_a_job_has_alone_has_cpus_for_all_tasks_of_a_node() -> None:
    """Three tasks of two CPUs on each of two nodes: not on that of 4 CPUs, which comes first."""
    on = machine(3, cpus=np.array([4, 8, 8]))
    job = {"tasks": 6, "tasks_per_node": 3, "cpus_per_task": 2, "exclusive": True, "min_nodes": 2,
           "max_nodes": 3}
    more = {**job, "tasks": 9, "min_nodes": 3}
    found = simulate_shared(on, requests(on, job, more), Rules())
    assert found.allocation_node.tolist() == [1, 2]
    assert REASONS[found.reason[1]] == "no node has what it asks for"
