"""Few combinations of cases that between them have every pair that goes together.

Compiling a combination takes many seconds however many choices are in it, so pairs are tried
together: one case of each axis at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

Cases = tuple[str, ...]
Pair = frozenset[str]


def covering(pairs: set[Pair], go_together: Callable[[Cases], bool]) -> list[Cases]:
    """Combinations with all of these pairs, which are ones that go together.

    The first pair that is left leads; of every other axis the case joins that brings most pairs.
    """
    cases = sorted({case for pair in pairs for case in pair})
    left, found = dict.fromkeys(sorted(pairs, key=sorted)), []
    while left:
        chosen: Cases = tuple(sorted(next(iter(left))))
        for axis in sorted({_axis(case) for case in cases} - set(map(_axis, chosen))):
            mine = [case for case in cases if _axis(case) == axis]
            chosen = _joined(chosen, mine, left, go_together)
        for pair in _pairs(chosen):
            left.pop(pair, None)
        found.append(chosen)
    return found


def _joined(
    chosen: Cases, mine: list[str], left: dict[Pair, None], go_together: Callable[[Cases], bool]
) -> Cases:
    """With that case of an axis that brings most, where one brings any and goes with the others."""
    def brings(case: str) -> int:
        return sum(Pair((case, other)) in left for other in chosen)

    for case in sorted((case for case in mine if brings(case)), key=brings, reverse=True):
        if go_together((*chosen, case)):
            return (*chosen, case)
    return chosen


def _axis(case: str) -> str:
    return case.split(".", maxsplit=1)[0]


def _pairs(chosen: Cases) -> list[Pair]:
    return [Pair(pair) for pair in combinations(chosen, 2)]
