"""The mean wait of a twin beside those of real runs: when it passes, and by how much it is off."""

from __future__ import annotations

import math

import pytest

from wattline.twin.judging import JudgedWait


@pytest.mark.parametrize(("twin_s", "error", "passes"), [
    (80.0, -0.2, True), (120.0, 0.2, True), (130.0, 0.3, False), (50.0, -0.5, False)])
def test_a_wait_passes_between_those_of_the_runs_both_ends_included(
    twin_s: float, error: float, passes: bool
) -> None:
    """Runs of 80 and 120 s, 100 on average; the error is relative to that."""
    judged = JudgedWait("all", "all", 3, (80.0, 120.0), twin_s, twin_s, twin_s)
    assert judged.error == pytest.approx(error)
    assert judged.passes == passes


def test_without_any_wait_in_the_runs_there_is_no_relative_error() -> None:
    assert math.isnan(JudgedWait("all", "all", 1, (0.0, 0.0), 1.0, 1.0, 1.0).error)
