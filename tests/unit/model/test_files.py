"""Files that are written whole or not at all, and what is no file stays what it is."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.model.files import replacing, write_whole
from wattline.physics.regression import load_models, save_models, shipped_models


def _names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_new_and_old_files_are_written(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    write_whole(target, "first é")
    assert target.read_text(encoding="utf-8") == "first é"
    (tmp_path / "plain").touch()
    assert target.stat().st_mode == (tmp_path / "plain").stat().st_mode
    target.chmod(0o640)
    write_whole(str(target), b"second")
    assert target.read_bytes() == b"second"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert _names(tmp_path) == ["a.json", "plain"]


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    write_whole(tmp_path / ("n" * 255), "x")
    assert _names(tmp_path) == ["n" * 255]


def test_a_failure_keeps_the_old_file_and_leaves_no_draft(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_text("old")

    def fail(error: BaseException) -> None:
        with replacing(target) as draft:
            draft.write_text("half")
            raise error

    with pytest.raises(InputError, match=r"a\.json cannot be written: No space left on device"):
        fail(OSError(28, "No space left on device"))
    with pytest.raises(KeyboardInterrupt):
        fail(KeyboardInterrupt())
    assert target.read_text() == "old"
    assert _names(tmp_path) == ["a.json"]


def test_a_link_stays_and_its_file_changes(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "a.json"
    target.write_text("old")
    link = tmp_path / "link.json"
    link.symlink_to(Path("there") / "a.json")
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    target.unlink()
    write_whole(link, "again")  # a link to what is not there yet makes it
    assert link.is_symlink()
    assert target.read_text() == "again"
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match="loop cannot be written"):
        write_whole(loop, "x")
    assert loop.is_symlink()


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    write_whole(pipe, "through")
    reader.join(10.0)
    assert read == ["through"]
    assert pipe.is_fifo()


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this system has no /dev/full")
def test_a_device_stays_a_device(tmp_path: Path) -> None:
    write_whole("/dev/null", "gone")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(InputError, match="/dev/full cannot be written: No space left"):
        write_whole("/dev/full", "x")
    assert Path("/dev/full").is_char_device()
    (tmp_path / "link").symlink_to("/dev/full")
    with pytest.raises(InputError, match="No space left"):
        write_whole(tmp_path / "link", "x")
    assert Path("/dev/full").is_char_device()
    assert (tmp_path / "link").is_symlink()


def test_a_folder_and_a_place_that_is_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder; name a file to write"):
        write_whole(tmp_path, "x")
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        write_whole(tmp_path / "no" / "a.json", "x")
    assert _names(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_text("old")
    target.chmod(0o444)
    with pytest.raises(InputError, match="it is read-only"):
        write_whole(target, "new")
    assert target.read_text() == "old"


@pytest.mark.parametrize(
    ("suffix", "arguments"),
    [("swf", ["trace", "generate", "poisson", "--jobs", "5", "-o"]),
     ("svg", ["petri", "show", "puppet", "--out"])],
)
def test_commands_write_through_links_and_into_devices(
    tmp_path: Path, suffix: str, arguments: list[str]
) -> None:
    target, link = tmp_path / f"target.{suffix}", tmp_path / f"link.{suffix}"
    link.symlink_to(target)
    made = CliRunner().invoke(cli, [*arguments, str(link)])
    assert made.exit_code == 0, made.output
    assert link.is_symlink()
    assert target.stat().st_size > 0
    null = tmp_path / f"null.{suffix}"
    null.symlink_to("/dev/null")
    assert CliRunner().invoke(cli, [*arguments, str(null)]).exit_code == 0
    assert null.is_symlink()
    assert Path("/dev/null").is_char_device()


def test_models_are_written_through_links(tmp_path: Path) -> None:
    model, link = tmp_path / "model.json", tmp_path / "link.json"
    link.symlink_to(model)
    save_models({"BT-MZ": shipped_models()["BT-MZ"]}, link)
    assert link.is_symlink()
    assert list(load_models(model)) == ["BT-MZ"]
    with pytest.raises(InputError, match="is a folder; name a file"):
        save_models(shipped_models(), tmp_path)
