"""Paths that several tests ask for are found once, and nobody can spoil those of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.support.shared_paths import MOST_PAIRS, once


def test_equal_questions_are_answered_once_and_each_has_a_copy() -> None:
    asked: list[int] = []

    def find(wiring: Any, source: Any, target: Any, *counts: int) -> tuple[Any, ...]:
        asked.append(len(source))
        return (wiring[0] + source + target + sum(counts),)

    shared = once(find)
    one, two = np.array([1, 2]), np.array([3, 4])
    first, = shared((one.copy(),), one, two, 4, 15)
    first[:] = -1
    again, = shared((one.copy(),), one, two, 4, 15)
    assert again.tolist() == [24, 27]
    other, = shared((one.copy(),), one, two, 4, 0)
    assert other.tolist() == [9, 12]
    assert asked == [2, 2]
    large = np.zeros(MOST_PAIRS + 1)
    for _ in range(2):
        shared((large,), large, large)
    assert asked[2:] == [MOST_PAIRS + 1] * 2
