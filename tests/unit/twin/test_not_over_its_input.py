"""`twin make` writes over no file that it reads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.support.twin_sites import ACCOUNTS, CONF, submit

import wattline as wl

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "slurm.conf").write_text(CONF + "Include more.conf\n")
    (tmp_path / "more.conf").write_text("JobRequeue=0\n")
    (tmp_path / "assoc").write_text(ACCOUNTS)
    (tmp_path / "w.events").write_text(submit("-n 1 -t 5"))
    os.link(tmp_path / "slurm.conf", tmp_path / "other name")
    return tmp_path


def made(folder: Path) -> wl.Twin:
    return wl.make_twin(folder / "slurm.conf", events=folder / "w.events", assoc=folder / "assoc")


@pytest.mark.parametrize("name", ["slurm.conf", "w.events", "assoc", "more.conf", "other name"])
def test_an_output_that_is_an_input_is_refused(files: Path, name: str) -> None:
    before = (files / name).read_text()
    with pytest.raises(wl.InputError, match="that the twin is made from; name another"):
        wl.make_twin(files / "slurm.conf", events=files / "w.events", assoc=files / "assoc",
                     out=files / name)
    with pytest.raises(wl.InputError, match="name another file to write"):
        made(files).write(files / name)
    assert (files / name).read_text() == before


def test_another_file_that_is_there_is_written_over(files: Path) -> None:
    (files / "twin.toml").write_text("old")
    made(files).write(files / "twin.toml")
    assert "[twin]" in (files / "twin.toml").read_text()
