"""Jobs of one node on a tree of switches: quick ways that come to what the tries come to."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing, seeds
from tests.support.shared import machine, requests

from wattline.model.kernel import PLAIN
from wattline.shared_nodes import alike, choosing, will_run
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared
from wattline.shared_nodes.state import NEVER_S

RULES = {
    "plain": Rules(topology_tree=True),
    "often": Rules(topology_tree=True, bf_interval_s=7.0, bf_resolution_s=300.0, unix_start_s=17.5),
    "fractions": Rules(topology_tree=True, bf_resolution_s=12.5, bf_window_s=3600.0),
}

pytestmark = pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")


def _job(draw: Any, wide: float) -> dict[str, Any]:
    """Most for one node, some for two, whose ends are those of both."""
    nodes = 2 if draw.random() < wide else 1
    return {"limit_s": 60.0 * float(draw.integers(1, 90)), "min_nodes": nodes, "max_nodes": nodes,
            "tasks": nodes * int(draw.integers(1, 7)), "gpus": int(draw.random() < 0.1),
            "exclusive": bool(draw.random() < 0.1), "association": int(draw.integers(2, 5))}


def _crowd(seed: int, rules: Rules) -> dict[str, list[Any]]:
    """Nodes that are taken in part, and rows of jobs of one form that wait for them."""
    draw = np.random.default_rng(seed)
    count = int(draw.integers(3, 16))
    on = machine(count, cpus=draw.integers(4, 13, count), weight=draw.integers(1, 4, count),
                 gpus=draw.integers(0, 3, count), leaf=draw.integers(-1, 3, count), switches=3)
    jobs = [_job(draw, 0.3) for _ in range(2 * count)]
    for _ in range(5):
        jobs += [_job(draw, 0.1)] * int(draw.integers(2, 9))
    jobs = [job | {"run_s": job["limit_s"] * float(draw.choice([0.2, 0.7, 1.0])),
                   "submit_s": 20.0 * row} for row, job in enumerate(jobs)]
    found = simulate_shared(on, requests(on, *jobs), rules)
    return {field.name: np.nan_to_num(np.asarray(getattr(found, field.name)), nan=-1.0).tolist()
            for field in fields(found) if not field.name.startswith("engine")}


@pytest.mark.parametrize("name", list(RULES))
@costing(170)
@given(seed=st.integers(0, 100_000))
def test_one_look_at_the_nodes_chooses_as_tries_over_leaves_do(name: str, seed: int) -> None:
    wanted = _crowd(seed, RULES[name])
    with pytest.MonkeyPatch.context() as patch:
        for module in (choosing, alike):
            patch.setattr(module, "is_for_one_on_tree", lambda *_: False)
        assert _crowd(seed, RULES[name]) == wanted


@pytest.mark.parametrize("name", list(RULES))
@costing(180)
@given(seed=st.integers(0, 100_000))
def test_a_plan_as_before_is_the_one_that_would_be_found(name: str, seed: int) -> None:
    wanted = _crowd(seed, RULES[name])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(will_run, "plan_as_before", lambda *_: NEVER_S)
        assert _crowd(seed, RULES[name]) == wanted


def test_both_ways_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the two tests above could not fail."""
    counted = {"chosen": 0, "as before": 0}
    choose_one, as_before = choosing.choose_one_on_tree, will_run.plan_as_before

    def choose(books: Any, job: int) -> bool:
        counted["chosen"] += 1
        return bool(choose_one(books, job))

    def plan(*given: Any) -> float:
        start_s = as_before(*given)
        counted["as before"] += start_s < NEVER_S
        return float(start_s)

    monkeypatch.setattr(choosing, "choose_one_on_tree", choose)
    monkeypatch.setattr(will_run, "plan_as_before", plan)
    for seed in seeds(4):
        _crowd(seed, RULES["often"])
    assert counted["chosen"] > 100
    assert counted["as before"] > 20
