"""What somebody who mistyped a word may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'fcfs'?`, to be put behind an error; nothing where no word is near."""
    import difflib

    by_lower = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(word.casefold(), by_lower, n=1)
    return f"; did you mean '{by_lower[near[0]]}'?" if near else ""
