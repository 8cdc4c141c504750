"""Limits of parts of a machine with shared nodes, worked out by hand.

Nodes of 4 CPUs draw 100 W each and each CPU in use 10 W more; loops begin at 0 s.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from tests.support.shared_judged import findings
from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.shared_nodes.bound_sums import over_bounds, peaks_w
from wattline.shared_nodes.machine import REQUEUE, SharedMachine
from wattline.shared_nodes.outcome import RAN, REASONS, REFUSED, Schedule
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

ALONE: dict[str, Any] = {"tasks": 4, "min_nodes": 1}
"""Takes a node, and 40 W."""


def rack(name: str, limit_w: float, *nodes: int, share: float | None = None) -> PowerBound:
    part = None if share is None else np.full(len(nodes), share)
    return PowerBound(name, limit_w, 100.0 * len(nodes) * (share or 1.0), np.array(nodes), part)


def schedule(
    on: SharedMachine, bounds: list[PowerBound], *jobs: dict[str, Any], rules: Rules | None = None,
    cap: Signal | None = None,
) -> Schedule:
    asked, rules = requests(on, *jobs), rules or Rules(kill_late_s=0.0)
    found = simulate_shared(on, asked, rules, bounds=bounds, cap=cap)
    assert findings(on, asked, rules, found, cap, bounds=bounds) == []
    assert list(over_bounds(on, found, bounds)) == []
    return found


def node_of(found: Schedule, job: int) -> list[int]:
    return found.allocation_node[found.allocation_job == job].tolist()


@pytest.mark.parametrize("scheduler", ["builtin", "backfill"])
def test_a_job_goes_where_a_rack_has_watts_left(scheduler: str) -> None:
    """Rack 0 has room for one job of 40 W: the next ones take the nodes of rack 1, then wait."""
    bounds = [rack("rack0", 250.0, 0, 1)]
    found = schedule(machine(4), bounds, *[ALONE] * 4,
                     rules=Rules(scheduler=scheduler, kill_late_s=0.0))
    assert [node_of(found, job) for job in range(3)] == [[0], [2], [3]]
    assert found.start_s.tolist() == [0.0, 0.0, 0.0, 600.0]
    on = machine(4)
    assert peaks_w(on, found, bounds) == [240.0]


def test_a_job_over_two_racks_takes_what_each_has_room_for() -> None:
    """Three nodes of 40 W: one of rack 0, two of rack 1."""
    found = schedule(machine(4), [rack("rack0", 250.0, 0, 1)],
                     {"tasks": 12, "min_nodes": 3, "max_nodes": 3})
    assert sorted(node_of(found, 0)) == [0, 2, 3]


def test_limits_at_two_levels_hold_together() -> None:
    """Each rack has room for two jobs, and the unit that feeds both for three."""
    bounds = [rack("rack0", 280.0, 0, 1), rack("rack1", 280.0, 2, 3),
              rack("pdu0", 520.0, 0, 1, 2, 3)]
    found = schedule(machine(4), bounds, *[ALONE] * 4)
    assert sorted(found.start_s.tolist()) == [0.0, 0.0, 0.0, 600.0]


def test_a_feed_counts_its_share_of_a_watt() -> None:
    """Half of each watt: 4 x 50 W idle, and 20 W of each of two jobs make 240 W."""
    found = schedule(machine(4), [rack("feedA", 240.0, 0, 1, 2, 3, share=0.5)], *[ALONE] * 3)
    assert found.start_s.tolist() == [0.0, 0.0, 600.0]


def test_devices_count_where_they_are() -> None:
    """A GPU draws 50 W and a CPU 10: with one job the rack is at 160 of 200 W, two would be 220."""
    gpu = {"tasks": 1, "gpus": 1}
    found = schedule(machine(1, gpus=2), [rack("rack0", 200.0, 0)], gpu, gpu)
    assert found.start_s.tolist() == [0.0, 600.0]


def test_a_job_that_no_part_has_room_for_is_refused_and_blocks_nobody() -> None:
    """Eight CPUs over both nodes of the only rack need 80 W, and 50 W are left."""
    on = machine(2)
    found = schedule(on, [rack("rack0", 250.0, 0, 1)], {"tasks": 8, "min_nodes": 2},
                     {**ALONE, "submit_s": 1.0}, rules=Rules(scheduler="builtin", kill_late_s=0.0))
    assert found.state.tolist() == [REFUSED, RAN]
    assert REASONS[found.reason[0]] == "a limit of a part of the machine leaves no room for it"
    assert found.start_s[1] == 1.0


def test_a_job_that_is_planned_keeps_its_watts_in_its_rack() -> None:
    """The rack has room for two jobs. Job 1 needs both nodes and is planned for 600 s, when job 0
    ends. Job 2, of 10 W on the other node, would last beyond: it waits; job 3 does not."""
    bounds = [rack("rack0", 280.0, 0, 1)]
    jobs = [ALONE, {"tasks": 8, "min_nodes": 2, "submit_s": 1.0, "run_s": 100.0, "limit_s": 100.0},
            {"tasks": 1, "submit_s": 2.0, "run_s": 900.0, "limit_s": 900.0},
            {"tasks": 1, "submit_s": 3.0, "run_s": 60.0, "limit_s": 60.0}]
    found = schedule(machine(2), bounds, *jobs)
    assert found.start_s[1] == 600.0
    assert found.start_s[2] >= 700.0
    assert found.start_s[3] < 600.0


def test_watts_that_are_planned_keep_later_jobs_off_other_nodes_of_the_rack() -> None:
    """Job 1 gets two of three nodes at 600 s, when job 0 ends, and the rack is full of watts then:
    only a job that is over by then may have the third."""
    jobs = [ALONE, {"tasks": 8, "min_nodes": 2, "submit_s": 1.0, "run_s": 100.0, "limit_s": 100.0},
            {"tasks": 1, "submit_s": 2.0, "run_s": 900.0, "limit_s": 900.0},
            {"tasks": 1, "submit_s": 3.0, "run_s": 60.0, "limit_s": 60.0}]
    found = schedule(machine(3), [rack("rack0", 380.0, 0, 1, 2)], *jobs)
    assert found.start_s.tolist()[1:3] == [600.0, 700.0]
    assert found.start_s[3] < 600.0


def test_backfill_plans_on_nodes_whose_rack_has_watts() -> None:
    """Node 1 is free, and its rack has no watts until 600 s. Job 3 needs a node and is planned for
    300 s on node 3, when job 2 with three of its CPUs ends. Job 4 would fit beside that one, but
    lasts beyond 300 s, so it waits."""
    jobs = [ALONE, ALONE, {**ALONE, "tasks": 3, "run_s": 300.0, "limit_s": 300.0},
            {**ALONE, "submit_s": 1.0},
            {"tasks": 1, "submit_s": 2.0, "run_s": 500.0, "limit_s": 500.0}]
    found = schedule(machine(4), [rack("rack0", 245.0, 0, 1)], *jobs)
    assert [node_of(found, job) for job in range(4)] == [[0], [2], [3], [3]]
    assert found.start_s[3] == 300.0
    assert found.start_s[4] == 600.0


def test_jobs_give_way_where_that_frees_the_watts_of_a_rack() -> None:
    on = machine(2, partitions=[[0, 1]] * 2)
    on = replace(on, partitions=replace(
        on.partitions, tier=np.array([1, 2]), preempt_mode=np.array([REQUEUE, 0])))
    high = {**ALONE, "submit_s": 10.0, "run_s": 60.0, "limit_s": 60.0, "partition": 1}
    asked = requests(on, {**ALONE, "requeue": True, "partition": 0}, high)
    found = simulate_shared(on, asked, Rules(preempt="partition", kill_late_s=0.0),
                            bounds=[rack("rack0", 250.0, 0, 1)])
    assert found.start_s[1] == 10.0
    assert (found.requeues[0], found.start_s[0]) == (1, 70.0)


def test_a_cap_and_limits_of_parts_hold_together() -> None:
    """The rack has room for two jobs, the cap for one."""
    found = schedule(machine(2), [rack("rack0", 280.0, 0, 1)], ALONE, ALONE,
                     cap=Signal.constant(240.0, "W"))
    assert found.start_s.tolist() == [0.0, 600.0]


def test_a_late_kill_holds_the_watts_of_a_rack() -> None:
    """The first job is killed at 90 s, 20 s after its limit: until then its watts are not free."""
    endless = {**ALONE, "submit_s": 10.0, "run_s": 1e6, "limit_s": 60.0}
    found = schedule(machine(2), [rack("rack0", 260.0, 0, 1)], endless,
                     {**ALONE, "submit_s": 72.0}, rules=Rules(kill_late_s=15.0))
    assert (found.end_s[0], found.start_s[1]) == (90.0, 90.0)


def test_who_takes_over_the_nodes_of_a_job_takes_over_its_watts() -> None:
    """As with a cap (test_shared_cap_by_hand.py): 280 W is all that the parts of both nodes can
    draw. The limit counts, as the last job has watts of its own."""
    jobs = ({**ALONE, "submit_s": 10.0, "run_s": 1e6, "limit_s": 120.0},
            {"tasks": 8, "min_nodes": 2, "submit_s": 12.0, "run_s": 60.0, "limit_s": 60.0},
            {**ALONE, "submit_s": 15.0, "run_s": 110.0, "limit_s": 120.0},
            {**ALONE, "submit_s": 1e5, "power_per_node_w": 120.0})
    rules = Rules(kill_late_s=15.0, bf_interval_s=5.0, bf_resolution_s=1.0)
    found = schedule(machine(2), [rack("rack0", 280.0, 0, 1)], *jobs, rules=rules)
    on = machine(2)
    without = simulate_shared(on, requests(on, *jobs), rules)
    assert found.start_s.tolist() == without.start_s.tolist()
    assert found.end_s[0] == found.start_s[1] == 150.0
    assert found.start_s[2] >= 210.0
