"""Backfill on random machines with shared nodes keeps the first of the queue on time."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.shared import machine, requests
from tests.support.shared_judged import case_made, findings

from wattline.results.verify._base import Counted
from wattline.results.verify.shared.backfill import starts_ahead
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared


def crowded(seed: int) -> tuple[Any, Any, Rules, Any]:
    """Two to four nodes of 4 CPUs; half of thirty jobs ask for whole nodes."""
    draw = np.random.default_rng(seed)
    count = int(draw.integers(2, 5))
    on = machine(count)
    submit_s, jobs = 0.0, []
    for _ in range(30):
        submit_s += float(draw.integers(0, 200))
        whole = int(draw.integers(1, count + 1)) if draw.random() < 0.5 else 0
        limit_s = 60.0 * int(draw.integers(1, 30))
        size = {"min_nodes": whole, "max_nodes": whole, "tasks": 4 * whole} if whole else {
            "min_nodes": 1, "tasks": int(draw.integers(1, 4))}
        jobs.append({**size, "submit_s": submit_s, "limit_s": limit_s,
                     "run_s": round(limit_s * float(draw.choice([0.3, 0.7, 1.0])))})
    rules = Rules(kill_late_s=(0.0, 15.0)[seed % 2])
    asked = requests(on, *jobs)
    return on, asked, rules, simulate_shared(on, asked, rules)


@costing(100)
@given(seed=st.integers(0, 10_000))
def test_no_start_delays_the_first_of_the_queue(seed: int) -> None:
    assert findings(*crowded(seed)) == []


def test_these_machines_have_starts_ahead_of_others() -> None:
    counted = [each for seed in range(3) for each in starts_ahead(case_made(*crowded(seed)))
               if isinstance(each, Counted)]
    assert sum(each.decisions or 0 for each in counted) > 10
