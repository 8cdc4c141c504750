"""Axes that go together are chosen together by a search too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wattline as wl

pytest.importorskip("optuna")
pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
SCENARIO: dict[str, Any] = {"trace": {"generate": "lublin", "jobs": 10}, "machine": {"nodes": 64}}
ORDERS, NODES, SEEDS = ["fcfs", "sjf", "largest"], [64, 80, 96], [4, 5, 6]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def tried(folder: Path, axes: dict[str, Any], **more: Any) -> set[tuple[Any, ...]]:
    found = wl.optimise_sweep({"scenario": SCENARIO, "axes": axes, **more}, folder, ["energy_j"],
                              trials=12, report=False)
    return {tuple(row["setting"].values()) for row in found.rows}


def test_zipped_axes_are_chosen_as_one(tmp_path: Path) -> None:
    axes = {"policy.order": ORDERS, "machine.nodes": NODES}
    pairs = set(zip(ORDERS, NODES, strict=True))
    assert tried(tmp_path / "a", axes, zip=True) <= pairs
    assert not tried(tmp_path / "b", axes) <= pairs


@pytest.mark.parametrize("seeds", [{"seeds": SEEDS}, {}])
def test_a_seed_that_goes_with_an_axis_is_not_crossed_with_it(
    tmp_path: Path, seeds: dict[str, Any]
) -> None:
    axes: dict[str, Any] = {"machine.nodes": NODES} | ({} if seeds else {"trace.seed": SEEDS})
    found = tried(tmp_path / "a", axes, zip=[["machine.nodes", "trace.seed"]], **seeds)
    assert found <= set(zip(NODES, SEEDS, strict=True))


def test_seeds_along_an_axis_are_all_drawn_at_each_setting(tmp_path: Path) -> None:
    found = tried(tmp_path / "a", {"machine.nodes": [64], "trace.seed": SEEDS})
    assert found == {(64, seed) for seed in SEEDS}


def test_a_search_does_not_go_on_with_axes_that_go_together_otherwise(tmp_path: Path) -> None:
    given = {"scenario": SCENARIO, "axes": {"policy.order": ORDERS, "machine.nodes": NODES}}
    wl.optimise_sweep(given, tmp_path / "a", ["energy_j"], trials=1, report=False)
    with pytest.raises(wl.InputError, match="a search with zip other than now"):
        wl.optimise_sweep(given | {"zip": True}, tmp_path / "a", ["energy_j"], trials=2,
                          report=False, resume=True)
