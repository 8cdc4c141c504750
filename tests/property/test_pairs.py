"""One set of books: every choice of every axis, and every pair, decides the same in five ways."""

from __future__ import annotations

import pytest
from tests.support.composed import bundles
from tests.support.packing import REFUSED, is_wrong
from tests.support.plain_process import PlainProcess
from tests.support.proving import pairs

PARTS = 6
NOW = (3, 8)
"""The fourth of eight parts is tried before every commit: it has every choice, and an eighth of the
pairs. `make test-long` tries all of them, with more jobs."""
ALONE = [(part, part + seed, jobs) for part in range(PARTS)
         for seed, jobs in ((1, None), (10, 24), (20, 24), (30, 24), (40, None))]


@pytest.mark.parametrize(("part", "parts", "many"), [
    (*NOW, False),
    *(pytest.param(part, PARTS, True, marks=pytest.mark.long) for part in range(PARTS))])
def test_every_pair_is_in_a_composition_that_decides_the_same_in_five_ways(
    plain: PlainProcess, part: int, parts: int, many: bool
) -> None:
    """The loop, event by event, saved and loaded in the middle, copied, replayed: bit for bit.

    Pairs that are refused have a reason; the checker finds nothing in the others.
    """
    mine = bundles()[part::parts]
    found = plain.call("tests.support.proving", "proved_together", mine, part + 1, many)
    assert {" with ".join(pair) for bundle in mine for pair in bundle.pairs} <= set(found)
    assert {name: said for name, said in found.items() if is_wrong(said)} == {}
    reasons = [said for said in found.values() if said.startswith(REFUSED)]
    assert all("\n" not in reason and len(reason) > 30 for reason in reasons)
    assert len(reasons) < len(found) / 2


def test_the_part_before_a_commit_has_every_choice() -> None:
    part, parts = NOW
    now = [pair for bundle in bundles()[part::parts] for pair in bundle.pairs]
    assert {case for pair in now for case in pair} == {case for pair in pairs() for case in pair}
    assert 9 * len(now) > len(pairs())


def test_every_pair_is_proved_once_and_few_of_them_by_themselves() -> None:
    made = bundles()
    assert sorted(pair for bundle in made for pair in bundle.pairs) == sorted(pairs())
    # Those that are refused. Are there many more, `tests.support.composed` finds compositions anew.
    assert sum(len(bundle.cases) == 2 for bundle in made) < 300
    assert len(made) < 500


@pytest.mark.long
@pytest.mark.parametrize(("part", "seed", "jobs"), ALONE)
def test_every_pair_by_itself_decides_the_same_in_five_ways(
    plain: PlainProcess, part: int, seed: int, jobs: int | None
) -> None:
    mine = pairs()[part::PARTS]
    found = plain.call("tests.support.proving", "proved", mine, seed, jobs)
    assert len(found) == len(mine)
    refused = {name: problems[1] for name, problems in found.items() if problems[:1] == ["refused"]}
    wrong = {name: problems for name, problems in found.items()
             if problems and name not in refused}
    assert wrong == {}
    assert all("\n" not in reason and len(reason) > 20 for reason in refused.values())
    assert len(found) - len(refused) > len(found) // 2
