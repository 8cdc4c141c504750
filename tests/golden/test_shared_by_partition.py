"""Jobs with several partitions, by hand: what holds in the one where they start holds for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from wattline.shared_nodes.machine import EXCLUSIVE, EXCLUSIVE_USER, SHARED, SharedMachine
from wattline.shared_nodes.outcome import NEVER, RAN, REASONS, REFUSED
from wattline.shared_nodes.rules import BACKFILL, BUILTIN, Rules
from wattline.shared_nodes.simulate import simulate_shared

MAIN = Rules(scheduler=BUILTIN, batch_sched_delay_s=0.0)
BOTH = (MAIN, Rules(scheduler=BACKFILL, batch_sched_delay_s=0.0))


def schedule(on: SharedMachine, *jobs: dict[str, Any], rules: Rules = MAIN) -> Any:
    return simulate_shared(on, requests(on, *jobs), rules)


def two(**partitions: Any) -> SharedMachine:
    """Node 0 is partition 0, node 1 is partition 1."""
    on = machine(2, partitions=[[0], [1]])
    return replace(on, partitions=replace(on.partitions, **{
        name: np.array(values) for name, values in partitions.items()}))


@pytest.mark.parametrize(("enforced", "state"), [("no", RAN), ("any", RAN), ("all", REFUSED)])
def test_all_refuses_a_job_over_the_limit_of_one_of_its_partitions(
    enforced: str, state: int,
) -> None:
    on = two(max_time_s=[300, 3600])
    found = schedule(on, {"partition": [0, 1]}, rules=replace(MAIN, enforce_part_limits=enforced))
    assert list(found.state) == [state]
    if state == RAN:
        assert list(found.partition) == [1]
    else:
        assert REASONS[found.reason[0]] == "over the partition's time"


@pytest.mark.parametrize(("enforced", "state"), [("no", NEVER), ("any", REFUSED), ("all", REFUSED)])
def test_over_the_limits_of_all_its_partitions_it_waits_only_where_nothing_is_enforced(
    enforced: str, state: int,
) -> None:
    for limits in ({"max_time_s": [300, 300]}, {"max_nodes": [0, 0]},
                   {"allowed_qos": [[False], [False]]},
                   {"allowed_accounts": [[True, False], [True, False]]}):
        found = schedule(two(**limits), {"partition": [0, 1]},
                         rules=replace(MAIN, enforce_part_limits=enforced))
        assert list(found.state) == [state], limits


@pytest.mark.parametrize("rules", BOTH)
def test_a_job_has_its_node_alone_only_in_a_partition_that_is_exclusive(rules: Rules) -> None:
    """Node 1 is taken, so job 1 starts in partition 0, where job 2 fits beside it."""
    on = two(sharing=[SHARED, EXCLUSIVE])
    jobs = ({"partition": 1}, {"partition": [0, 1]}, {"partition": 0})
    found = schedule(on, *jobs, rules=rules)
    assert list(found.start_s) == [0.0, 0.0, 0.0]
    assert list(found.allocation_cpus[found.allocation_job == 1]) == [1]
    # The other way round it starts in partition 1, and has all of its node.
    found = schedule(on, {"partition": 0, "tasks": 4}, {"partition": [0, 1]}, {"partition": 1},
                     rules=rules)
    assert list(found.partition) == [0, 1, 1]
    assert list(found.start_s) == [0.0, 0.0, 600.0]
    assert list(found.allocation_cpus[found.allocation_job == 1]) == [4]


@pytest.mark.parametrize("rules", BOTH)
def test_default_memory_is_that_of_the_partition_in_which_it_starts(rules: Rules) -> None:
    """Of 1000 MB a job takes all by default in partition 0 and 100 MB in partition 1."""
    on = two(default_memory_per_cpu_mb=[1000, 100])
    open_ = {"memory_per_cpu_mb": -1}
    found = schedule(on, {"partition": 0, **open_}, {"partition": [0, 1], **open_},
                     {"partition": 1, **open_}, rules=rules)
    assert list(found.start_s) == [0.0, 0.0, 0.0]
    assert list(found.partition) == [0, 1, 1]
    assert list(found.allocation_memory_mb) == [1000, 100, 100]


def test_nodes_of_one_user_are_so_only_in_their_partition() -> None:
    on = two(sharing=[EXCLUSIVE_USER, SHARED])
    found = schedule(on, {"partition": 0}, {"partition": [0, 1], "association": 3},
                     {"partition": 1, "association": 4})
    assert list(found.partition) == [0, 1, 1]
    assert list(found.start_s) == [0.0, 0.0, 0.0]


def test_more_cpus_for_memory_are_taken_only_where_that_is_limited() -> None:
    """200 MB per CPU is two CPUs of 100 MB in partition 1, and one in partition 0."""
    on = two(max_memory_per_cpu_mb=[0, 100])
    full = {"partition": 0, "tasks": 4}
    asks = {"partition": [0, 1], "memory_per_cpu_mb": 200}
    found = schedule(on, asks)
    assert list(found.allocation_cpus) == [1]
    found = schedule(on, full, asks)
    assert list(found.allocation_cpus) == [4, 2]


def test_nodes_that_never_had_a_job_sleep_too() -> None:
    """Of two nodes one is busy to 600 s; the other sleeps from 100 s on."""
    rules = replace(MAIN, suspend_time_s=100.0, suspend_excluded=())
    found = schedule(machine(2), {}, {"submit_s": 5000.0}, rules=rules)
    power_w = found.event_power_w[np.searchsorted(found.event_time_s, [50.0, 200.0, 800.0],
                                                  "right") - 1]
    assert power_w.tolist() == [210.0, 110.0, 0.0]
    kept = schedule(machine(2), {}, rules=replace(rules, suspend_excluded=("n0", "n1")))
    assert kept.event_power_w.min() == 200.0
