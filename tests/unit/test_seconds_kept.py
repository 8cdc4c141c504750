"""The time that files of tests take, as it is known."""

from __future__ import annotations

from pathlib import Path

from tests.support.seconds_kept import UNKNOWN_S, keep, seconds_by_file


def test_a_test_that_is_run_again_changes_its_own_seconds_alone(tmp_path: Path) -> None:
    kept = tmp_path / "new" / "seconds.json"
    keep({"tests/test_a.py::one": 1.0, "tests/test_a.py::two[x::y]": 2.0}, kept)
    keep({"tests/test_a.py::one": 0.25, "tests/test_b.py::C::three": 4.0}, kept)
    keep({}, kept)
    found = seconds_by_file(kept)
    assert found["tests/test_a.py"] == 2.25
    assert found["tests/test_b.py"] == 4.0
    assert found["tests/test_never_run.py"] == UNKNOWN_S


def test_a_test_that_daily_work_never_runs_has_no_part_in_it(tmp_path: Path) -> None:
    """A file whose compiled test takes 26 s is as quick as the rest of it."""
    kept = tmp_path / "seconds.json"
    keep({"tests/test_a.py::one": 1.5, "tests/test_a.py::compiled": 26.0}, kept)
    keep({}, kept, never={"tests/test_a.py::compiled"})
    assert dict(seconds_by_file(kept)) == {"tests/test_a.py": 1.5}


def test_a_file_that_cannot_be_read_is_as_none(tmp_path: Path) -> None:
    kept = tmp_path / "seconds.json"
    kept.write_text("{")
    assert not seconds_by_file(kept)
    keep({"tests/test_a.py::one": 1.0}, kept)
    assert dict(seconds_by_file(kept)) == {"tests/test_a.py": 1.0}
