"""Upkeep now and then: one thing per cycle, the one that is due for the longest time."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from wattline.controller.upkeep import LATEST_S, Task, Upkeep, settled


def kept(done: list[str]) -> Upkeep:
    return Upkeep([Task(lambda: done.append("save"), 60.0, 0.0),
                   Task(lambda: done.append("collect"), 50.0, 0.0)],
                  lambda: done.append("-"))


def test_one_thing_is_done_at_a_time_and_the_latest_first() -> None:
    done: list[str] = []
    upkeep = kept(done)
    for now_s in (49.0, 61.0, 61.5, 62.0, 111.5, 121.5):
        upkeep(now_s, busy=False)
    assert done == ["-", "collect", "save", "-", "collect", "save"]


def test_a_cycle_that_has_done_enough_is_spared_for_a_while() -> None:
    done: list[str] = []
    upkeep = kept(done)
    for late_s in (0.0, LATEST_S - 0.1, LATEST_S):
        upkeep(50.0 + late_s, busy=True)
    assert done == ["-", "-", "collect"]


class Knot:
    """Garbage that only a search finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def often() -> Iterator[None]:
    """As Python searches by itself, where others have it search less."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("often")
def test_garbage_is_searched_for_by_the_upkeep_alone() -> None:
    before = gc.get_threshold()
    with settled():
        gc.collect(1)
        old = Knot()
        gone = weakref.ref(old)
        gc.collect(1)  # it is among what is old now
        del old
        for _ in range(20 * before[0] * before[1]):
            Knot()
        assert gone() is not None
        gc.collect()
        assert gone() is None
    assert gc.get_threshold() == before
