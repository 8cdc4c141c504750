"""Readings that have come, and those that are missing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wattline.live.transport.gaps import ASK_EVERY_S, Gaps
from wattline.live.transport.messages import Batch


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60))
def test_each_reading_is_taken_once_in_whichever_order_they_come(numbers):
    gaps = Gaps()
    taken = [number for number in numbers if gaps.take(number)]
    assert sorted(taken) == sorted({each for each in numbers if each >= numbers[0]})
    missing = {n for first, last in gaps.missing for n in range(first, last + 1)}
    assert missing == set(range(numbers[0], max(numbers) + 1)) - set(taken)


def test_a_gap_is_asked_for_until_it_is_filled_and_not_too_often():
    gaps = Gaps()
    assert [gaps.take(number) for number in (1, 5, 9)] == [True] * 3
    assert gaps.to_ask(10.0) == (2, 4)
    assert gaps.to_ask(10.0 + ASK_EVERY_S / 2) is None
    assert gaps.to_ask(10.0 + ASK_EVERY_S) == (2, 4)
    assert [gaps.take(number) for number in (2, 3, 4)] == [True] * 3
    assert gaps.to_ask(10.1 + ASK_EVERY_S) == (6, 8)


def test_what_a_node_no_longer_has_is_counted_as_lost_once():
    gaps = Gaps()
    gaps.take(1)
    gaps.take(10)
    gaps.forget(Batch(1, 6, []))
    gaps.forget(Batch(1, 6, []))
    assert gaps.missing == [(6, 9)]
    assert gaps.lost == 4
    gaps.forget(Batch(1, 20, []))
    assert (gaps.missing, gaps.lost) == ([], 8)


def test_of_a_life_that_is_new_as_many_are_asked_for_as_was_said():
    gaps = Gaps(back=3)
    assert gaps.take(10)
    assert gaps.missing == [(7, 9)]
    gaps.begin(5)
    assert gaps.take(2)
    assert gaps.missing == [(1, 1)]
    near = Gaps(back=3)
    assert near.take(1)
    assert near.missing == []


def test_what_was_missing_of_an_earlier_life_is_lost() -> None:
    """Of the readings 1 and 5, the three between."""
    gaps = Gaps()
    gaps.take(1)
    gaps.take(5)
    gaps.begin(2)
    assert (gaps.life, gaps.missing, gaps.lost) == (2, [], 3)
