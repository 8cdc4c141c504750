"""Order of jobs where QOS preempt, and limits on types of GPUs, worked out by hand.

Jobs run 600 s; a node has 4 CPUs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import RESOURCES, limits, machine, requests
from tests.support.shared_judged import findings
from wattline.shared_nodes.machine import REQUEUE, SharedMachine
from wattline.shared_nodes.rules import Priority, Rules
from wattline.shared_nodes.simulate import simulate_shared

WHOLE: dict[str, Any] = {"tasks": 4, "min_nodes": 1}
BY_PRIORITY = Rules(scheduler="builtin", priority=Priority("multifactor", qos=1000))
TYPED, ALL = 3, 5
"""Columns of limits: GPUs of type a, of type b, and all of them."""


def of_qos(preempts: list[tuple[int, int]], priority: list[int]) -> SharedMachine:
    """One node, three QOS: pairs say which of them preempts which."""
    on = machine(1, qos=3)
    table = np.zeros((3, 3), bool)
    for one, other in preempts:
        table[one, other] = True
    return replace(on, qos=replace(on.qos, preempts=table, preempt_mode=np.full(3, REQUEUE),
                                   priority=np.array(priority)))


def test_who_may_preempt_another_goes_before_it_whatever_its_priority() -> None:
    """Job 0 may not be preempted by anyone. Of jobs 1 and 2, which wait for its node, job 2 is of
    the QOS that may preempt that of job 1, which has more priority."""
    on = of_qos([(2, 1)], [0, 100, 0])
    jobs = (WHOLE, {**WHOLE, "qos": 1, "submit_s": 1.0}, {**WHOLE, "qos": 2, "submit_s": 2.0})
    asked = requests(on, *jobs)
    by_qos = simulate_shared(on, asked, replace(BY_PRIORITY, preempt="qos"))
    assert list(by_qos.start_s) == [0.0, 1200.0, 600.0]
    without = simulate_shared(on, asked, BY_PRIORITY)
    assert list(without.start_s) == [0.0, 600.0, 1200.0]


def test_jobs_of_qos_that_do_not_preempt_each_other_go_by_priority() -> None:
    on = of_qos([(2, 1)], [50, 100, 10])
    jobs = (WHOLE, {**WHOLE, "qos": 2, "submit_s": 1.0}, {**WHOLE, "qos": 0, "submit_s": 2.0})
    found = simulate_shared(on, requests(on, *jobs), replace(BY_PRIORITY, preempt="qos"))
    assert list(found.start_s) == [0.0, 1200.0, 600.0]


def test_a_circle_of_preemption_and_priority_is_put_into_some_order() -> None:
    """2 may preempt 1, 1 has more priority than 0, and 0 than 2; all jobs run in the end."""
    on = of_qos([(2, 1)], [50, 100, 10])
    jobs = [{**WHOLE, "qos": row % 3, "submit_s": float(row), "run_s": 60.0} for row in range(30)]
    rules = replace(BY_PRIORITY, preempt="qos", priority=Priority("multifactor", qos=1000, age=900))
    found = simulate_shared(on, requests(on, *jobs), rules)
    assert np.isfinite(found.end_s).all()


def with_two_types(**given: Any) -> SharedMachine:
    """Node 0 has four GPUs of type a, node 1 four of type b; limits are those of the one QOS."""
    on = machine(2, cpus=8)
    kinds = (("gpu", "a"), ("gpu", "b"))
    none = limits(5, RESOURCES + 1)
    return replace(
        on, nodes=replace(on.nodes, gres_kinds=kinds, gres=np.array([[4, 0], [0, 4]]),
                          gres_w=np.array([50.0, 50.0])),
        qos=replace(on.qos, limits=limits(1, RESOURCES + 1, **given)),
        associations=replace(on.associations, limits=none))


def gpus(on: SharedMachine, *asked: tuple[int, int, int]) -> Any:
    """Jobs of one task each, with GPUs of any type, of type a and of type b."""
    made = requests(on, *({"gpus": 0} for _ in asked))
    made = replace(made, gres_choices=(("gpu", ""), ("gpu", "a"), ("gpu", "b")),
                   gres_per_node=np.array(asked), gres_per_job=np.zeros((len(asked), 3), np.int64),
                   gres_per_task=np.zeros((len(asked), 3), np.int64))
    rules = Rules(scheduler="builtin", enforce_limits=True)
    found = simulate_shared(on, made, rules)
    assert findings(on, made, rules, found) == []
    return list(found.start_s)


@pytest.mark.parametrize(("given", "asked", "starts"), [
    ({"group_tres": (0, ALL, 5)}, [(0, 3, 0), (0, 0, 2), (0, 0, 1)], [0.0, 0.0, 600.0]),
    ({"group_tres": (0, TYPED, 3)}, [(0, 3, 0), (0, 1, 0), (0, 0, 4)], [0.0, 600.0, 0.0]),
    ({"group_tres": (0, TYPED, 2)}, [(0, 2, 0), (2, 0, 0), (0, 1, 0)], [0.0, 0.0, 600.0]),
    ({"user_tres": (0, ALL, 4)}, [(2, 0, 0), (0, 2, 0), (1, 0, 0)], [0.0, 0.0, 600.0]),
])
def test_limits_on_a_type_count_what_asks_for_it_and_those_on_all_count_all(
    given: dict[str, Any], asked: list[tuple[int, int, int]], starts: list[float]
) -> None:
    assert gpus(with_two_types(**given), *asked) == starts


def test_limits_on_a_type_and_on_all_stand_beside_each_other() -> None:
    """At most two of type a, and three in all: job 1 waits for the type, job 3 for the rest."""
    on = with_two_types(group_tres=(0, TYPED, 2))
    on.qos.limits.group_tres[0, ALL] = 3
    assert gpus(on, (0, 2, 0), (0, 1, 0), (0, 0, 1), (0, 0, 1)) == [0.0, 600.0, 0.0, 600.0]


def test_gpus_per_task_count_too() -> None:
    on = machine(1, gpus=4)
    on = replace(on, qos=replace(on.qos, limits=limits(1, on.resources, group_tres=(0, 4, 2))))
    asked = requests(on, {"tasks": 2, "gpus_per_task": 1}, {"tasks": 1, "gpus_per_task": 1})
    found = simulate_shared(on, asked, Rules(scheduler="builtin", enforce_limits=True))
    assert list(found.start_s) == [0.0, 600.0]
