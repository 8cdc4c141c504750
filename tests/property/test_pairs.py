"""One set of books: every choice of every axis, and every pair, decides the same in five ways."""

from __future__ import annotations

import pytest
from tests.support.plain_process import PlainProcess
from tests.support.proving import pairs

PARTS = 6
LONG = [pytest.param(part, part + seed, jobs, marks=pytest.mark.long)
        for part in range(PARTS) for seed, jobs in ((10, 24), (20, 24), (30, 24), (40, None))]


@pytest.mark.parametrize(("part", "seed", "jobs"),
                         [*((part, part + 1, None) for part in range(PARTS)), *LONG])
def test_every_pair_of_choices_decides_the_same_in_five_ways(
    plain: PlainProcess, part: int, seed: int, jobs: int | None
) -> None:
    """The loop, event by event, saved and loaded in the middle, copied, replayed: bit for bit.

    Pairs that are refused have a reason; the checker finds nothing in the others.
    """
    mine = pairs()[part::PARTS]
    found = plain.call("tests.support.proving", "proved", mine, seed, jobs)
    assert len(found) == len(mine)
    refused = {name: problems[1] for name, problems in found.items() if problems[:1] == ["refused"]}
    wrong = {name: problems for name, problems in found.items()
             if problems and name not in refused}
    assert wrong == {}
    assert all("\n" not in reason and len(reason) > 20 for reason in refused.values())
    assert len(found) - len(refused) > len(found) // 2
