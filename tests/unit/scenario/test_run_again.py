"""A plan and a composition are values: run again, they give the same again."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.choices import CASES, every, planned

from wattline.engine.simulate import simulate
from wattline.policies.contract import Composition
from wattline.policies.memory import bound, memories


def columns(run):
    parts = [run.schedule, run.events] + ([run.placement] if run.placement else [])
    return [column for part in parts for column in vars(part).values()]


def same(one, other):
    return one.energy_j == other.energy_j and all(
        np.array_equal(a, b, equal_nan=True)
        for a, b in zip(columns(one), columns(other), strict=True))


def again(case):
    # Few jobs on a network, whose flows take plain Python long.
    count = 3 if "network.groups" in CASES[case] else 10
    made = planned(case, count=count)
    first = made.run()
    by_hand = simulate(made.jobs, made.machine, made.policy, made.rules)
    others = [made.run(), by_hand, planned(case, count=count).run()]
    return [int(first.ran.sum()), [same(first, other) for other in others]]


def test_every_choice_of_every_axis_has_a_case() -> None:
    assert {case.split(",")[0] for case in CASES} == every()


@pytest.mark.parametrize("axis", ["order", "backfill", "power", "configure", "placement"])
def test_a_second_run_is_the_same_for_every_choice(axis: str) -> None:
    """Starts, ends, nodes, joules and the whole log; of the plan, and of its composition alone."""
    cases = [case for case in CASES if case.startswith(axis)]
    found = {case: again(case) for case in cases}
    assert len(found) == len(cases) > 2
    for case, (ran, equal) in found.items():
        assert ran > 0, case
        assert equal == [True] * 3, case


def test_a_copy_keeps_what_two_axes_share_and_touches_nothing_else() -> None:
    policy = planned("placement.claims").policy
    assert isinstance(policy, Composition)
    made = bound(policy, 40)
    assert made.placement.claims.memory is made.configuration.memory
    assert made.configuration.memory is not policy.configuration.memory
    np.testing.assert_array_equal(made.configuration.memory.options,
                                  policy.configuration.memory.options)
    made.configuration.memory.options[0].claimed_s = -1.0
    assert policy.configuration.memory.options[0].claimed_s > 0
    assert list(memories(made)) == ["configuration.memory"]


def test_a_policy_in_python_begins_anew(tmp_path) -> None:
    """It starts one job in each decision, and only three in its life."""
    (tmp_path / "three.py").write_text(
        "from wattline.policies.view import Start\n"
        "class Three:\n"
        "    left = 3\n"
        "    def decide(self, view):\n"
        "        if view.queue and self.left and view.queue[0].units <= view.free:\n"
        "            self.left -= 1\n"
        "            yield Start(view.queue[0].job)\n")
    made = planned("order.fcfs", **{"policy.python": f"{tmp_path}/three.py:Three"})
    found = [int(made.run().ran.sum()) for _ in range(2)]
    assert found == [3, 3]
