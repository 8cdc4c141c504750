"""A search goes on with the contents that it began with, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.sweeps import point

pytest.importorskip("optuna")
pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
JOB = "{} {} -1 {} 4 -1 -1 4 100 -1 1 1 1 1 1 -1 -1 -1\n"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write_log(path: Path, run_s: int) -> None:
    path.write_text("; MaxNodes: 8\n; MaxProcs: 8\n"
                    + "".join(JOB.format(number, 10 * number, run_s) for number in range(1, 6)))


def search(tmp_path: Path, trials: int, **more: Any) -> wl.SweepResult:
    scenario = {"trace": {"file": str(tmp_path / "log.swf")}, "machine": {"nodes": 8}}
    return wl.optimise_sweep(
        {"scenario": scenario, "axes": {"policy.order": ["fcfs", "sjf", "largest", "wfp"]}},
        tmp_path / "a",
        ["energy_j"], trials=trials, report=False, **more)


def test_rows_of_another_log_are_not_mixed_in(tmp_path: Path) -> None:
    write_log(tmp_path / "log.swf", 50)
    search(tmp_path, 2)
    assert len(search(tmp_path, 3, resume=True)) == 3
    write_log(tmp_path / "log.swf", 70)
    with pytest.raises(wl.InputError, match=r"another content of .*log\.swf than now; name"):
        search(tmp_path, 4, resume=True)
    write_log(tmp_path / "log.swf", 50)
    assert len(search(tmp_path, 4, resume=True)) == 4


def test_a_search_is_not_gone_on_with_by_another_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_log(tmp_path / "log.swf", 50)
    search(tmp_path, 1)
    monkeypatch.setattr(point, "package_digest", lambda: "another")
    with pytest.raises(wl.InputError, match="another content of wattline itself than now"):
        search(tmp_path, 2, resume=True)


def test_what_cannot_be_seen_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(point, "package_digest", lambda: "")
    write_log(tmp_path / "log.swf", 50)
    search(tmp_path, 2)
    found = search(tmp_path, 3, resume=True)
    assert any(line.startswith("2 trials from before rest on what") for line in found.sentences)
