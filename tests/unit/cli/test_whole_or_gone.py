"""Folders that commands write: refused early where they cannot be, gone when work is cut short."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wattline.analysis.folders import run_folder
from wattline.cli.simulating import whole_or_gone
from wattline.model.errors import InputError


def _interrupted(folder: Path, inside: str) -> None:
    with whole_or_gone(folder):
        (folder / inside).mkdir(parents=True)
        raise KeyboardInterrupt


def test_a_new_folder_goes_with_the_interrupted_work(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _interrupted(tmp_path / "compare", "01-first")
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_before_stays(tmp_path: Path) -> None:
    target = tmp_path / "compare"
    (target / "older").mkdir(parents=True)
    with pytest.raises(KeyboardInterrupt):
        _interrupted(target, "newer")
    assert (target / "older").is_dir()


def test_finished_work_stays(tmp_path: Path) -> None:
    with whole_or_gone(tmp_path / "compare"):
        (tmp_path / "compare").mkdir()
    assert (tmp_path / "compare").is_dir()


def test_the_next_free_number_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_folder("my log", None) == Path("runs/my-log-001")
    Path("runs/my-log-001").mkdir(parents=True)
    assert run_folder("my log", None) == Path("runs/my-log-002")


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file is a file, not a folder"):
        run_folder("x", str(tmp_path / "file" / "run"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="no permission"):
        run_folder("x", str(tmp_path / "run"))
