"""How answers look where somebody types their name: short as text, a table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any

MOST_SIGNS = 300
"""Of the text of an answer."""
MOST_ROWS = 20
"""Of its table."""
_LONGEST_TEXT = 60


class Shown:
    """Gives dataclasses (made with `repr=False`) a short text and a table of HTML.

    The table is that of `to_pandas()`, its first rows, else one of the fields; below it stands what
    must be known of it. An answer whose fields are other objects says itself what it is: `_told`.
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._told()})"

    def _told(self) -> str:
        """Every field in a few signs."""
        parts: list[str] = []
        left = MOST_SIGNS - len(type(self).__name__) - len("(, ...)")
        for name, value in _fields(self).items():
            part = f"{name}={short(value)}"
            left -= len(part) + 2
            if left < 0:
                parts.append("...")
                break
            parts.append(part)
        return ", ".join(parts)

    def _repr_html_(self) -> str:
        notes = [*getattr(self, "remarks", ()), *getattr(self, "notes", ())]
        said = "".join(f"<li>{escape(str(note))}</li>" for note in notes)
        return _table(self) + (f"<ul>{said}</ul>" if said else "")


def short(value: Any) -> str:
    """A value in a few signs: of what is long, how long it is."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (str, Path)):
        text = str(value)
        return repr(text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "...")
    if value is None or isinstance(value, int):
        return repr(value)
    if isinstance(value, Sized) and isinstance(value, Iterable):
        count = len(value)
        return f"<{count:,} {'item' if count == 1 else 'items'}>"
    return f"<{type(value).__name__}>"


def _fields(answer: Any) -> dict[str, Any]:
    return {each.name: getattr(answer, each.name) for each in fields(answer)}


def _table(answer: Any) -> str:
    if callable(getattr(answer, "to_pandas", None)):
        frame = answer.to_pandas()
        more = f"<p>the first {MOST_ROWS} of {len(frame):,} rows</p>"
        return str(frame.head(MOST_ROWS).to_html(border=0)) + (
            more if len(frame) > MOST_ROWS else "")
    rows: Mapping[str, Any] = _fields(answer)
    body = "".join(f"<tr><td>{escape(name)}</td><td>{escape(short(value))}</td></tr>"
                   for name, value in rows.items() if name not in ("remarks", "notes"))
    return f"<table><tbody>{body}</tbody></table>"
