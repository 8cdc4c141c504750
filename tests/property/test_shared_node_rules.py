"""Random machines with shared nodes and random requests keep every rule of the checker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.shared_busy import busy_columns
from tests.support.shared_judged import findings
from tests.support.shared_random import RULES, columns, random_machine, random_requests
from tests.support.shared_slowly import QUICK

from wattline.model.kernel import PLAIN
from wattline.model.signal import Signal
from wattline.shared_nodes import lists
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared


@pytest.mark.parametrize("name", list(RULES))
@costing(80)
@given(seed=st.integers(0, 10_000))
def test_no_rule_of_the_checker_is_broken(name: str, seed: int) -> None:
    on = random_machine(seed)
    asked = random_requests(on, seed)
    found = simulate_shared(on, asked, RULES[name])
    assert findings(on, asked, RULES[name], found) == []


@costing(70)
@given(seed=st.integers(0, 10_000))
def test_a_cap_is_never_exceeded_by_starting_jobs(seed: int) -> None:
    on = random_machine(seed)
    asked = random_requests(on, seed)
    cap_w = Signal(np.array([0.0, 1500.0, 4000.0]), np.array([450.0, 420.0, 480.0]), "W")
    rules = Rules(kill_late_s=0.0)
    found = simulate_shared(on, asked, rules, cap=cap_w)
    assert findings(on, asked, rules, found, cap_w) == []
    assert found.above_cap_s == 0.0
    assert np.all(found.event_power_w <= cap_w.sample(found.event_time_s) + 1e-6)
    assert found.event_power_w.min() >= on.nodes.idle_w.sum() - 1e-6


def test_the_checker_sees_a_node_that_gives_too_much() -> None:
    on = random_machine(1)
    asked = random_requests(on, 1)
    found = simulate_shared(on, asked, Rules())
    assert findings(on, asked, Rules(), replace(
        found, allocation_cpus=found.allocation_cpus + 3)) != []
    assert any("before its submission" in line for line in findings(
        on, asked, Rules(), replace(found, start_s=found.start_s - 1e6)))


def _slowly(wanted: Any, *arguments: Any) -> Any:
    """Simulate it as if every node is looked at for every job, and every job planned for."""
    with pytest.MonkeyPatch.context() as patch:
        for place, plain_rule in QUICK.items():
            patch.setattr(f"wattline.shared_nodes.{place}", plain_rule)
        return _but_cycles(wanted(*arguments))


def _but_cycles(found: dict[str, Any]) -> dict[str, Any]:
    """Without the number of cycles: fewer are left out where jobs are planned that cannot start."""
    return {name: values for name, values in found.items() if name != "backfill_passes"}


@pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")
@pytest.mark.parametrize("name", list(RULES))
def test_what_saves_time_changes_nothing(name: str) -> None:
    assert _but_cycles(columns(name, 2)) == _slowly(columns, name, 2)


@pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")
@costing(400)
@given(seed=st.integers(0, 100_000), alike=st.booleans())
@example(seed=73, alike=True)  # a cap, and several groups of reserved jobs in a cycle
@example(seed=8, alike=True)  # nodes that are a user's own
def test_what_saves_time_changes_nothing_where_many_wait(seed: int, alike: bool) -> None:
    assert _but_cycles(busy_columns(seed, alike)) == _slowly(busy_columns, seed, alike)


@pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")
def test_forms_that_share_a_place_for_their_offers_forget_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = busy_columns(3)
    monkeypatch.setattr(lists, "MOST_OFFERS", 1)
    assert busy_columns(3) == wanted


@pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")
def test_offers_are_looked_up_anew_where_too_many_jobs_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = busy_columns(3)
    monkeypatch.setattr(lists, "MOVES", 1)
    assert busy_columns(3) == wanted


@pytest.mark.compiled
def test_compiled_and_plain_schedules_are_equal(plain: Any) -> None:
    for seed, name in enumerate(RULES):
        assert columns(name, seed) == plain.call(
            "tests.support.shared_random", "columns", name, seed)
