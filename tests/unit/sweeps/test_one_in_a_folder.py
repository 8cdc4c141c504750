"""Two sweeps in one folder, and a disk that is full."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.sweeps.running import only_one_in

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
SWEEP: dict[str, Any] = {
    "scenario": {"trace": {"generate": "lublin", "jobs": 10}, "machine": {"nodes": 32}},
    "axes": {"policy.order": ["fcfs", "sjf", "largest"]}}


def test_while_one_is_at_work_another_is_refused_and_leaves_all_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    wl.run_sweep(SWEEP, folder, workers=1, cache=False, report=False)
    before = (folder / "points.jsonl").read_bytes()
    with only_one_in(folder), pytest.raises(wl.InputError, match="another sweep is at work"):
        wl.run_sweep(SWEEP, folder, workers=1, cache=False, report=False, resume=True)
    assert (folder / "points.jsonl").read_bytes() == before
    found = wl.run_sweep(SWEEP, folder, workers=1, cache=False, report=False, resume=True)
    assert found.counts.computed == 0


def test_a_search_is_refused_there_too(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    folder = tmp_path / "a"
    folder.mkdir()
    with only_one_in(folder), pytest.raises(wl.InputError, match="another sweep is at work"):
        wl.optimise_sweep(SWEEP, folder, ["energy_j"], trials=1, cache=False, report=False)
    assert folder.is_dir()


def test_on_a_full_disk_what_is_done_is_kept_and_the_way_on_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []

    def full_after_one(place: int) -> None:
        written.append(place)
        if len(written) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full_after_one)
        with pytest.raises(wl.WattlineError, match=r"No space left on device.*--resume"):
            wl.run_sweep(SWEEP, tmp_path / "a", workers=1, cache=False, report=False)
    found = wl.run_sweep(SWEEP, tmp_path / "a", workers=1, cache=False, report=False, resume=True)
    assert found.counts.computed in (1, 2)
    assert found.counts.failed == 0
