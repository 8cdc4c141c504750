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


def test_workloads_of_different_size_each_have_a_part_in_the_effects() -> None:
    """Of two months under two orders, and a cap under which jobs of the larger are refused."""
    rows = [("may", "fcfs", 10.0, 5.0), ("may", "sjf", 8.0, 5.0),
            ("june", "fcfs", 30.0, 9.0), ("june", "sjf", 20.0, 9.0), ("june", "largest", 1.0, 7.0)]
    points = tuple({"number": number, "setting": {"trace.file": month, "policy.order": order},
                    "figures": {"energy_j": joules, "wait_s.mean": 1.0, "jobs.completed": ran}}
                   for number, (month, order, joules, ran) in enumerate(rows))
    months = wl.SweepResult("s", ("trace.file", "policy.order"), points, Counts(points=5), 1.0)
    assert months.effects() == {"trace.file": {"may": 9.0, "june": 25.0},
                                "policy.order": {"fcfs": 20.0, "sjf": 14.0}}
    assert months.differences("policy.order", "fcfs", "sjf")[0] == -6.0
    assert [each.values["policy.order"] for each in months.best()] == ["sjf", "fcfs"]
    assert {each.values["trace.file"] for each in months.best()} == {"june"}
    assert [line.partition(" fewer jobs")[0] for line in months.sentences] == [
        "under 1 of 5 settings", "2 of 4 settings are of workloads with"]


def test_fewer_jobs_because_large_ones_are_left_out_are_no_other_workload() -> None:
    points = tuple({"number": number, "setting": {"trace.drop_larger": drops},
                    "figures": {"energy_j": joules, "wait_s.mean": 1.0, "jobs.completed": ran}}
                   for number, (drops, joules, ran) in enumerate([(True, 1.0, 4.0),
                                                                  (False, 9.0, 5.0)]))
    left_out = wl.SweepResult("s", ("trace.drop_larger",), points, Counts(points=2), 1.0)
    assert left_out.effects() == {"trace.drop_larger": {"False": 9.0}}


@pytest.mark.parametrize("lucky", [1.0, 100.0])
@pytest.mark.parametrize("alone", [3, 9])
def test_a_setting_with_seeds_of_its_own_is_not_compared(lucky: float, alone: int) -> None:
    """True where its draw was small or large; those with the seeds that most have are."""
    zipped = found([*GOOD, ("c", alone, lucky, 5.0)])
    assert [each.values["power.cap"] for each in zipped.best()] == ["a", "b"]
    assert [each.values["power.cap"] for each in zipped.pareto()] == ["a"]
    assert any("1 of 3 settings have other seeds than the 2" in line for line in zipped.sentences)


def test_where_each_setting_has_a_seed_of_its_own_the_first_stands_alone() -> None:
    zipped = found([("a", 1, 30.0, 5.0), ("b", 2, 10.0, 5.0), ("c", 3, 20.0, 5.0)])
    assert [each.values["power.cap"] for each in zipped.pareto()] == ["a"]
    assert any("2 of 3 settings have other seeds" in line for line in zipped.sentences)
    assert not any("other seeds" in line for line in found(GOOD).sentences)
