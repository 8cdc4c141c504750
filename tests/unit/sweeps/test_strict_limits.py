"""`<` is not `<=`, wherever a limit is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.advice.futures.policy import broken_part
from wattline.advice.futures.self_tuning import broken_limits
from wattline.analysis.expressions import Constraint

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


def test_two_that_wait_are_not_fewer_than_two() -> None:
    rows = [{"jobs.waiting": 2.0}, {"jobs.waiting": 1.0}]
    assert broken_part(Constraint.parse("jobs.waiting < 2"), rows) == 0.5
    assert broken_part(Constraint.parse("jobs.waiting <= 2"), rows) == 0.0
    limits = ["jobs.waiting < 2", "jobs.waiting <= 2", "jobs.waiting > 2"]
    assert broken_limits(rows[0], limits) == [limits[0], limits[2]]


@pytest.mark.parametrize(("limit", "kept"), [
    ("jobs.completed < 10", False), ("jobs.completed <= 10", True)])
def test_a_search_keeps_strict_constraints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, kept: bool
) -> None:
    optuna = pytest.importorskip("optuna")
    told: list[float] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(optuna.trial.Trial, "set_constraint",
                        lambda trial, name, value: told.append(value) if name == limit else None)
    given: dict[str, Any] = {
        "scenario": {"trace": {"generate": "lublin", "jobs": 10}}, "axes": {"machine.nodes": [64]}}
    found = wl.optimise_sweep(given, tmp_path / "a", ["energy_j"], subject_to=[limit], trials=1,
                              report=False)
    assert bool(found.comparable) is kept
    assert [value <= 0 for value in told] == [kept]
