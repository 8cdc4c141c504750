"""Fair-share by joules on shared nodes, worked out by hand.

Nodes of 4 CPUs draw 100 W each, each CPU in use 10 W more and a GPU 50 W. Usage is charged at 0 s,
300 s, 600 s, and so on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import costing
from tests.support.shared import machine, requests
from tests.support.shared_random import NODES, random_requests
from wattline.model.kernel import PLAIN
from wattline.shared_nodes import simulate
from wattline.shared_nodes.rules import Priority, Rules
from wattline.shared_nodes.simulate import simulate_shared

FULL: dict[str, Any] = {"tasks": 4, "min_nodes": 1}
JOBS = [
    {**FULL, "gpus": 1, "association": 2}, {**FULL, "association": 3},
    {"tasks": 8, "min_nodes": 2, "submit_s": 10.0, "association": 2},
    {"tasks": 8, "min_nodes": 2, "submit_s": 11.0, "association": 3},
]
"""Two users have a node each for 600 s, the first with its GPU: 190 W and 140 W."""


def rules(by_joules: bool = True, **priority: Any) -> Rules:
    given = {"fairshare": 1000, "half_life_s": 0.0, "by_joules": by_joules, **priority}
    return Rules(kill_late_s=0.0, priority=Priority("multifactor", **given))


@pytest.mark.parametrize("rule", ["fair_tree", "classic"])
def test_who_drew_less_goes_first(rule: str) -> None:
    """Both used as many CPUs for as long, and the first asked first: by joules it goes last."""
    on = machine(2, gpus=1)
    asked = requests(on, *JOBS)
    by_cpus = simulate_shared(on, asked, rules(False, fairshare_rule=rule))
    by_joules = simulate_shared(on, asked, rules(fairshare_rule=rule))
    assert by_cpus.start_s[2] < by_cpus.start_s[3]
    assert by_joules.start_s[3] < by_joules.start_s[2]


@pytest.mark.skipif(not PLAIN, reason="the books of a simulation are looked at")
@pytest.mark.parametrize(("half_life_s", "rest"), [(0.0, 1.0), (300.0, 0.5)])
def test_joules_are_charged_as_they_are_drawn_and_fade(
    monkeypatch: pytest.MonkeyPatch, half_life_s: float, rest: float
) -> None:
    """Of 190 W and 140 W, 57,000 J and 42,000 J are charged at 300 s and at 600 s; the account and
    the root have both. With a half-life of 300 s half of the first is left when the second comes.
    """
    on = machine(2, gpus=1)
    usage = []
    renew = simulate.advance

    def advance(books: Any, instants: int) -> None:
        while not books.clock[0].over:
            renew(books, 1)
            if books.clock[0].last_priority_s == books.clock[0].now_s:
                usage.append((float(books.clock[0].now_s), books.assoc_usage[:4].tolist()))

    monkeypatch.setattr(simulate, "advance", advance)
    simulate_shared(on, requests(on, *JOBS[:2]), rules(half_life_s=half_life_s))
    found = dict(usage)
    assert found[300.0] == pytest.approx([99_000.0, 99_000.0, 57_000.0, 42_000.0])
    assert found[600.0] == pytest.approx([(1 + rest) * joules for joules in found[300.0]])


@pytest.mark.skipif(not PLAIN, reason="the books of a simulation are looked at")
def test_nodes_that_boot_are_charged_for_with_their_idle_power(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A node that sleeps boots for 60 s at 100 W, and then draws 140 W for 240 s until 300 s."""
    on = machine(1)
    seen = []
    renew = simulate.advance

    def advance(books: Any, instants: int) -> None:
        while not books.clock[0].over:
            renew(books, 1)
            if books.clock[0].now_s == 300.0:
                seen.append(float(books.assoc_usage[2]))

    monkeypatch.setattr(simulate, "advance", advance)
    sleeps = Rules(kill_late_s=0.0, suspend_time_s=1000.0, resume_timeout_s=60.0,
                   asleep_first=("n0",), priority=rules().priority)
    simulate_shared(on, requests(on, FULL), sleeps)
    assert seen[-1] == pytest.approx(100.0 * 60.0 + 140.0 * 240.0)


@costing(110)
@given(seed=st.integers(0, 10_000), rule=st.sampled_from(["fair_tree", "classic"]))
def test_where_each_cpu_draws_the_same_it_is_usage_of_cpus(seed: int, rule: str) -> None:
    """32 W for each CPU with its part of idle power, and nothing else: the same shares are used."""
    draw = np.random.default_rng(seed)
    on = machine(NODES, cpus=4, memory_mb=100, gpus=1, weight=draw.integers(1, 3, NODES),
                 partitions=[list(range(NODES)), [1, 2]], qos=2,
                 nodes={"idle_w": np.full(NODES, 64.0), "cpu_w": np.full(NODES, 16.0),
                        "gres_w": np.zeros(1)})
    asked = random_requests(on, seed)
    terms = {"age": 100, "half_life_s": 1800.0, "fairshare_rule": rule}
    by_cpus = simulate_shared(on, asked, rules(False, **terms))
    by_joules = simulate_shared(on, asked, rules(True, **terms))
    assert np.array_equal(by_cpus.start_s, by_joules.start_s, equal_nan=True)
