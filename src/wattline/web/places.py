"""Sentences without the server's paths: where its files lie is not for those who look.

Errors of the layers below are written for whoever runs the command, and name files. Those that
are known here get a name of their own ("the site's file"); of any other path only that it is one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

WITHHELD = "(path withheld)"
_REST = r"(?:/[^\s:;,'\"`()]*)?"
_PATH = re.compile(
    r"(?<=['\"])(?:\w+://)?/[^'\"]*(?=['\"])"  # in quotes also with blanks
    r"|\b(?!https?:)[a-z][a-z0-9+]*://[^\s'\"`(),;]+"  # the address of a store
    r"|(?<![\w.:/<~-])/(?!(?:api|app|metrics)\b)[\w.+@%=-]+(?:/[\w.+@%=-]*)*")


class ServerPlaces:
    """The places that are known, each with what it is called instead."""

    def __init__(self, called: Mapping[str, str] | None = None) -> None:
        self._called = {place: words for place, words in (called or {}).items() if place}
        longest = sorted(self._called, key=len, reverse=True)
        self._known = re.compile("|".join(f"({re.escape(place)}){_REST}" for place in longest)
                                 ) if longest else None

    def withheld(self, text: str) -> str:
        """The same text, without paths."""
        if self._known is not None:
            text = self._known.sub(lambda found: self._called[found[found.lastindex or 0]], text)
        return _PATH.sub(WITHHELD, text)
