"""Whatever the books are told, they stay consistent and name what they refuse."""

from __future__ import annotations

import pytest
from tests.property.hostile_events import POLICIES
from tests.support.examples import TIMES
from tests.support.plain_process import PlainProcess


@pytest.fixture(scope="module")
def plain():
    process = PlainProcess()
    yield process
    process.close()


@pytest.mark.parametrize("name", POLICIES)
def test_books_stay_consistent_under_any_events(plain: PlainProcess, name: str) -> None:
    """Units, queue, power and nodes add up after every step, loading goes on from there as without
    it, the journal that they wrote replays to the same decisions, and no job is left that could
    start."""
    seeds = 1 if TIMES == 1 else 3 * TIMES
    found = plain.call("tests.property.hostile_events", "hostile", name, seeds, 40)
    assert found["problems"] == []
    assert found["taken"] > 40 * seeds
    assert found["refused"] > 25 * seeds
    assert found["decisions"] > 4 * seeds
    assert all(reason.strip() for reason in found["reasons"])
    assert len(found["reasons"]) > 10
