"""What the books say, in the words of those who know Slurm and its nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_JOB = re.compile(r"\bjob '([^']*)'")
_NODE = re.compile(r"\bnode ([0-9]+)\b")
_UNITS = re.compile(r"\bunits\b")


def in_slurm_words(
    said: str, node_names: Callable[[Iterable[int]], list[str]], units: str = "nodes"
) -> str:
    """Jobs without quotes, nodes by their names, and what the books count by what it is."""

    def named(found: re.Match[str]) -> str:
        try:
            return f"node {node_names([int(found[1])])[0]}"
        except IndexError:  # there is none of that number, which is what is said
            return found[0]

    return _UNITS.sub(units, _NODE.sub(named, _JOB.sub(r"job \1", said)))
