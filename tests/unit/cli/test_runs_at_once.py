"""Commands that write to the next free folder at the same time: each gets one of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wattline.analysis.folders import claimed_folder
from wattline.model.errors import InputError

TINY = str(Path(__file__).parents[3] / "examples" / "tiny.swf")
PLAIN = {**os.environ, "WATTLINE_PLAIN": "1"}


def at_once(folder: Path, *commands: tuple[str, ...]) -> list[dict]:
    """Return what commands print that are started side by side."""
    begun = [subprocess.Popen([sys.executable, "-m", "wattline", *command, "--json"], env=PLAIN,
                              cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
             for command in commands]
    return [json.loads(each.communicate()[0]) for each in begun]


def test_of_runs_at_once_none_replaces_another(tmp_path: Path) -> None:
    answers = at_once(tmp_path, *(("simulate", TINY, "--nodes", n) for n in ("8", "12")))
    folders = [Path(answer["run_dir"]) for answer in answers]
    assert sorted(folders) == [Path(f"runs/tiny-00{number}") for number in (1, 2)]
    for answer, folder in zip(answers, folders, strict=True):
        kept = json.loads((tmp_path / folder / "metrics.json").read_text())
        assert kept["energy_j"] == answer["metrics"]["energy_j"]


def test_comparisons_at_once_have_folders_of_their_own(tmp_path: Path) -> None:
    at_once(tmp_path, *(("compare", TINY, "--no-report", "--vary", f"machine.nodes={nodes}")
                        for nodes in ("8,10", "12,14")))
    found = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert found == ["compare-001", "compare-002"]
    for name in found:
        assert len(list((tmp_path / "runs" / name).iterdir())) == 2


def test_a_folder_is_given_back_where_nothing_came_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = []

    def fail() -> None:
        with claimed_folder("run") as folder:
            made.append(folder.resolve(strict=True))
            raise InputError("no")

    with pytest.raises(InputError):
        fail()
    assert not made[0].exists()
    with claimed_folder("run") as again:
        assert again.resolve() == made[0]
