"""Random machines with shared nodes and random requests keep every rule of the checker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import examples
from tests.support.shared_random import RULES, columns, random_machine, random_requests

from wattline.model.kernel import PLAIN
from wattline.model.signal import Signal
from wattline.shared_nodes import attempt, backfill
from wattline.shared_nodes.checker import broken_rules
from wattline.shared_nodes.one_node import NOT_ONE
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared


@pytest.mark.parametrize("name", list(RULES))
@examples(4)
@given(seed=st.integers(0, 10_000))
def test_no_rule_of_the_checker_is_broken(name: str, seed: int) -> None:
    on = random_machine(seed)
    asked = random_requests(on, seed)
    found = simulate_shared(on, asked, RULES[name])
    assert broken_rules(on, asked, RULES[name], found) == []


@examples(4)
@given(seed=st.integers(0, 10_000))
def test_a_cap_is_never_exceeded_by_starting_jobs(seed: int) -> None:
    on = random_machine(seed)
    asked = random_requests(on, seed)
    cap_w = Signal(np.array([0.0, 1500.0, 4000.0]), np.array([450.0, 420.0, 480.0]), "W")
    rules = Rules(kill_late_s=0.0)
    found = simulate_shared(on, asked, rules, cap=cap_w)
    assert broken_rules(on, asked, rules, found) == []
    assert found.above_cap_s == 0.0
    assert np.all(found.event_power_w <= cap_w.sample(found.event_time_s) + 1e-6)
    assert found.event_power_w.min() >= on.nodes.idle_w.sum() - 1e-6


def test_the_checker_sees_a_node_that_gives_too_much() -> None:
    on = random_machine(1)
    asked = random_requests(on, 1)
    found = simulate_shared(on, asked, Rules())
    assert broken_rules(on, asked, Rules(), replace(
        found, allocation_cpus=found.allocation_cpus + 3)) != []
    assert any("before their submission" in line for line in broken_rules(
        on, asked, Rules(), replace(found, start_s=found.start_s - 1e6)))


@pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")
@pytest.mark.parametrize("name", list(RULES))
def test_what_saves_time_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plan for every job in every cycle, and choose one node as several are chosen."""
    quick = [columns(name, seed) for seed in (2,)]
    monkeypatch.setattr(backfill, "_last_that_may_start", lambda st, place: place)
    monkeypatch.setattr(attempt, "pick_one_node", lambda st, entry: NOT_ONE)
    assert [columns(name, seed) for seed in (2,)] == quick


@pytest.mark.compiled
def test_compiled_and_plain_schedules_are_equal(plain: Any) -> None:
    for seed, name in enumerate(RULES):
        assert columns(name, seed) == plain.call(
            "tests.support.shared_random", "columns", name, seed)
