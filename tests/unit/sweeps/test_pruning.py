"""Settings that are given up by their first months, and the time that tasks of Slurm ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.scenario.build import plan
from wattline.sweeps import optimise
from wattline.sweeps.runners import Place

optuna = pytest.importorskip("optuna")


def test_a_search_with_seeds_reports_the_mean_of_all_once_per_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int, float]] = []
    report = optuna.trial.Trial.report

    def heard(trial: Any, value: float, step: int) -> None:
        told.append((trial.number, step, value))
        report(trial, value, step)

    monkeypatch.setattr(optuna.trial.Trial, "report", heard)
    monkeypatch.setattr("wattline.sweeps.optimise.MONTH_S", 1800.0)
    scenario = {"trace": {"generate": "lublin", "jobs": 20}, "machine": {"nodes": 64}}
    given = {"scenario": scenario, "axes": {"machine.nodes": [64, 96]}, "seeds": 3}
    found = wl.optimise_sweep(given, tmp_path / "a", ["energy_j"], trials=3, prune=True,
                              report=False, cache=False)
    assert told
    assert len({(number, step) for number, step, _ in told}) == len(told)
    assert sorted(row["number"] for row in found.rows) == list(range(len(found.rows)))
    assert len(found.rows) % 3 == 0


@pytest.mark.parametrize(("asked", "minutes"), [(None, None), ("2h", 120), (90.0, 2)])
def test_a_task_asks_for_the_time_that_was_said_or_leaves_it_to_the_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: Any, minutes: int | None
) -> None:
    submitit = pytest.importorskip("submitit")
    from wattline.sweeps.runners.slurm import SlurmArrays

    given: list[dict[str, Any]] = []
    monkeypatch.setattr(submitit.SlurmExecutor, "affinity", classmethod(lambda cls: 2))
    monkeypatch.setattr(submitit.SlurmExecutor, "update_parameters",
                        lambda executor, **parameters: given.append(parameters))

    def stop(on: str, place: Place) -> Any:
        with SlurmArrays(place).executor():
            raise wl.InputError("far enough")

    monkeypatch.setattr("wattline.sweeps.api.runner", stop)
    sweep = {"scenario": {"trace": {"generate": "lublin", "jobs": 5}},
             "axes": {"machine.nodes": [64]}}
    with pytest.raises(wl.InputError, match="far enough"):
        wl.run_sweep(sweep, tmp_path / "a", on="slurm", workers=2, time_limit=asked)
    assert [each["time"] for each in given] == [minutes]


@pytest.mark.parametrize(("on", "asked", "said"), [
    ("local", "2h", "runs on local"), ("slurm", "0", "must be above 0")])
def test_a_time_limit_that_means_nothing_is_refused(
    tmp_path: Path, on: str, asked: str, said: str
) -> None:
    sweep = {"scenario": {"trace": {"generate": "lublin", "jobs": 5}},
             "axes": {"machine.nodes": [64]}}
    with pytest.raises(wl.InputError, match=said):
        wl.run_sweep(sweep, tmp_path / "a", on=on, time_limit=asked)


def test_the_first_months_have_the_watts_of_the_whole_logs_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cap in per cent is a part of the peak, which the last hours reach."""
    hour_s = 3600.0
    quiet = [f"{n},{n * 600},300,300,2" for n in range(12)]
    busy = [f"{12 + n},{12 * 600 + n},600,600,16" for n in range(8)]
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["job_id,submit_s,run_s,requested_s,procs", *quiet, *busy, ""]))
    begun: list[float] = []
    run = optimise.run_point

    def heard(shelf: Any, number: int, scenario: Any, allow_code: bool) -> Any:
        ready = plan(scenario, shelf.trace(scenario))
        begun.append(float(ready.rules.cap_w.value[0]))
        return run(shelf, number, scenario, allow_code)

    monkeypatch.setattr(optimise, "run_point", heard)
    monkeypatch.setattr(optimise, "MONTH_S", hour_s)
    scenario = {"trace": {"file": str(log)}, "policy": {"power": "dvfs"},
                "machine": {"nodes": 64, "node_idle_w": 10, "node_active_w": 300}}
    wl.optimise_sweep({"scenario": scenario, "axes": {"power.cap": ["70%"]}}, tmp_path / "a",
                      ["energy_j"], trials=1, prune=True, report=False, cache=False)
    assert len(begun) > 1
    assert len(set(begun)) == 1
