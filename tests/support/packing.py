"""Few compositions that between them have every pair of choices.

What takes long is to compile a composition; to ask it is quick. So a composition takes a choice on
every axis where they go together, and serves all pairs among them. Variants of a choice are
compiled to the same code: compositions that differ in variants alone are one family.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

Cases = tuple[str, ...]
Pair = tuple[str, str]
SAME, REFUSED = "same", "refused"


@dataclass(frozen=True)
class Bundle:
    """A composition, and the pairs in it that no other composition has to serve."""

    cases: Cases
    pairs: tuple[Pair, ...]

    def without(self, known: Iterable[Pair]) -> Bundle:
        done = set(known)
        return replace(self, pairs=tuple(pair for pair in self.pairs if pair not in done))


Joins = Callable[[Cases, str], bool]
"""Say whether one more case can be had beside others without a change to them."""


def families(pairs: Sequence[Pair], joins: Joins) -> list[list[Bundle]]:
    """All pairs, each in one bundle; bundles of the same choices stand together."""
    left = dict.fromkeys(pairs)
    found = []
    for first in pack([pair for pair in pairs if _is_plain(pair)], joins):
        choices = {choice_of(case) for case in first.cases}
        _take(left, first.pairs)
        variants = [pair for pair in left if {choice_of(case) for case in pair} <= choices]
        more = pack(variants, joins)
        _take(left, (pair for bundle in more for pair in bundle.pairs))
        found.append([first, *more])
    return found + [[bundle] for bundle in pack(list(left), joins)]


def pack(pairs: Sequence[Pair], joins: Joins) -> list[Bundle]:
    """Greedily: the pair whose cases have most left begins, what serves most pairs joins it."""
    order = {case: place for place, case in enumerate(_cases(pairs))}
    left = dict.fromkeys(pairs)
    found = []
    while left:
        wanted = Counter(case for pair in left for case in pair)
        cases: Cases = max(left, key=lambda pair: sum(wanted[case] for case in pair))
        while joined := _joined(cases, left, wanted, joins):
            cases = tuple(sorted((*cases, joined), key=order.__getitem__))
        served = tuple(pair for pair in left if set(pair) <= set(cases))
        _take(left, served)
        found.append(Bundle(cases, served))
    return found


def tell_apart(bundle: Bundle, prove: Callable[[Cases], str]) -> Iterator[tuple[Cases, str]]:
    """Return what becomes of each pair of a bundle.

    Where a composition is refused or wrong, its pairs are asked one by one. Where it is wrong and
    none of them is, that is said of the composition.
    """
    outcome = prove(bundle.cases)
    if outcome == SAME or bundle.pairs == (bundle.cases,):
        yield from ((pair, outcome) for pair in bundle.pairs)
        return
    blamed = outcome.startswith(REFUSED)
    for pair in bundle.pairs:
        alone = prove(pair)
        blamed |= is_wrong(alone)
        yield pair, alone
    if not blamed:
        yield bundle.cases, outcome


def is_wrong(outcome: str) -> bool:
    return outcome != SAME and not outcome.startswith(REFUSED)


def axis_of(case: str) -> str:
    return case.split(".", maxsplit=1)[0]


def choice_of(case: str) -> str:
    """Without its variant."""
    return case.split(",", maxsplit=1)[0]


def _joined(cases: Cases, left: Iterable[Pair], wanted: Counter[str], joins: Joins) -> str | None:
    """The case that brings most pairs with it, if any does."""
    axes = {axis_of(case) for case in cases}
    gain = Counter(other for one, two in left for mine, other in ((one, two), (two, one))
                   if mine in cases and axis_of(other) not in axes)
    ranked = sorted(gain, key=lambda case: (-gain[case], -wanted[case]))
    return next((case for case in ranked if joins(cases, case)), None)


def _is_plain(pair: Pair) -> bool:
    return all(choice_of(case) == case for case in pair)


def _cases(pairs: Iterable[Pair]) -> list[str]:
    return list(dict.fromkeys(case for pair in pairs for case in pair))


def _take(left: dict[Pair, None], served: Iterable[Pair]) -> None:
    for pair in served:
        del left[pair]
