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


def test_another_sweep_does_not_take_the_place_of_the_one_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    given = {"workers": 1, "cache": False, "report": False}
    wl.run_sweep(SWEEP, folder, **given)
    table = (folder / "results.parquet").read_bytes()
    other = {**SWEEP, "scenario": {**SWEEP["scenario"], "machine": {"nodes": 48}}}
    with pytest.raises(wl.InputError, match="has a sweep of another scenario"):
        wl.run_sweep(other, folder, resume=True, **given)
    along = {**SWEEP, "axes": {"power.cap": ["80%"]}}
    with pytest.raises(wl.InputError, match=r"along policy.order, not along power.cap"):
        wl.run_sweep(along, folder, resume=True, **given)
    with pytest.raises(wl.InputError, match=r"not along policy.order, trace.seed"):
        wl.run_sweep({**SWEEP, "seeds": 2}, folder, resume=True, **given)
    assert (folder / "results.parquet").read_bytes() == table
    more = {**SWEEP, "name": "renamed", "axes": {"policy.order": ["fcfs", "sjf", "largest", "wfp"]}}
    assert wl.run_sweep(more, folder, resume=True, **given).counts.computed == 1


def test_a_sweep_goes_on_from_another_folder_and_where_nothing_says_which_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wl.write(wl.generate("lublin", seed=1, jobs=10, nodes=32), tmp_path / "log.csv")
    file = tmp_path / "sweep.toml"
    file.write_text('[scenario]\ntrace = {file = "log.csv"}\nmachine = {nodes = 32}\n'
                    '[axes]\n"policy.order" = ["fcfs", "sjf"]\n')
    given = {"workers": 1, "cache": False, "report": False}
    first = wl.run_sweep(file, tmp_path / "a", **given)
    monkeypatch.chdir(tmp_path)
    again = wl.run_sweep("sweep.toml", "a", resume=True, **given)
    assert again.to_pandas()["energy_j"].tolist() == first.to_pandas()["energy_j"].tolist()
    (tmp_path / "a" / "sweep.json").write_text("{")  # cut off
    assert wl.run_sweep("sweep.toml", "a", resume=True, **given).counts.computed == 0


@pytest.mark.parametrize("end", [b"\xff\xfe\x80\x00garbage", b'{"key": "x", "number": 0}\n',
                                 b"\0" * 64, b'{"key": "\xff"', b"\xe2\x80\xa8[1]\n"])
def test_what_a_power_cut_left_behind_costs_no_row_that_is_whole(
    tmp_path: Path, end: bytes
) -> None:
    given = {"workers": 1, "cache": False, "report": False}
    first = wl.run_sweep(SWEEP, tmp_path / "a", **given)
    journal = tmp_path / "a" / "points.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == first.counts.points > 1
    journal.write_bytes(b"".join(lines[:-1]) + end)
    again = wl.run_sweep(SWEEP, tmp_path / "a", resume=True, **given)
    assert (again.counts.computed, again.counts.cached) == (1, first.counts.points - 1)
    assert [str(row["figures"]) for row in again.rows] == [
        str(row["figures"]) for row in first.rows]  # as text: some of them are no numbers
