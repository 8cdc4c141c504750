"""`wattline trace` as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.commands import Done, call
from tests.support.printed import columns

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.traces import generate, read, write

Command = Callable[..., Done]


@pytest.fixture
def wattline(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command, run as its entry point runs it."""

    def run(*arguments: object) -> Done:
        return call(capsys, *arguments)

    return run


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.swf.xz"
    write(generate("leadership", seed=1, jobs=50), path)
    return path


def test_info(wattline: Command, log: Path) -> None:
    done = wattline("trace", "info", log, "--json")
    assert done.status == 0, done.err
    facts = json.loads(done.out)
    assert facts["jobs"] == 50
    assert facts["machine_procs"] == 49_152
    assert facts["with_power"] == 50
    assert facts["quantiles"]["procs"]["p0"] == 512
    assert facts["header"]["Seed"] == "1"
    assert facts["cleaning"]["kept"] == 50
    assert len(facts["cleaning"]["rules"]) == 16
    said = wattline("trace", "info", log).out
    assert "offered load" in said
    assert "50 job lines read, 50 kept" in said


def test_generate_convert_and_back(wattline: Command, tmp_path: Path) -> None:
    made = wattline("trace", "generate", "esp2", "--seed", 3, "--nodes", 64, "-o",
                    tmp_path / "esp.swf")
    assert made.status == 0, made.err
    assert "230 jobs written" in made.out
    done = wattline("trace", "convert", tmp_path / "esp.swf", tmp_path / "esp.parquet", "--json")
    assert json.loads(done.out)["jobs"] == 230
    assert read(tmp_path / "esp.parquet").jobs.names["queue"] == ("normal", "full")


def test_a_mistake_is_one_line_and_leaves_nothing_behind(
    wattline: Command, tmp_path: Path
) -> None:
    (tmp_path / "bad.swf").write_bytes(b"\0\1\2rubbish")
    (tmp_path / "cut.swf.gz").write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\3" + b"x" * 9)
    before = sorted(tmp_path.iterdir())
    for arguments in (("info", "bad.swf"), ("convert", "bad.swf", "out.swf"),
                      ("convert", "cut.swf.gz", "out.csv"), ("convert", "none.swf", "out.csv"),
                      ("generate", "esp2", "--jobs", "3", "-o", "out.swf"),
                      ("generate", "esp2", "-o", "out.txt"),
                      ("generate", "esp2", "-o", "no/such/folder/out.swf")):
        words = [str(tmp_path / word) if "." in word else word for word in arguments]
        done = wattline("trace", *words)
        assert done.status == 2, arguments
        assert done.err.startswith("wattline: ")
        assert done.err.count("\n") == 1
        assert "Traceback" not in done.err
    assert sorted(tmp_path.iterdir()) == before


def test_strict_names_the_line(wattline: Command, tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    line = "{} {} -1 60 4 -1 -1 4 120 -1 1 7 8 9 1 2 -1 -1"
    path.write_text("; MaxProcs: 8\n" + line.format(1, 5) + "\n" + line.format(2, 4) + "\n")
    done = wattline("trace", "info", path, "--strict")
    assert done.status == 2
    assert f"{path}:3: unsorted" in done.err
    done = wattline("trace", "info", path)
    assert done.status == 0
    assert columns(done.out, "rule", "jobs", "first at") == [("unsorted", "1", "3")]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.swf"
    write(generate("esp2", seed=1), path)
    old = path.read_bytes()

    def fail(self: Path, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(InputError, match="No space left"):
        write(generate("esp2", seed=2), path)
    monkeypatch.undo()
    assert path.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["log.swf"]


def test_two_jobs_of_one_id_are_not_written(tmp_path: Path) -> None:
    jobs = JobTable.build(submit_s=[0, 1], run_s=[1, 1], procs=[1, 1], job_id=[4, 4])
    with pytest.raises(InputError, match="same id"):
        write(jobs, tmp_path / "log.swf")
