"""Figures that studies make of their cases, by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from wattline.studies.dragonfly.comparison import PlacementComparison
from wattline.studies.puppet.cases import times_wait


def _waits(wait_s: float) -> Any:
    return cast(Any, SimpleNamespace(figures=SimpleNamespace(wait_s=wait_s)))


@pytest.mark.parametrize(("mine_s", "other_s", "times"), [
    (30.0, 10.0, 3.0), (0.0, 10.0, 0.0), (0.0, 0.0, 1.0), (0.1, 0.0, math.inf)])
def test_jobs_wait_so_many_times_as_long_as_in_another_case(
    mine_s: float, other_s: float, times: float
) -> None:
    assert times_wait(_waits(mine_s), _waits(other_s)) == times


def test_each_case_of_a_comparison_lies_in_one_quadrant_or_is_tied() -> None:
    """Times of small and large jobs; Level-Spread takes 1 s for each.

    The others take 2 and 2 (both gain a half), 2 and 0.5 (small gains a half, large loses 1), 0.8
    and 2 (small loses a quarter, large gains a half), 1 and 4 (tied, else three quarters better).
    """
    time_s = np.array([[[1.0, 1.0], [2.0, 2.0], [2.0, 0.5], [0.8, 2.0], [1.0, 4.0]]])
    names = ("level-spread", "a", "b", "c", "d")
    compared = PlacementComparison(names, time_s, np.zeros((1, 5)), np.ones((1, 5)))
    found = compared.against(names[1:])
    assert {name: found[name] for name in (
        "strictly_better", "strictly_worse", "only_small_better", "only_large_better", "tied",
        "tied_else_better", "tied_else_worse", "max_reduction")} == {
        "strictly_better": 0.25, "strictly_worse": 0.0, "only_small_better": 0.25,
        "only_large_better": 0.25, "tied": 0.25, "tied_else_better": 0.25, "tied_else_worse": 0.0,
        "max_reduction": 0.75}
    gains = (0.5 + 0.5 + 0.5 - 1.0 - 0.25 + 0.5 + 0.0 + 0.75) / 8
    assert found["mean_reduction"] == pytest.approx(gains)
