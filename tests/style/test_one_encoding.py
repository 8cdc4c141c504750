"""Text files are UTF-8 whatever the locale of a machine: what one writes, another reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "wattline"
PLACE_OF_ENCODING = {"read_text": 0, "write_text": 1}
"""Place of the argument, where it has no name."""


def without_encoding(text: str) -> Iterator[int]:
    """Lines on which a file is read or written as text in the encoding of the machine."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or any(word.arg == "encoding" for word in node.keywords):
            continue
        match node.func:
            case ast.Attribute(attr="read_text" | "write_text" as name):
                if len(node.args) <= PLACE_OF_ENCODING[name]:
                    yield node.lineno
            case ast.Name(id="open") if as_text(node.args[1:2]):
                yield node.lineno
            case ast.Attribute(attr="open") if node.args and as_text(node.args[:1]):
                yield node.lineno


def as_text(mode: list[ast.expr]) -> bool:
    """True of a mode in words, or of none, without a `b`."""
    return all(isinstance(each, ast.Constant) and isinstance(each.value, str)
               and set(each.value) <= set("rwax+t") for each in mode)


def test_text_is_read_and_written_in_a_named_encoding() -> None:
    assert {f"{path.relative_to(SOURCE)}:{line}" for path in SOURCE.rglob("*.py")
            for line in without_encoding(path.read_text(encoding="utf-8"))} == set()


@pytest.mark.parametrize(("code", "found"), [
    ("p.read_text()", True), ("p.read_text('utf-8')", False), ("p.write_text(t)", True),
    ("p.write_text(t, encoding='utf-8')", False), ("open(p)", True), ("open(p, 'w')", True),
    ("open(p, 'wb')", False), ("p.open('x')", True), ("p.open('rb')", False),
    ("webbrowser.open(url)", False), ("os.open(p, flags)", False),
])
def test_calls_without_an_encoding_are_found(code: str, found: bool) -> None:
    assert bool(list(without_encoding(code))) == found
