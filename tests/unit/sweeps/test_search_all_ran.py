"""A search is told which settings refuse jobs: to refuse them is no way to be best."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.sweeps import optimise
from wattline.sweeps.running import SEARCH_JOURNAL

optuna = pytest.importorskip("optuna")
pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return what Optuna hears of jobs that did not run, by trial."""
    found: list[float] = []
    heard = optuna.trial.Trial.set_constraint

    def hear(trial: Any, name: str, value: float) -> None:
        if name == optimise.ALL_RAN:
            found.append(value)
        heard(trial, name, value)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(optuna.trial.Trial, "set_constraint", hear)
    return found


def refusing(monkeypatch: pytest.MonkeyPatch, not_run: dict[int, int]) -> None:
    """Settings, by their nodes, that do not run so many jobs, and use fewer joules for it."""

    def row(shelf: Any, number: int, scenario: Any, allow_code: bool) -> dict[str, Any]:
        missing = float(not_run[scenario.machine.nodes])
        return {"number": number, "seconds": 0.0, "remarks": [], "engine_s": 0.0, "figures": {
            "energy_j": 100.0 - missing, "jobs.completed": 20.0 - missing, "jobs.not_run": missing}}

    monkeypatch.setattr(optimise, "run_point", row)


def search(folder: Path, nodes: list[int], trials: int) -> wl.SweepResult:
    given = {"scenario": {"trace": {"generate": "lublin", "jobs": 10}},
             "axes": {"machine.nodes": nodes}}
    return wl.optimise_sweep(given, folder, ["energy_j"], trials=trials, report=False, cache=False)


def test_jobs_that_did_not_run_are_a_constraint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: list[float]
) -> None:
    not_run = {64: 0, 80: 7, 96: 3}
    refusing(monkeypatch, not_run)
    found = search(tmp_path / "a", list(not_run), 9)
    assert told == [not_run[row["setting"]["machine.nodes"]] for row in found.rows]
    assert optuna.load_study(
        study_name=optimise.STUDY, storage=optuna.storages.JournalStorage(
            optuna.storages.journal.JournalFileBackend(str(tmp_path / "a" / SEARCH_JOURNAL)))
    ).best_trial.values == [100.0]


def test_what_runs_under_no_setting_does_not_blind_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: list[float]
) -> None:
    nodes = list(range(64, 64 + optimise.FIRST_TRIALS + 2))
    refusing(monkeypatch, dict.fromkeys(nodes, 5))
    search(tmp_path / "a", nodes, len(nodes))
    assert told == [5.0] * optimise.FIRST_TRIALS + [0.0] * 2
