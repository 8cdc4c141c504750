"""Priorities, limits, preemption, outages and power on shared nodes, worked out by hand.

Jobs run 600 s on two nodes of 4 CPUs unless said; a node draws 100 W and each CPU in use 10 W more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import limits, machine, requests
from wattline.model.signal import Signal
from wattline.shared_nodes.machine import CANCEL, REQUEUE, SUSPEND
from wattline.shared_nodes.outages import Outages
from wattline.shared_nodes.outcome import (
    KILLED,
    NEVER,
    NODE_FAILED,
    PREEMPTED,
    RAN,
    REASONS,
    REFUSED,
)
from wattline.shared_nodes.rules import Priority, Rules
from wattline.shared_nodes.simulate import simulate_shared

ALONE: dict[str, Any] = {"tasks": 4, "min_nodes": 1}
"""Takes a node."""
BUILTIN = Rules(scheduler="builtin")


def schedule(on: Any, *jobs: dict[str, Any], rules: Rules = BUILTIN, **more: Any) -> Any:
    masks = {name: more.pop(name) for name in ("node_masks", "feature_masks") if name in more}
    return simulate_shared(on, requests(on, *jobs, **masks), rules, **more)


def multifactor(**weights: Any) -> Rules:
    return replace(BUILTIN, priority=Priority("multifactor", **weights))


def test_the_larger_job_goes_first_by_size() -> None:
    """On one node both wait behind job 0; job 2 asks for more CPUs than job 1."""
    on = machine(1)
    jobs = (ALONE, {"tasks": 2, "submit_s": 1.0}, {"tasks": 3, "submit_s": 2.0})
    found = schedule(on, *jobs, rules=multifactor(job_size=1000))
    assert list(found.start_s) == [0.0, 1200.0, 600.0]
    small = schedule(on, *jobs, rules=multifactor(job_size=1000, favor_small=True))
    assert list(small.start_s) == [0.0, 600.0, 1200.0]


def test_size_counts_the_nodes_that_were_asked_for_and_not_those_that_tasks_need() -> None:
    """Both take both nodes. Job 1 asks for 8 tasks, 4 per node, which is one node to Slurm; job 2
    for two nodes with 6 tasks: (1/2 + 8/8) / 2 = 0.75 is less than (2/2 + 6/8) / 2 = 0.875."""
    on = machine(2)
    whole = {"tasks": 8, "min_nodes": 2}
    jobs = (whole, {"tasks": 8, "min_nodes": -1, "tasks_per_node": 4, "submit_s": 1.0},
            {"tasks": 6, "min_nodes": 2, "tasks_per_node": 3, "submit_s": 2.0})
    found = schedule(on, *jobs, rules=multifactor(job_size=1000))
    assert list(found.start_s) == [0.0, 1200.0, 600.0]


def test_qos_and_nice_order_jobs() -> None:
    on = machine(1, qos=2)
    on = replace(on, qos=replace(on.qos, priority=np.array([0, 10])))
    jobs = (ALONE, {**ALONE, "submit_s": 1.0}, {**ALONE, "submit_s": 2.0, "qos": 1},
            {**ALONE, "submit_s": 3.0, "qos": 1, "nice": -5})
    found = schedule(on, *jobs, rules=multifactor(qos=100))
    assert list(found.start_s) == [0.0, 1800.0, 1200.0, 600.0]


@pytest.mark.parametrize("rule", ["fair_tree", "classic"])
def test_who_has_used_less_goes_first_when_priorities_are_renewed(rule: str) -> None:
    """User 0 ran job 0 until 600 s. Job 1 of user 0 waits longer than job 2 of user 1."""
    on = machine(1)
    jobs = (ALONE, {**ALONE, "submit_s": 1.0}, {**ALONE, "submit_s": 2.0, "association": 3})
    found = schedule(on, *jobs, rules=multifactor(fairshare=1000, fairshare_rule=rule))
    assert list(found.start_s) == [0.0, 1200.0, 600.0]


def test_fair_share_of_the_last_period_counts_for_new_jobs_and_usage_decays() -> None:
    """Jobs 3 and 4 come while job 2 runs: user 1 used 600 s lately, user 0 600 s long before.

    With a half-life of 600 s user 0's usage has halved more than once when job 2 runs.
    """
    on = machine(1)
    jobs = (ALONE, {**ALONE, "submit_s": 2400.0, "association": 3},
            {**ALONE, "submit_s": 2700.0, "association": 3}, {**ALONE, "submit_s": 2710.0})
    found = schedule(on, *jobs, rules=multifactor(fairshare=1000, half_life_s=600.0))
    assert list(found.start_s) == [0.0, 2400.0, 3600.0, 3000.0]


def test_age_outweighs_size_in_time() -> None:
    """Job 1 is eligible 1000 s before job 2, which is larger; ages are renewed every 300 s."""
    on = machine(1)
    jobs = ({**ALONE, "run_s": 1500.0, "limit_s": 1500.0},
            {"tasks": 3, "submit_s": 100.0}, {"tasks": 4, "submit_s": 1100.0})
    found = schedule(on, *jobs, rules=multifactor(age=1000, job_size=100, max_age_s=2000.0))
    assert list(found.start_s) == [0.0, 1500.0, 2100.0]


def test_a_partition_of_a_higher_tier_goes_first() -> None:
    on = machine(1, partitions=[[0], [0]])
    on = replace(on, partitions=replace(on.partitions, tier=np.array([1, 2])))
    jobs = (ALONE, {**ALONE, "submit_s": 1.0}, {**ALONE, "submit_s": 2.0, "partition": 1})
    assert list(schedule(on, *jobs).start_s) == [0.0, 1200.0, 600.0]


def with_limits(**given: Any) -> Any:
    on = machine(2, qos=1)
    return replace(on, qos=replace(on.qos, limits=limits(1, on.resources, **given)))


LIMITED = replace(BUILTIN, enforce_limits=True)


@pytest.mark.parametrize(("given", "expected"), [
    ({"user_jobs": (0, 1)}, [0.0, 600.0, 0.0]),
    ({"group_jobs": (0, 1)}, [0.0, 600.0, 1200.0]),
    ({"user_tres": (0, 0, 3)}, [0.0, 600.0, 0.0]),
    ({"group_tres": (0, 0, 4)}, [0.0, 0.0, 600.0]),
    ({"account_jobs": (0, 2)}, [0.0, 0.0, 600.0]),
])
def test_limits_of_a_qos_keep_jobs_waiting(given: Any, expected: list[float]) -> None:
    """Jobs 0 and 1 are of one user, 2 of another of the same account; each has 2 CPUs.

    A job that waits for a limit holds nobody back.
    """
    jobs = ({"tasks": 2}, {"tasks": 2}, {"tasks": 2, "association": 3})
    found = schedule(with_limits(**given), *jobs, rules=LIMITED)
    assert list(found.start_s) == expected


def test_too_many_submissions_are_refused_and_a_limit_per_job_is_waited_for_in_vain() -> None:
    found = schedule(with_limits(user_submit=(0, 1)), {}, {}, {"association": 3}, rules=LIMITED)
    assert list(found.state) == [RAN, REFUSED, RAN]
    assert REASONS[found.reason[1]] == "over a limit on submissions"
    found = schedule(with_limits(job_tres=(0, 0, 2)), {"tasks": 3}, {}, rules=LIMITED)
    assert list(found.state) == [NEVER, RAN]
    assert REASONS[found.reason[0]] == "over a limit per job"


def test_a_qos_lifts_the_limit_of_an_association() -> None:
    on = with_limits(user_jobs=(0, 2))
    tree = replace(on.associations, limits=limits(5, on.resources, max_jobs=(2, 1)))
    lifted = replace(on, associations=tree)
    held = replace(machine(2), associations=tree)
    assert list(schedule(lifted, {}, {}, rules=LIMITED).start_s) == [0.0, 0.0]
    assert list(schedule(held, {}, {}, rules=LIMITED).start_s) == [0.0, 600.0]


def test_a_time_over_the_partitions_is_refused_only_where_that_is_enforced() -> None:
    on = machine(2)
    on = replace(on, partitions=replace(on.partitions, max_time_s=np.array([300])))
    assert list(schedule(on, {}).state) == [NEVER]
    found = schedule(on, {}, rules=replace(BUILTIN, enforce_part_limits="all"))
    assert list(found.state) == [REFUSED]
    assert REASONS[found.reason[0]] == "over the partition's time"


def test_an_array_runs_as_many_at_once_as_it_may_and_licences_are_counted() -> None:
    on = machine(2)
    task = {"array": 0, "array_limit": 2}
    assert list(schedule(on, task, task, task).start_s) == [0.0, 0.0, 600.0]
    on = replace(on, licence_names=("matlab",), licences=np.array([1]))
    found = schedule(on, {"licences": [1]}, {"licences": [1]}, {})
    assert list(found.start_s) == [0.0, 600.0, 0.0]


def test_a_job_runs_in_the_first_of_its_partitions_that_has_room() -> None:
    on = machine(2, partitions=[[0], [1]])
    found = schedule(on, ALONE, {**ALONE, "partition": [0, 1], "submit_s": 1.0})
    assert list(found.start_s) == [0.0, 3.0]
    assert list(found.partition) == [0, 1]


def test_a_required_node_is_waited_for_and_holds_nobody_else_back() -> None:
    on = machine(2)
    jobs = (ALONE, {"required": 0, "submit_s": 1.0}, {"submit_s": 2.0})
    found = schedule(on, *jobs, node_masks=[[True, False]])
    assert list(found.start_s) == [0.0, 600.0, 3.0]


@pytest.mark.parametrize(("mode", "again", "state", "end_s"), [
    (REQUEUE, True, RAN, 1303.0), (REQUEUE, False, PREEMPTED, 103.0),
    (CANCEL, True, PREEMPTED, 103.0), (SUSPEND, False, RAN, 1200.0),
])
def test_a_partition_of_a_higher_tier_takes_nodes(
    mode: int, again: bool, state: int, end_s: float
) -> None:
    """Job 1 comes at 103 s and takes the node until 703 s; a suspended job has 103 s behind it."""
    on = machine(1, partitions=[[0], [0]])
    on = replace(on, partitions=replace(
        on.partitions, tier=np.array([1, 2]), preempt_mode=np.array([mode, 0])))
    found = schedule(on, {**ALONE, "requeue": again},
                     {**ALONE, "submit_s": 103.0, "partition": 1},
                     rules=replace(BUILTIN, preempt="partition"))
    assert found.start_s[1] == 103.0
    assert (found.state[0], found.end_s[0]) == (state, end_s)


def test_a_suspended_job_keeps_its_start_and_draws_nothing_meanwhile() -> None:
    """Suspended from 103 s to 703 s, with 497 s of its 600 s left; its limit counts what it ran."""
    on = machine(1, partitions=[[0], [0]])
    on = replace(on, partitions=replace(
        on.partitions, tier=np.array([1, 2]), preempt_mode=np.array([SUSPEND, 0])))
    other = {**ALONE, "submit_s": 103.0, "partition": 1}
    rules = replace(BUILTIN, preempt="partition")
    found = schedule(on, ALONE, other, rules=rules)
    assert (found.start_s[0], found.end_s[0], found.suspended_s[0]) == (0.0, 1200.0, 600.0)
    assert (found.gap_from_s[0], found.gap_to_s[0], found.requeues[0]) == (103.0, 703.0, 0)
    assert found.energy_j[0] == pytest.approx(found.energy_j[1])
    assert found.gap_energy_j[0] == pytest.approx(found.energy_j[0] * 103.0 / 600.0)
    killed = schedule(on, {**ALONE, "run_s": 5000.0, "limit_s": 900.0}, other, rules=rules)
    assert (killed.state[0], killed.end_s[0]) == (KILLED, 1500.0)


def test_a_qos_takes_nodes_after_the_grace() -> None:
    """Job 1 asks at 103 s; the grace ends at 163 s, and job 0 leaves when limits are looked at."""
    on = machine(1, qos=2)
    on = replace(on, qos=replace(on.qos, preempts=np.array([[False, False], [True, False]]),
                                 preempt_mode=np.array([CANCEL, 0]),
                                 grace_s=np.array([60, 0])))
    found = schedule(on, ALONE, {**ALONE, "qos": 1, "submit_s": 103.0},
                     rules=replace(BUILTIN, preempt="qos"))
    assert (found.end_s[0], found.start_s[1]) == (180.0, 180.0)


def test_jobs_of_a_node_that_fails_are_requeued_or_lost() -> None:
    """Node 0 is down from 100 to 900 s: job 0 may run again, at once on node 1; job 1 is lost."""
    on = machine(2)
    outages = Outages(np.array([0]), np.array([100.0]), np.array([900.0]), np.array([False]))
    found = schedule(on, {"tasks": 2, "requeue": True}, {"tasks": 2}, {"tasks": 1, "submit_s": 1.0},
                     outages=outages)
    assert list(found.state) == [RAN, NODE_FAILED, RAN]
    assert found.end_s[1] == 100.0
    assert (found.start_s[0], found.requeues[0]) == (100.0, 1)
    drained = replace(outages, drain=np.array([True]))
    found = schedule(on, {"tasks": 2}, {**ALONE, "submit_s": 200.0}, {**ALONE, "submit_s": 201.0},
                     outages=drained)
    assert list(found.start_s) == [0.0, 200.0, 800.0]


def test_the_tightest_leaf_that_is_large_enough_is_taken() -> None:
    """Leaf 0 has three nodes, leaf 1 two: a job of two nodes goes to leaf 1."""
    on = machine(5, leaf=np.array([0, 0, 0, 1, 1]), switches=2)
    found = schedule(on, {"tasks": 2, "min_nodes": 2, "exclusive": True},
                     rules=replace(BUILTIN, topology_tree=True))
    assert list(found.allocation_node) == [3, 4]


def test_whole_nodes_are_given_by_select_linear() -> None:
    found = schedule(machine(2), {}, {}, {}, rules=replace(BUILTIN, select="linear"))
    assert list(found.start_s) == [0.0, 0.0, 600.0]
    assert list(found.allocation_cpus) == [4, 4, 4]


def test_a_job_that_would_break_the_cap_waits_and_a_planned_one_keeps_its_watts() -> None:
    """200 W idle, 245 W at most: job 0 adds 20 W, job 1 would add 40 W and waits for 600 s.

    Job 2 adds 20 W and would fit, but not beside job 1 from 600 s on; job 3 ends before.
    """
    on = machine(2)
    jobs = ({"tasks": 2}, {"tasks": 4, "submit_s": 1.0}, {"tasks": 2, "submit_s": 2.0},
            {"tasks": 2, "submit_s": 3.0, "run_s": 300.0, "limit_s": 300.0})
    found = schedule(on, *jobs, rules=Rules(), cap=Signal.constant(245.0, "W"))
    assert list(found.start_s) == [0.0, 600.0, 1200.0, 30.0]
    assert found.above_cap_s == 0.0
    assert found.event_power_w.max() == 240.0


def test_energy_is_the_jobs_parts_and_its_share_of_idle_power() -> None:
    """2 of 4 CPUs at half load for 600 s: (2 x 10 x 0.5 + 100 / 2) W; measured 180 W per node."""
    found = schedule(machine(1), {"tasks": 2, "cpu_load": 0.5})
    assert found.energy_j[0] == 600.0 * 60.0
    found = schedule(machine(1), {**ALONE, "power_per_node_w": 180.0})
    assert found.energy_j[0] == 600.0 * 180.0
    assert found.event_power_w[0] == 180.0


def test_idle_nodes_sleep_and_wake_for_a_job() -> None:
    """Idle from 60 s on, asleep at 160 s; the job of 1000 s waits 60 s for its node to boot, and 20
    s for the next look at running jobs."""
    rules = replace(BUILTIN, suspend_time_s=100.0)
    found = schedule(machine(1), {"run_s": 60.0}, {"run_s": 60.0, "submit_s": 1000.0}, rules=rules)
    assert list(found.start_s) == [0.0, 1080.0]
    assert list(found.end_s) == [60.0, 1140.0]
    asleep = found.event_power_w[np.searchsorted(found.event_time_s, 500.0, "right") - 1]
    assert asleep == 0.0
