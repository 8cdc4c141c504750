"""Figures that are no number in some run, what the report shows, and differences of like jobs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.cli.sweep import _print
from wattline.sweeps.report import write_report
from wattline.sweeps.running import Counts


def row(number: int, nodes: int, seed: int, *, not_run: float = 0.0, **figures: float
        ) -> dict[str, Any]:
    return {"number": number, "setting": {"machine.nodes": nodes, "trace.seed": seed},
            "figures": {"jobs.completed": 10.0 - not_run, "jobs.not_run": not_run, **figures}}


def result(*rows: dict[str, Any], **more: Any) -> wl.SweepResult:
    return wl.SweepResult("s", ("machine.nodes", "trace.seed"), rows, Counts(points=len(rows)), 1.0,
                          **{"objectives": ("joules",), **more})


def test_a_setting_without_the_objective_in_one_run_is_left_out_and_said() -> None:
    found = result(row(0, 32, 1, joules=1.0), row(1, 32, 2, joules=math.nan),
                   row(2, 64, 1, joules=5.0), row(3, 64, 2, joules=7.0))
    assert [each.values["machine.nodes"] for each in found.best("joules")] == [64]
    assert [each.values["machine.nodes"] for each in found.pareto()] == [64]
    assert found.effects("joules") == {"machine.nodes": {"64": 6.0}}
    assert any("1 of 2 settings joules is no number" in line for line in found.sentences)


def test_a_constraint_that_is_no_number_in_one_run_is_not_kept() -> None:
    found = result(row(0, 32, 1, joules=1.0, wait=1.0), row(1, 32, 2, joules=1.0, wait=math.nan),
                   row(2, 64, 1, joules=5.0, wait=1.0), row(3, 64, 2, joules=7.0, wait=1.0),
                   subject_to=("wait <= 3",))
    assert [each.values["machine.nodes"] for each in found.comparable] == [64]


def test_an_objective_that_is_a_number_nowhere_is_said() -> None:
    found = result(row(0, 32, 1, joules=math.nan), row(1, 64, 1, joules=math.nan))
    assert found.pareto() == ()
    assert any("there is no best one" in line for line in found.sentences)


def test_differences_are_of_settings_under_which_all_jobs_ran() -> None:
    found = result(row(0, 32, 1, joules=1.0, not_run=4.0), row(1, 64, 1, joules=5.0),
                   row(2, 96, 1, joules=8.0))
    assert found.differences("machine.nodes", 64, 96, "joules")[0] == 3.0
    with pytest.raises(wl.InputError, match="under which all jobs ran"):
        found.differences("machine.nodes", 32, 64, "joules")


def test_report_and_terminal_show_what_was_asked_for_with_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = result(row(0, 32, 1, joules=1.0, wait=1.5), row(1, 32, 2, joules=3.0, wait=2.5),
                   objectives=("joules + 2*wait",), subject_to=("wait <= 3",))
    page = write_report(found, tmp_path / "a.html", found.objectives).read_text()
    assert "joules + 2*wait" in page
    assert "<th" in page
    assert "6 ± 25.4" in page
    assert "2 ± 6.35" in page
    _print(found, list(found.objectives))
    assert "6 ± 25.4" in capsys.readouterr().out
