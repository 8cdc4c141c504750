"""Jobs that choose among classes of node, on random machines: no rule is broken, joules close."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import TIMES, costing
from tests.support.shared_classes import choosing_columns, choosing_run, random_options
from tests.support.shared_judged import findings
from tests.support.shared_random import RULES, random_machine, random_requests

from wattline.shared_nodes.bound_sums import over_bounds
from wattline.shared_nodes.simulate import simulate_shared


@costing(65)
@given(seed=st.integers(0, 10_000))
def test_no_rule_is_broken_and_joules_close(seed: int) -> None:
    on, asked, rules, bounds, cap, found = choosing_run(seed)
    assert findings(on, asked, rules, found, cap, bounds=bounds) == []
    assert list(over_bounds(on, found, bounds)) == []


@costing(75)
@given(seed=st.integers(0, 10_000), rules=st.sampled_from(sorted(RULES)))
def test_jobs_without_options_start_as_ever(seed: int, rules: str) -> None:
    on = random_machine(seed)
    asked = random_requests(on, seed)
    none = replace(asked, options=random_options(asked, seed, part=0.0))
    free, found = (simulate_shared(on, each, RULES[rules]) for each in (asked, none))
    for field in fields(free):
        if not field.name.startswith("engine_") and field.name != "option":
            assert np.array_equal(getattr(free, field.name), getattr(found, field.name),
                                  equal_nan=True)
    assert (found.option == -1).all()


def test_jobs_of_random_runs_do_choose() -> None:
    drawn = range(6) if TIMES > 1 else (2, 3, 5)
    chosen = [int((choosing_run(seed)[-1].option >= 0).sum()) for seed in drawn]
    assert min(chosen) > 2


@pytest.mark.compiled
def test_compiled_and_plain_schedules_are_equal(plain: Any) -> None:
    for seed in range(12):
        assert choosing_columns(seed) == plain.call(
            "tests.support.shared_classes", "choosing_columns", seed)
