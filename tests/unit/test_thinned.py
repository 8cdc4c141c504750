"""Cases that run before every commit have every value of every axis between them."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from tests.support.thinned import covering, crossed, mostly

AXES = (["a", "b", "c", "d"], [False, True], [1, 2, 3])


def stay(cases: list) -> list[tuple]:
    return [case.values for case in cases if not case.marks]


@pytest.mark.parametrize("together", [1, 2, 3])
def test_all_cases_are_there_and_those_that_stay_have_every_value(together: int) -> None:
    cases = crossed(*AXES, later=pytest.mark.long, together=together)
    assert [case.values for case in cases] == list(product(*AXES))
    kept = stay(cases)
    for places in combinations(range(len(AXES)), together):
        found = {tuple(case[place] for place in places) for case in kept}
        assert found == set(product(*(AXES[place] for place in places)))
    marks = {mark.name for case in cases for mark in case.marks}
    assert marks == (set() if together == 3 else {"long"})


@pytest.mark.parametrize(("sizes", "together", "most"), [
    ((4, 2, 3), 1, 4), ((4, 2, 3), 2, 13), ((2, 2, 2, 2), 2, 6), ((5,), 1, 5), ((3, 3), 2, 9)])
def test_few_of_them_stay(sizes: tuple[int, ...], together: int, most: int) -> None:
    assert len(covering(sizes, together)) <= most


def test_named_cases_stay_and_the_others_are_marked() -> None:
    cases = mostly("abc", "b", pytest.mark.long)
    assert [case for case in cases if isinstance(case, str)] == ["b"]
    assert [case.values for case in cases if not isinstance(case, str)] == [("a",), ("c",)]
    with pytest.raises(AssertionError, match="no such cases"):
        mostly("abc", "x", pytest.mark.long)
