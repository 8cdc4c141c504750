"""Names of runs of a log, and names that stand for no file."""

from __future__ import annotations

import pytest

import wattline as wl
from wattline.traces.files import log_name


@pytest.mark.parametrize(("path", "name"), [
    ("logs/KTH-SP2-1996-2.1-cln.swf.xz", "KTH-SP2-1996-2.1-cln"),
    ("KTH-SP2-1996-2.2-cln.SWF.GZ", "KTH-SP2-1996-2.2-cln"),
    ("tiny.swf", "tiny"), ("a.b.csv", "a.b"), ("sacct.2024.txt", "sacct.2024"),
    ("jobs", "jobs"), ("jobs.old", "jobs.old"), ("month.parquet.zst", "month"),
])
def test_only_endings_that_say_how_it_is_written_are_left_out(path: str, name: str) -> None:
    assert log_name(path) == name


def test_two_releases_of_a_log_have_two_names() -> None:
    releases = [f"KTH-SP2-1996-{each}-cln.swf.xz" for each in ("2.1", "2.2")]
    assert len({log_name(each) for each in releases}) == 2


def test_a_dash_is_said_to_be_no_file() -> None:
    with pytest.raises(wl.InputError, match="/dev/stdin"):
        wl.read("-")
