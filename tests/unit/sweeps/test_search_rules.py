"""A search: what it gives up, how it goes on, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.sweeps import optimise
from wattline.sweeps.axes import Axis, read_axis
from wattline.sweeps.space import space_of

optuna = pytest.importorskip("optuna")
pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
SCENARIO: dict[str, Any] = {"trace": {"generate": "lublin", "jobs": 10},
                            "machine": {"nodes": 64, "node_idle_w": 90, "node_active_w": 300}}
AXES: dict[str, Any] = {"machine.nodes": {"from": 32, "to": 4000}}


def search(folder: Path, axes: dict[str, Any] = AXES, objectives: tuple[str, ...] = ("energy_j",),
           **more: Any) -> wl.SweepResult:
    return wl.optimise_sweep({"scenario": SCENARIO, "axes": axes}, folder, objectives,
                             report=False, cache=False, **more)


@pytest.mark.parametrize(("limits", "small"), [
    (["utilisation <= 0.5"], {"energy_j": 1.0, "utilisation": 0.9, "jobs.not_run": 0.0}),
    ([], {"energy_j": 1.0, "utilisation": 0.1, "jobs.not_run": 3.0})])
def test_what_breaks_a_limit_or_refuses_jobs_is_no_measure_for_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: list[str], small: dict[str, float]
) -> None:
    """Small machines have the smallest objective, and only large ones may be best."""
    good = {"energy_j": 2.0, "utilisation": 0.1, "jobs.not_run": 0.0}

    def run(shelf: Any, number: int, scenario: Any, allow_code: bool) -> dict[str, Any]:
        figures = small if scenario.machine.nodes < 3000 else good
        return {"number": number, "figures": {**figures, "jobs.completed":
                                              10.0 - figures["jobs.not_run"]}}

    monkeypatch.setattr(optimise, "run_point", run)
    monkeypatch.setattr(optimise, "MONTH_S", 600.0)
    found = search(tmp_path / "a", trials=30, prune=True, subject_to=limits)
    tried = [row["setting"]["machine.nodes"] for row in found.rows]
    assert len(tried) == 30  # none was given up
    assert any(nodes >= 3000 for nodes in tried)
    assert found.best("energy_j")[0].values["machine.nodes"] >= 3000


@pytest.mark.parametrize("objectives", [("energy_j",), ("energy_j", "wait_s")])
def test_a_search_that_goes_on_is_the_one_that_was_not_interrupted(
    tmp_path: Path, objectives: tuple[str, ...]
) -> None:
    whole = search(tmp_path / "a", objectives=objectives, trials=14)
    for trials in (4, 12, 14):
        parts = search(tmp_path / "b", objectives=objectives, trials=trials, resume=trials > 4)
    assert [row["setting"] for row in parts.rows] == [row["setting"] for row in whole.rows]
    assert len({row["setting"]["machine.nodes"] for row in whole.rows}) > 10


@pytest.mark.parametrize(("other", "named"), [({"seed": 2}, "a seed"), ({"prune": True}, "prune")])
def test_another_seed_or_pruning_is_another_search(
    tmp_path: Path, other: dict[str, Any], named: str
) -> None:
    search(tmp_path / "a", trials=1)
    with pytest.raises(wl.InputError, match=rf"{named}.* other than now"):
        search(tmp_path / "a", trials=2, resume=True, **other)


@pytest.mark.parametrize(("given", "said"), [
    ({"trials": 0}, "trials is 0"),
    ({"objectives": ("energy_j", "energy_j")}, "given twice")])
def test_what_asks_for_nothing_or_twice_is_refused(
    tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(wl.InputError, match=said):
        search(tmp_path / "a", **given)


def test_a_whole_number_is_one_setting_however_it_is_written() -> None:
    nodes, watts = read_axis("machine.nodes", [32, 32.0]), read_axis("machine.node_idle_w", [90.0])
    assert isinstance(nodes, Axis)
    assert isinstance(watts, Axis)
    assert [repr(value) for value in nodes.values + watts.values] == ["32", "32", "90.0"]


def test_a_seed_is_nothing_to_search_for() -> None:
    with pytest.raises(wl.InputError, match="nothing to search for"):
        space_of({"scenario": SCENARIO, "axes": {"trace.seed": {"from": 1, "to": 9}}}, "s", None)
