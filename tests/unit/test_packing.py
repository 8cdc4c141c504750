"""Pairs are packed into few compositions, and told apart again where one is not as it should be."""

from __future__ import annotations

from itertools import combinations

from tests.support.packing import Bundle, Cases, Pair, families, tell_apart

CASES = ("a.1", "a.2", "a.2, often", "b.1", "b.2", "c.1", "c.2", "c.3", "d.1", "d.1, twice")
APART = {("a.1", "c.3"), ("b.2", "d.1"), ("b.2", "d.1, twice")}
PAIRS: list[Pair] = [pair for pair in combinations(CASES, 2)
                     if pair[0][0] != pair[1][0] and pair not in APART]
BUNDLE = Bundle(("a.1", "b.1", "c.1"), (("a.1", "b.1"), ("a.1", "c.1"), ("b.1", "c.1")))


def _joins(cases: Cases, case: str) -> bool:
    return not any(tuple(sorted((case, other))) in APART for other in cases)


def test_every_possible_pair_is_in_one_composition_and_none_is_proved_twice() -> None:
    bundles = [bundle for family in families(PAIRS, _joins) for bundle in family]
    assert sorted(pair for bundle in bundles for pair in bundle.pairs) == sorted(PAIRS)
    for bundle in bundles:
        assert all(set(pair) <= set(bundle.cases) for pair in bundle.pairs)
        assert len({case[0] for case in bundle.cases}) == len(bundle.cases)
        assert not any(pair in APART for pair in combinations(bundle.cases, 2))
    assert len({bundle.cases for bundle in bundles}) == len(bundles) < len(PAIRS) / 2


def test_compositions_of_one_family_differ_in_variants_alone() -> None:
    for first, *others in families(PAIRS, _joins):
        choices = {case.split(",")[0] for case in first.cases}
        for other in others:
            assert {case.split(",")[0] for case in other.cases} <= choices


def test_what_holds_of_a_composition_holds_of_its_pairs() -> None:
    asked: list[Cases] = []

    def same(cases: Cases) -> str:
        asked.append(cases)
        return "same"

    assert list(tell_apart(BUNDLE, same)) == [(pair, "same") for pair in BUNDLE.pairs]
    assert asked == [BUNDLE.cases]


def test_a_refused_composition_is_split_into_its_pairs() -> None:
    def prove(cases: Cases) -> str:
        return "refused: too narrow" if {"b.1", "c.1"} <= set(cases) else "same"

    assert dict(tell_apart(BUNDLE, prove)) == {
        ("a.1", "b.1"): "same", ("a.1", "c.1"): "same", ("b.1", "c.1"): "refused: too narrow"}


def test_what_is_wrong_in_a_composition_is_said_of_the_pair_that_is_wrong() -> None:
    def prove(cases: Cases) -> str:
        return "IndexError" if {"a.1", "c.1"} <= set(cases) else "same"

    assert dict(tell_apart(BUNDLE, prove)) == {
        ("a.1", "b.1"): "same", ("a.1", "c.1"): "IndexError", ("b.1", "c.1"): "same"}


def test_what_only_three_choices_together_do_wrong_is_said_of_the_composition() -> None:
    def prove(cases: Cases) -> str:
        return "starts differ" if len(cases) == 3 else "same"

    found = dict(tell_apart(BUNDLE, prove))
    assert found.pop(BUNDLE.cases) == "starts differ"
    assert found == dict.fromkeys(BUNDLE.pairs, "same")


def test_a_pair_by_itself_is_asked_once() -> None:
    asked: list[Cases] = []

    def wrong(cases: Cases) -> str:
        asked.append(cases)
        return "IndexError"

    alone = Bundle(("a.1", "b.1"), (("a.1", "b.1"),))
    assert list(tell_apart(alone, wrong)) == [(("a.1", "b.1"), "IndexError")]
    assert asked == [("a.1", "b.1")]
