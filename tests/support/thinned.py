"""Cases of a test that run before every commit, where all of them together take long.

Those that between them have every value of every axis stay; all others get the mark that the test
gives (`pytest.mark.long`), and run in `make test-long`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, product
from typing import Any

import pytest


def mostly(every: Iterable[Any], now: Collection[Any], later: pytest.MarkDecorator) -> list[Any]:
    """All cases of one axis; those that are not among `now` are marked."""
    cases = list(every)
    missing = [case for case in now if case not in cases]
    assert not missing, f"no such cases: {missing}"
    return [case if case in now else pytest.param(case, marks=later) for case in cases]


def crossed(
    *axes: Sequence[Any], later: pytest.MarkDecorator, together: int = 1
) -> list[Any]:
    """Every combination of the values of several axes, most of them marked.

    Those stay that have each value of each axis between them; with `together=2` each pair of
    values of two axes.
    """
    sizes = [len(axis) for axis in axes]
    stay = covering(sizes, together)
    return [pytest.param(*(axis[place] for axis, place in zip(axes, places, strict=True)),
                         marks=() if places in stay else later)
            for places in product(*map(range, sizes))]


def covering(sizes: Sequence[int], together: int) -> set[tuple[int, ...]]:
    """Few combinations of places that have every choice of so many of them: at each step the first
    of those that add most."""
    every = [(case, set(combinations(enumerate(case), together)))
             for case in product(*map(range, sizes))]
    missing = set().union(*(has for _, has in every))
    stay: set[tuple[int, ...]] = set()
    while missing:
        case, has = max(every, key=lambda each: len(each[1] & missing))
        stay.add(case)
        missing -= has
    return stay
