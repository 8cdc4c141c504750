"""Whatever the books are told, they stay consistent and name what they refuse."""

from __future__ import annotations

import pytest
from tests.property.hostile_events import POLICIES
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
    found = plain.call("tests.property.hostile_events", "hostile", name, 12, 40)
    assert found["problems"] == []
    assert found["taken"] > 500
    assert found["refused"] > 300
    assert found["decisions"] > 50
    assert all(reason.strip() for reason in found["reasons"])
    assert len(found["reasons"]) > 10
