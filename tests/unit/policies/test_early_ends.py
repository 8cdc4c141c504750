"""Conservative backfilling after an early end: only what can move is looked at."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.workloads import compose

from wattline.books import Books, Ended, Submitted
from wattline.model.kernel import PLAIN
from wattline.model.machine import Machine
from wattline.policies.backfill import conservative
from wattline.policies.backfill.conservative import Conservative


def opened(pending: int) -> Books:
    books = Books.open(Machine.uniform(8), compose(backfill=Conservative()))
    books.step(0.0, [Submitted(name, 2, 100.0) for name in "abcd"])
    books.step(1.0, [Submitted(f"w{number}", 7, 50.0) for number in range(pending)])
    return books


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[tuple[Any, ...]]:
    calls: list[tuple[Any, ...]] = []
    real = getattr(conservative, name)

    def counting(*arguments: Any) -> Any:
        calls.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(conservative, name, counting)
    return calls


@pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")
@pytest.mark.parametrize("pending", [5, 40])
def test_reservations_that_nothing_came_back_for_are_left_as_they_are(
        monkeypatch: pytest.MonkeyPatch, pending: int) -> None:
    """Two units of eight come back for 90 s; whoever waits needs seven."""
    books = opened(pending)
    changed = counted(monkeypatch, "add_to_profile")
    looked = counted(monkeypatch, "take_earlier")
    decisions = books.step(10.0, [Ended("a")])
    assert (len(decisions), len(changed), len(looked)) == (0, 1, 0)


def test_a_job_that_moves_lets_those_behind_it_move_as_well() -> None:
    """All units come back at 10: w0 starts, each of the others moves up by 90 s."""
    books = opened(4)
    clock = books.state.clock[0]

    def starts() -> list[float]:
        return list(books.state.queue.key[clock.queue_first : clock.queue_last].tolist())

    before = starts()
    decisions = books.step(10.0, [Ended(name) for name in "abcd"])
    assert before == [100.0, 150.0, 200.0, 250.0]
    assert decisions[0].job == "w0"
    assert starts() == [60.0, 110.0, 160.0]


def test_room_that_a_moved_job_leaves_is_found_by_one_behind_it() -> None:
    """b moves from 100 into the gap of what ended, and c, which is short, into the place of b."""
    books = Books.open(Machine.uniform(4), compose(backfill=Conservative()))
    books.step(0.0, [Submitted("gone", 2, 50.0), Submitted("long", 2, 100.0)])
    books.step(1.0, [Submitted("b", 4, 10.0), Submitted("c", 4, 10.0), Submitted("d", 3, 5.0)])
    clock = books.state.clock[0]

    def plan() -> list[tuple[Any, float]]:
        entries = books.state.queue[clock.queue_first : clock.queue_last]
        return [(books.roll.key(int(entry.job)), float(entry.key)) for entry in entries]

    assert plan() == [("b", 100.0), ("c", 110.0), ("d", 120.0)]
    books.step(20.0, [Ended("long")])
    assert plan() == [("b", 50.0), ("c", 60.0), ("d", 70.0)]
