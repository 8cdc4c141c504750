"""Main effects compare like with like, and the report says where seeds differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.sweeps.report import write_report
from wattline.sweeps.running import Counts


def found(rows: list[tuple[str, int, float | None, float]]) -> wl.SweepResult:
    """Of caps and seeds with their joules, none of one that failed, and jobs that ran."""
    points: list[dict[str, Any]] = [
        {"number": number, "setting": {"power.cap": cap, "trace.seed": seed}} | (
            {"error": "it failed"} if joules is None else {"figures": {
                "energy_j": joules, "wait_s.mean": 1.0, "jobs.completed": ran}})
        for number, (cap, seed, joules, ran) in enumerate(rows)]
    return wl.SweepResult("s", ("power.cap", "trace.seed"), tuple(points),
                          Counts(points=len(points)), 1.0)


GOOD = [("a", 1, 10.0, 5.0), ("a", 2, 20.0, 5.0), ("b", 1, 12.0, 5.0), ("b", 2, 22.0, 5.0)]


@pytest.mark.parametrize(("other", "said"), [
    ([("c", 1, 1.0, 5.0), ("c", 2, None, 0.0)], "of 1 setting some seeds failed"),
    ([("c", 1, 1.0, 3.0), ("c", 2, 2.0, 3.0)], "fewer jobs ran")])
def test_settings_that_are_not_like_the_others_are_no_effect(
    other: list[tuple[str, int, float | None, float]], said: str
) -> None:
    mixed = found(GOOD + other)
    assert mixed.effects() == {"power.cap": {"a": 15.0, "b": 17.0}}
    assert any(said in line for line in mixed.sentences)


def test_the_report_says_which_seeds_and_has_the_best_settings(tmp_path: Path) -> None:
    page = write_report(found(GOOD), tmp_path / "a.html").read_text()
    assert "All settings have the same seeds." in page
    assert "The best settings" in page
    assert not found(GOOD).uneven
    other = found([*GOOD[:2], ("b", 1, 12.0, 5.0), ("b", 3, 22.0, 5.0)])
    page = write_report(other, tmp_path / "b.html").read_text()
    assert "All settings have the same seeds." not in page
    assert "Not all settings have the same seeds" in page
    assert other.uneven == ("power.cap",)
