"""Counts of the points of a sweep add up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.analysis.intervals import mean_interval

SWEEP: dict[str, Any] = {
    "scenario": {"trace": {"generate": "lublin", "jobs": 10}, "machine": {"nodes": 32}},
    "axes": {"power.cap": ["90%", "loud"], "machine.nodes": [32, -1],
             "policy.order": ["fcfs", "sjf"]}}


@pytest.mark.parametrize("again", [False, True])
def test_points_are_computed_known_or_make_no_scenario(tmp_path: Path, again: bool) -> None:
    out = tmp_path / "s"
    found = wl.run_sweep(SWEEP, out, workers=1, cache=False, report=False)
    if again:
        found = wl.run_sweep(SWEEP, out, workers=1, cache=False, report=False, resume=True)
    counts = found.counts
    assert (counts.points, counts.no_scenario) == (8, 4)
    assert counts.computed + counts.cached + counts.no_scenario == counts.points
    assert counts.failed == sum("error" in row for row in found.rows) == 6
    assert found.to_dict()["no_scenario"] == 4
    assert "4 without a scenario; 6 failed" in str(counts)


def test_equal_values_have_no_spread_of_their_last_digits() -> None:
    assert mean_interval([20_100.000000000004, 20_100.0, 20_100.0])[1] == 0.0
    assert mean_interval([20_100.001, 20_100.0, 20_100.0])[1] > 0.0
