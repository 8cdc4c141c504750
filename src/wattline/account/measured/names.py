"""Names that others chose, made fit for one line and for every database."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

LONGEST = 255
LONGEST_LIST = 1_000_000
CONTROL = "names with control characters, which are blanks now"
SHORTENED = f"names longer than {LONGEST} characters, shortened"
# Ends of lines, NUL, escapes, and marks that turn the direction of writing.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def some_of(names: Iterable[str]) -> str:
    """Three of them in order, and how many more there are."""
    found = sorted(names)
    return ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")


def clean(text: str, mended: Counter[str]) -> str:
    """A name of one line; what had to be changed is counted."""
    return _clean(text, mended, LONGEST)


def clean_list(text: str, mended: Counter[str]) -> str:
    """A list of names, which may be longer."""
    return _clean(text, mended, LONGEST_LIST)


def _clean(text: str, mended: Counter[str], longest: int) -> str:
    if text.isascii() and text.isprintable() and len(text) <= longest:
        return text.strip()
    plain = _CONTROL.sub(" ", text).encode("utf-8", "replace").decode().strip()
    mended[CONTROL] += bool(_CONTROL.search(text))
    if len(plain) > longest:
        mended[SHORTENED] += 1
        plain = plain[:longest]
    return plain
