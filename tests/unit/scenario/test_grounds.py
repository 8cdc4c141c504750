"""Plans one after the other stand on what the last one stood on only where it is the same."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

import wattline as wl
from wattline.model.errors import InputError
from wattline.scenario.build import Grounds, Plan, plan
from wattline.scenario.load import changed, validate
from wattline.scenario.model import Scenario

FIELDS = {"trace": {"generate": "lublin", "jobs": 30},
          "machine": {"nodes": 64, "node_active_w": 300}}
CHANGES: dict[str, dict[str, Any]] = {
    "cap": {"power.cap": 9000.0, "policy.power": "dvfs"},
    "order": {"policy.order": "sjf"},
    "nodes": {"machine.nodes": 80},
    "watts": {"machine.node_active_w": 310.0},
    "fraction": {"power.idle_fraction": 0.4},
    "smaller": {"machine.nodes": 16, "trace.drop_larger": True},
    "cores": {"machine.cores_per_node": 2},
}
SAME_GROUND = ("cap", "order")


def scenario(name: str = "") -> Scenario:
    return validate(changed(FIELDS, CHANGES.get(name, {})), "test")


def shown(made: Plan) -> list[Any]:
    return [made.machine, made.jobs.procs.tolist(), made.assumed, made.dropped,
            made.policy.order,
            None if made.rules.cap_w is None else made.rules.cap_w.value.tolist()]


@pytest.fixture(scope="module")
def trace() -> wl.Trace:
    return wl.generate("lublin", seed=1, jobs=30, nodes=64)


@pytest.mark.parametrize("name", CHANGES)
def test_a_ground_is_made_anew_where_what_it_rests_on_is_another(
    trace: wl.Trace, name: str
) -> None:
    grounds = Grounds()
    first = grounds.of(scenario(), trace)
    assert grounds.of(scenario(), trace) is first
    assert (grounds.of(scenario(name), trace) is first) is (name in SAME_GROUND)


def test_jobs_of_another_trace_are_another_ground(trace: wl.Trace) -> None:
    grounds = Grounds()
    first = grounds.of(scenario(), trace)
    other = wl.generate("lublin", seed=2, jobs=30, nodes=64)
    assert grounds.of(scenario(), other).jobs is other.jobs
    assert grounds.of(scenario(), trace) is not first  # the last one alone is remembered
    machine = first.machine
    assert grounds.of(scenario(), trace, machine).machine is machine


@pytest.mark.parametrize("names", [*permutations(
    ("", "cap", "nodes", "fraction", "smaller"), 3)])
def test_a_plan_is_the_same_whatever_was_planned_before(
    trace: wl.Trace, names: tuple[str, ...]
) -> None:
    grounds = Grounds()
    for name in names:
        assert shown(plan(scenario(name), trace, grounds=grounds)) == \
            shown(plan(scenario(name), trace))


def test_a_mistake_is_not_remembered(trace: wl.Trace) -> None:
    grounds = Grounds()
    small = validate(changed(FIELDS, {"machine.nodes": 2}), "test")
    for _ in range(2):
        with pytest.raises(InputError, match="the machine has 2"):
            plan(small, trace, grounds=grounds)
    assert len(plan(scenario(), trace, grounds=grounds).jobs) == 30
