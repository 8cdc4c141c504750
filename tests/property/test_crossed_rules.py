"""Random machines with shared nodes on which many rules meet keep every rule of the checker.

As plain Python every index is checked, too; `test_bounds_checked.py` has the same compiled.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.examples import TIMES, costing
from tests.support.shared import machine, requests
from tests.support.shared_crossed import crossed_columns, crossed_run
from tests.support.shared_judged import findings

from wattline.shared_nodes.bound_sums import over_bounds
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

_run = lru_cache(maxsize=32)(crossed_run)
"""Tests that only look at the same run share it."""


@costing(250)
@given(seed=st.integers(0, 10_000))
@example(seed=7)  # GPUs in all on whole nodes
@example(seed=18)  # devices of an exclusive job in several racks
@example(seed=1)  # a cap
@example(seed=44)  # an exclusive job, memory per CPU and MaxCPUsPerNode
def test_no_rule_is_broken_where_many_meet(seed: int) -> None:
    on, asked, rules, bounds, cap, found = _run(seed)
    assert findings(on, asked, rules, found, cap, bounds=bounds) == []
    assert list(over_bounds(on, found, bounds)) == []


def test_the_cases_have_what_they_are_for() -> None:
    """Jobs that started, were requeued and suspended, with GPUs, licences, racks and a cap."""
    seen = dict.fromkeys(("gpus", "licences", "racks", "cap", "requeued", "left", "kept aside"), 0)
    # Before a commit as few as have all of it between them.
    for seed in range(16) if TIMES > 1 else (1, 4, 9, 14):
        on, asked, _, bounds, cap, found = _run(seed)
        ran = np.isfinite(found.start_s)
        seen["gpus"] += int(found.allocation_gres.sum())
        seen["licences"] += int(asked.licences[ran].sum())
        seen["racks"] += int(ran.sum()) if bounds else 0
        seen["cap"] += int(ran.sum()) if cap is not None else 0
        seen["requeued"] += int(found.requeues.sum())
        seen["left"] += len(found.left_job)
        seen["kept aside"] += 0 if on.reservations is None else int(
            (asked.reservation[ran] >= 0).sum())
    assert min(seen.values()) > 2, seen


def test_the_checker_sees_watts_that_parts_do_not_draw() -> None:
    on, asked, rules, _, cap, found = _run(18)
    said = findings(on, asked, rules, replace(found, allocation_w=found.allocation_w + 1.0),
                        cap)
    assert any("where its parts draw" in line for line in said)
    assert any("J on its nodes" in line for line in said)


def test_an_exclusive_job_has_memory_for_all_cpus_of_its_node() -> None:
    """Of the first node MaxCPUsPerNode leaves three CPUs to use; the job holds all eight."""
    on = machine(2, cpus=8, memory_mb=np.array([40, 100]))
    on = replace(on, partitions=replace(on.partitions, max_cpus_per_node=np.array([3])))
    asked = requests(on, {"tasks": 2, "memory_per_cpu_mb": 10, "exclusive": True})
    found = simulate_shared(on, asked, Rules())
    assert found.allocation_node.tolist() == [1]
    assert found.allocation_memory_mb.tolist() == [80]


@pytest.mark.compiled
def test_compiled_and_plain_schedules_are_equal(plain: Any) -> None:
    for seed in range(12):
        assert crossed_columns(seed) == plain.call(
            "tests.support.shared_crossed", "crossed_columns", seed)
