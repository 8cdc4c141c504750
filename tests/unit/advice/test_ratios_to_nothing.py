"""Ratios to the run without a cap: also where there is nothing to compare with."""

from __future__ import annotations

import math

import pytest

from wattline.advice.cap import ratios
from wattline.advice.limits import Figures


@pytest.mark.parametrize(("wait_s", "free_s", "ratio"), [
    (30.0, 20.0, 1.5), (20.0, 20.0, 1.0), (10.0, 20.0, 0.5), (0.0, 20.0, 0.0), (0.0, 0.0, 1.0),
    (0.1, 0.0, math.inf)])
def test_something_is_without_end_more_than_nothing(
    wait_s: float, free_s: float, ratio: float
) -> None:
    found = ratios(Figures(wait_s, 4.0, 900.0, 0), Figures(free_s, 2.0, 1000.0, 0))
    assert found == {"wait_ratio": ratio, "slowdown_ratio": 2.0, "energy_ratio": 0.9}
