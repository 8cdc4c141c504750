"""The form of a picture is said by the ending of its name, in letters of either case."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from wattline.model.errors import InputError
from wattline.model.pictures import save_picture


@pytest.mark.parametrize(("name", "begins"), [
    ("a.png", b"\x89PNG"), ("a.PNG", b"\x89PNG"), ("a.Pdf", b"%PDF"), ("a.SVG", b"<?xml")])
def test_the_ending_says_the_form(name: str, begins: bytes, tmp_path: Path) -> None:
    assert save_picture(Figure(), tmp_path / name).read_bytes().startswith(begins)


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a.TXT' is not a picture; end its name in .svg"):
        save_picture(Figure(), tmp_path / "a.TXT")
