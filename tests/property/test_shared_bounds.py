"""Random limits on parts of random machines are never passed, by sums from the schedule alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.shared_bounded import bounded_columns, bounded_run
from tests.support.shared_judged import findings

from wattline.shared_nodes.bound_sums import over_bounds


@costing(70)
@given(seed=st.integers(0, 10_000))
def test_no_part_passes_its_limit(seed: int) -> None:
    on, asked, rules, bounds, cap, found = bounded_run(seed)
    assert findings(on, asked, rules, found, cap, bounds=bounds) == []
    assert list(over_bounds(on, found, bounds)) == []


def test_the_sums_see_a_part_over_its_limit() -> None:
    on, _, _, bounds, _, found = bounded_run(1)
    tight = [replace(bound, limit_w=bound.idle_w) for bound in bounds]
    assert any("pdu0 draws" in line for line in over_bounds(on, found, tight))


@pytest.mark.compiled
def test_compiled_and_plain_schedules_are_equal(plain: Any) -> None:
    for seed in range(8):
        assert bounded_columns(seed) == plain.call(
            "tests.support.shared_bounded", "bounded_columns", seed)
