"""What a terminal would obey, or hide, is printed as what it is.

Names come from logs, scenarios and file names of others. An escape sequence in one would colour,
move or overwrite what stands on a terminal, and a control of the direction of writing would turn
it round: a reader, or whoever copies it, would take it for something else.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_KINDS = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Controls, of formats too, halves of characters, and separators of lines and paragraphs."""
_KEPT = "\n\t\u200c\u200d"
"""Joiners, and what keeps letters apart, belong to the writing of names in many languages."""


def visible(text: str) -> str:
    r"""A text whose controls are written out.

    >>> print(visible("ann\u202etxt.\x1b[31m"))
    ann\u202etxt.\x1b[31m
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(_written(sign) for sign in text)


def _written(sign: str) -> str:
    if sign in _KEPT or unicodedata.category(sign) not in _KINDS:
        return sign
    return sign.encode("unicode_escape").decode()


@contextmanager
def visible_streams() -> Iterator[None]:
    """Print so to both streams, whatever is printed and wherever they lead."""
    before = sys.stdout, sys.stderr
    ours = Visible(sys.stdout), Visible(sys.stderr)
    sys.stdout, sys.stderr = ours
    try:
        yield
    finally:
        if (sys.stdout, sys.stderr) == ours:
            sys.stdout, sys.stderr = before


def own_stream(stream: Any) -> Any:
    """The stream itself, for what moves the cursor on purpose and writes names out."""
    return stream.beneath if isinstance(stream, Visible) else stream


class Visible:
    """A text stream to which only visible text is written."""

    def __init__(self, beneath: Any) -> None:
        self.beneath = beneath

    def write(self, text: str) -> int:
        if not isinstance(text, str):  # as a text stream; click asks which kind it is
            raise TypeError("only text can be written here")
        self.beneath.write(visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beneath, name)
