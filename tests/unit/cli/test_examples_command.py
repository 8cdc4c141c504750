"""The examples are listed and copied, and run where they were copied to."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tests.support.commands import call, ok, refused

from wattline.cli.regulate import BROKEN, DECLINED
from wattline.scenario import examples

SOURCE = Path(__file__).parents[3] / "examples"
SHORT = ("--bid", "8000,300", "--duration", "3min", "--warmup", "0s", "--check", "0")
COMMANDS = {
    "axes": (("sweep",), ("--no-report", "--workers", "1", "--out", "swept")),
    "contract": (("regulate",), SHORT),
    "trace": (("simulate",), ("--no-folder", "--jobs", "6")),
    "job": (("network", "place"), ()),
}
"""The command that takes a file with this at its top, and what makes it quick."""


@pytest.fixture
def copied(tmp_path, monkeypatch, capsys) -> Path:
    monkeypatch.chdir(tmp_path)
    ok(capsys, "examples", "copy")
    return Path("examples")


def test_all_of_them_are_listed_and_copied(copied, capsys):
    listed = json.loads(ok(capsys, "examples", "list", "--json"))["examples"]
    files = {str(path.relative_to(SOURCE)): path for path in SOURCE.rglob("*")
             if path.is_file() and path.parent.name != "__pycache__"}
    assert {row["name"] for row in listed} | {"README.md"} == set(files)
    assert all(row["summary"] for row in listed)
    assert len({row["summary"] for row in listed}) == len(listed)  # what each one shows
    assert "small.toml" in ok(capsys, "examples", "list")
    for name, path in files.items():
        assert (copied / name).read_bytes() == path.read_bytes()
        assert (copied / name).stat().st_mode & 0o111 == path.stat().st_mode & 0o111


TABLES = ("shares.toml",)
"""Beside scenarios: what those of others read."""


@pytest.mark.parametrize("name", [
    # Six hours of contract are too many for plain Python, and need a program of their own.
    pytest.param(path.name, marks=[pytest.mark.compiled, pytest.mark.long]
                 if path.stem == "curtailment" else [])
    for path in sorted(SOURCE.glob("*.toml")) if path.name not in TABLES])
def test_each_runs_where_it_was_copied_to(name, copied, capsys):
    top = tomllib.loads((copied / name).read_text(encoding="utf-8"))
    words, more = next(found for key, found in COMMANDS.items() if key in top)
    if "curtailment" in top.get("contract", {}):
        more = (*more[:2], *more[4:])  # its hours are given
    done = call(capsys, *words, copied / name, *more, "--json")
    # What becomes of a contract is the exit status, too.
    assert done.status == 0 or (words == ("regulate",) and done.status in (BROKEN, DECLINED))
    assert json.loads(done.out)


def test_what_was_changed_is_not_written_over_unless_that_is_said(copied, capsys):
    ok(capsys, "examples", "copy")  # nothing differs
    (copied / "small.toml").write_text("mine")
    (copied / "tiny.swf").unlink()
    said = refused(capsys, "examples", "copy")
    assert "examples/small.toml is there already and differs" in said
    assert "--force" in said
    assert (copied / "small.toml").read_text() == "mine"
    assert not (copied / "tiny.swf").exists()
    ok(capsys, "examples", "copy", "--force")
    assert (copied / "small.toml").read_bytes() == (SOURCE / "small.toml").read_bytes()


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path, monkeypatch, capsys):
    (tmp_path / "here").write_text("")
    said = refused(capsys, "examples", "copy", tmp_path / "here")
    assert "name a folder" in said


def test_an_installation_without_examples_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(examples, "PLACES", (tmp_path,))
    assert "install the package anew" in refused(capsys, "examples", "list")
