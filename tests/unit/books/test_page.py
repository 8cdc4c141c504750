"""The code on the page about the books runs as printed, and gives what is printed beside it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.plain import in_plain

[PAGE] = (Path(__file__).parents[3] / "docs").rglob("books.md")
SHOWN = re.compile(r"^(\w+\..*?) +# (.*)$", re.MULTILINE)
"""A line with nothing but values, and what they are."""


def test_the_page_runs_and_its_values_are_those_printed() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    code = SHOWN.sub(r"shown.append([repr((\1)), repr((\2))])", "\n".join(blocks))
    found = in_plain("shown = []\n" + code + "\nresult = shown\n")
    assert len(found) == 2
    for value, printed in found:
        assert value == printed
