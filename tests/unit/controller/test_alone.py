"""Two controllers for one Slurm."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from wattline.controller.alone import alone_at
from wattline.live.folder_lock import alone_in
from wattline.model.errors import WattlineError

linux = pytest.mark.skipif(sys.platform != "linux", reason="sockets without a file are Linux's")


def conf(folder: Path) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    (folder / "slurm.conf").touch()
    return {"SLURM_CONF": str(folder / "slurm.conf")}


@linux
def test_a_second_one_is_refused_with_the_process_of_the_first(tmp_path: Path) -> None:
    mine = conf(tmp_path / "a")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    linked = {"SLURM_CONF": str(tmp_path / "link" / "slurm.conf")}
    with alone_at(mine):
        for same in (mine, linked):
            with pytest.raises(WattlineError, match=rf"\(process {os.getpid()}\)"), alone_at(same):
                pass
        with alone_at(conf(tmp_path / "b")):
            pass
    with alone_at(linked):
        pass


def test_a_folder_has_one(tmp_path: Path) -> None:
    with (alone_in(tmp_path, "no"), pytest.raises(WattlineError, match="another holds it"),
          alone_in(tmp_path, "another holds it")):
        pass
