"""Jobs that choose among classes of node, worked out by hand.

Four nodes of 4 CPUs draw 100 W each when idle; n0 and n1 are of class 0, n2 and n3 of class 1.
Loops begin at 0 s. A job of one node draws 160 W on it on class 0, 130 W on class 1, where it takes
twice as long.
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
from wattline.shared_nodes.bound_sums import over_bounds
from wattline.shared_nodes.class_options import ClassOptions
from wattline.shared_nodes.machine import REQUEUE, SUSPEND, SharedMachine
from wattline.shared_nodes.outcome import KILLED, NEVER, RAN, REASONS, Schedule
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

CLASS_OF_NODE = np.array([0, 0, 1, 1])
FAST, THRIFTY = (0, 600.0, 160.0), (1, 1200.0, 130.0)
"""Class, seconds, and watts of a node."""
NODE: dict[str, Any] = {"tasks": 4, "min_nodes": 1, "limit_s": 3600.0}
MAIN = Rules(scheduler="builtin")


def choosing(
    asked: Requests, *options: list[tuple[int, float, float]], patience: float = 0.0,
    class_of_node: Any = CLASS_OF_NODE,
) -> Requests:
    """One list of options per job, best first; what is known of them is true."""
    rows = [(kind, float(place), run_s, watts)
            for listed in options for place, (kind, run_s, watts) in enumerate(listed)]
    columns = np.array(rows).reshape(-1, 4)
    return replace(asked, options=ClassOptions(
        class_of_node=np.asarray(class_of_node),
        first=np.cumsum([0, *(len(listed) for listed in options)]),
        kind=columns[:, 0].astype(np.int64), score=columns[:, 1], claimed_s=columns[:, 2],
        run_s=columns[:, 2].copy(), power_per_node_w=columns[:, 3], patience=patience))


def schedule(on: SharedMachine, asked: Requests, rules: Rules = MAIN, **more: Any) -> Schedule:
    found = simulate_shared(on, asked, rules, **more)
    assert findings(on, asked, rules, found, more.get("cap")) == []
    return found


def nodes_of(found: Schedule, job: int) -> list[int]:
    return found.allocation_node[found.allocation_job == job].tolist()


@pytest.mark.parametrize(("options", "nodes"), [
    ([FAST, THRIFTY], [0, 1, 2, 3]), ([THRIFTY, FAST], [2, 3, 0, 1]), ([], [2, 3, 0, 1])])
def test_the_best_class_comes_first_and_then_the_next(options: Any, nodes: list[int]) -> None:
    """Slurm's Weight alone would take the last two nodes first. Seconds and watts are those of the
    class: 600 s and 160 W, or 1200 s and 130 W."""
    on = machine(4, weight=np.array([9, 9, 1, 1]))
    asked = choosing(requests(on, *[NODE] * 4), *[options] * 4)
    found = schedule(on, asked)
    assert found.start_s.tolist() == [0.0] * 4
    assert [nodes_of(found, job) for job in range(4)] == [[node] for node in nodes]
    if options:
        run_s = np.where(np.array(nodes) < 2, 600.0, 1200.0)
        power_w = np.where(np.array(nodes) < 2, 160.0, 130.0)
        assert found.end_s.tolist() == run_s.tolist()
        assert found.energy_j == pytest.approx(run_s * power_w)
        assert found.event_power_w.max() == 400.0 + 2 * 60.0 + 2 * 30.0
        assert found.option.tolist() == [2 * job + options.index(FAST if node < 2 else THRIFTY)
                                         for job, node in enumerate(nodes)]


def test_all_nodes_of_a_job_are_of_one_class() -> None:
    """One node of each class is taken. The job of two nodes could have one of each, and waits
    until the class that it likes less is free at 300 s."""
    on = machine(4)
    asked = requests(on, {**NODE, "run_s": 900.0}, {**NODE, "run_s": 300.0, "required": 0},
                     {**NODE, "tasks": 8, "min_nodes": 2, "submit_s": 1.0},
                     node_masks=[[False, False, True, False]])
    free = simulate_shared(on, asked, Rules())
    assert nodes_of(free, 2) == [1, 3]
    found = schedule(on, choosing(asked, [], [], [FAST, THRIFTY]), Rules())
    assert (found.start_s[2], nodes_of(found, 2)) == (300.0, [2, 3])
    assert found.energy_j[2] == pytest.approx(2 * 130.0 * 1200.0)


def test_a_job_that_no_class_can_run_alone_gets_nodes_of_any() -> None:
    on = machine(4)
    asked = choosing(requests(on, {**NODE, "tasks": 12, "min_nodes": 3, "run_s": 77.0}),
                     [FAST, THRIFTY])
    found = schedule(on, asked)
    assert (found.end_s[0], found.option[0], len(nodes_of(found, 0))) == (77.0, -1, 3)


def test_features_leave_a_job_the_classes_that_it_may_have() -> None:
    on = machine(4)
    asked = requests(on, {**NODE, "features": 0}, feature_masks=[[False, False, True, True]])
    found = schedule(on, choosing(asked, [FAST, THRIFTY]))
    assert (nodes_of(found, 0), found.end_s[0]) == ([2], 1200.0)


@pytest.mark.parametrize(("patience", "start_s", "node"), [(0.0, 3.0, 2), (0.5, 600.0, 0)])
def test_a_patient_job_waits_for_its_class(patience: float, start_s: float, node: int) -> None:
    """The second class scores worse by 1. A pass follows the one before it after 3 s."""
    on = machine(4)
    asked = choosing(requests(on, NODE, NODE, {**NODE, "submit_s": 1.0}),
                     *[[FAST, THRIFTY]] * 3, patience=patience)
    found = schedule(on, asked)
    assert (found.start_s[2], nodes_of(found, 2)) == (start_s, [node])


def test_a_class_on_which_a_job_would_pass_its_limit_is_passed_over() -> None:
    """The limit is the job's own on every class. Where no class is within it, it is killed there,
    after the 1140 s that backfill plans with."""
    on = machine(4)
    late = {**NODE, "limit_s": 1140.0}
    found = schedule(on, choosing(requests(on, late, {**late, "features": 0}, feature_masks=[
        [False, False, True, True]]), *[[THRIFTY, FAST]] * 2))
    assert (nodes_of(found, 0), found.state[0], found.end_s[0]) == ([0], RAN, 600.0)
    assert (nodes_of(found, 1), found.state[1], found.end_s[1]) == ([2], KILLED, 1140.0)


def test_backfill_plans_with_limits_whatever_the_class() -> None:
    """Job 2 takes all nodes when the first two are over by their limits, at 1200 s. Job 3, of
    1200 s by its limit from 2 s on, would hold it up on any class; job 4, of 600 s, starts on its
    second class, where its 500 s are 600 s."""
    on = machine(4)
    first = {**NODE, "limit_s": 1200.0, "run_s": 1200.0}
    jobs = (first, first, {**NODE, "tasks": 16, "min_nodes": 4, "submit_s": 1.0},
            {**NODE, "limit_s": 1200.0, "submit_s": 2.0},
            {**NODE, "limit_s": 600.0, "submit_s": 3.0})
    quick = [(0, 500.0, 160.0), (1, 600.0, 130.0)]
    asked = choosing(requests(on, *jobs), [(0, 1200.0, 160.0)], [(0, 1200.0, 160.0)], [], quick,
                     quick)
    found = schedule(on, asked, Rules(bf_interval_s=30.0))
    assert found.start_s[2] == 1200.0
    assert found.start_s[3] > 1200.0
    assert found.start_s[4] < 100.0
    assert (nodes_of(found, 4), found.end_s[4] - found.start_s[4]) == ([2], 600.0)


def test_a_class_that_no_cap_has_room_for_is_none() -> None:
    """Alone on the first class the job would draw 460 W, on the second 430 W."""
    on = machine(4)
    asked = choosing(requests(on, NODE, NODE), *[[FAST, THRIFTY]] * 2)
    found = schedule(on, asked, cap=Signal.constant(450.0, "W"))
    assert found.start_s.tolist() == [0.0, 1200.0]
    assert found.event_power_w.max() == 430.0
    wide = schedule(on, asked, cap=Signal.constant(465.0, "W"))
    assert [nodes_of(wide, job) for job in (0, 1)] == [[0], [0]]
    none = schedule(on, asked, cap=Signal.constant(420.0, "W"))
    assert none.state.tolist() == [NEVER, NEVER]
    assert REASONS[none.reason[0]] == "the power cap leaves no room for it"


def fallen(*steps: tuple[float, float]) -> Signal:
    return Signal(*(np.array(column) for column in zip(*steps, strict=True)), "W")


@pytest.mark.parametrize("scheduler", ["builtin", "backfill"])
def test_a_class_that_a_fallen_cap_has_no_room_for_is_none_from_then_on(scheduler: str) -> None:
    """From 4,000 s on there is room for the second class alone. Who comes before 400 s has the
    first one for all of its limit; who comes later takes the second at once."""
    on = machine(4)
    jobs = ({**NODE, "submit_s": 390.0}, {**NODE, "submit_s": 410.0},
            {**NODE, "submit_s": 5000.0})
    asked = choosing(requests(on, *jobs), *[[FAST, THRIFTY]] * 3)
    rules = Rules(scheduler=scheduler, kill_late_s=0.0)
    found = schedule(on, asked, rules, cap=fallen((0.0, 1000.0), (4000.0, 450.0)))
    assert [nodes_of(found, job) for job in range(3)] == [[0], [2], [2]]
    assert found.start_s.tolist() == [390.0, 410.0, 5000.0]


@pytest.mark.parametrize("scheduler", ["builtin", "backfill"])
def test_who_waits_for_a_class_goes_on_when_its_last_start_has_passed(scheduler: str) -> None:
    """The nodes of the first class are taken until 700 s, those of the second free. The patient job
    waits for the first until it could not end there before the cap falls: 4,000 - 3,600 s."""
    on = machine(4)
    long = {**NODE, "run_s": 700.0, "limit_s": 700.0}
    asked = choosing(requests(on, long, long, {**NODE, "submit_s": 1.0}),
                     [(0, 700.0, 160.0)], [(0, 700.0, 160.0)], [FAST, THRIFTY], patience=0.5)
    rules = Rules(scheduler=scheduler, kill_late_s=0.0, bf_interval_s=30.0)
    found = schedule(on, asked, rules, cap=fallen((0.0, 1000.0), (4000.0, 450.0)))
    assert nodes_of(found, 2) == [2]
    assert 400.0 < found.start_s[2] <= 460.0


def test_a_class_is_waited_for_where_the_cap_rises_again_for_long_enough() -> None:
    """Above 460 W is the cap from 600 to 1,200 s only, then from 9,000 s on."""
    on = machine(4)
    steps = ((0.0, 450.0), (600.0, 1000.0), (1200.0, 450.0), (9000.0, 1000.0))
    asked = choosing(requests(on, NODE), [FAST, THRIFTY])
    found = schedule(on, asked, cap=fallen(*steps))
    assert (found.start_s[0], nodes_of(found, 0)) == (9000.0, [0])
    found = schedule(on, asked, cap=fallen(*steps[:3]))
    assert (found.start_s[0], nodes_of(found, 0)) == (0.0, [2])


def test_a_thriftier_setting_of_a_class_serves_where_the_better_has_no_room_any_more() -> None:
    """Of the first class there are two settings, of 160 W and of 140 W on a node."""
    on = machine(4)
    asked = choosing(requests(on, NODE, {**NODE, "submit_s": 5000.0}),
                     *[[FAST, (0, 900.0, 140.0)]] * 2)
    found = schedule(on, asked, cap=fallen((0.0, 1000.0), (4000.0, 450.0)))
    assert (found.end_s - found.start_s).tolist() == [600.0, 900.0]
    assert found.option.tolist() == [0, 3]


def test_the_next_class_serves_where_a_part_of_the_machine_is_full() -> None:
    """A limit on the first class has room for one job beside idle nodes."""
    on = machine(4)
    asked = choosing(requests(on, *[NODE] * 3), *[[FAST, THRIFTY]] * 3)
    bounds = [PowerBound("fast", 290.0, 200.0, np.array([0, 1]))]
    found = schedule(on, asked, bounds=bounds)
    assert [nodes_of(found, job) for job in range(3)] == [[0], [2], [3]]
    assert list(over_bounds(on, found, bounds)) == []


@pytest.mark.parametrize("mode", [REQUEUE, SUSPEND])
def test_a_job_that_lost_its_nodes_goes_on_by_the_class_that_it_gets(mode: int) -> None:
    """Nodes 0, 2 and 3 have others for 1 h. The job runs on node 1 until 240 s, where another takes
    that node for 1 h; it goes on at 300 s on node 2: with all its work, 1200 s there, or with
    three fifths of it, 720 s."""
    on = machine(4, partitions=[[0, 1, 2, 3], [1]])
    on = replace(on, partitions=replace(
        on.partitions, tier=np.array([1, 2]), preempt_mode=np.array([mode, 0])))
    long = {**NODE, "run_s": 3600.0, "limit_s": 7200.0}
    jobs = ({**long, "required": 0}, {**long, "required": 1, "run_s": 300.0},
            {**long, "required": 2}, {**NODE, "requeue": True, "submit_s": 0.0},
            {**long, "submit_s": 240.0, "partition": 1})
    asked = requests(on, *jobs, node_masks=[[row == node for row in range(4)]
                                            for node in (0, 2, 3)])
    rules = Rules(preempt="partition", scheduler="builtin")
    found = schedule(on, choosing(asked, [], [], [], [FAST, THRIFTY], []), rules)
    assert nodes_of(found, 3) == [2]
    assert found.end_s[3] == 300.0 + (1200.0 if mode == REQUEUE else 720.0)
    last_s = found.end_s[3] - 300.0
    assert found.energy_j[3] == pytest.approx(160.0 * 240.0 + 130.0 * last_s)


def test_the_checker_sees_nodes_of_another_class() -> None:
    on = machine(4)
    asked = choosing(requests(on, NODE), [FAST, THRIFTY])
    found = replace(schedule(on, asked), allocation_node=np.array([3]))
    assert "job 1 on n3 is on a node of another class than it chose" in findings(
        on, asked, MAIN, found)
