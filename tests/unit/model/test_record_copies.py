"""Records are copied in one piece, and come out as numpy's own copies do."""

from __future__ import annotations

import numpy as np
import pytest

from wattline.model.plain_rows import quick_rows
from wattline.model.records import Record, copied, fill_with


class Pair(Record):
    """A record of two."""

    first: int
    second: float


@pytest.mark.parametrize("count", [0, 1, 7])
@pytest.mark.parametrize("quick", [False, True])
def test_a_copy_is_equal_of_the_same_type_and_of_its_own(count: int, quick: bool) -> None:
    rows = quick_rows(Pair.table(count)) if quick else Pair.table(count)
    rows.first = np.arange(count)
    rows.second = np.nan
    other = copied(rows)
    assert type(other) is type(rows)
    assert other.dtype == rows.dtype
    assert other.tobytes() == rows.tobytes()
    other.first = -1
    assert rows.first.tolist() == list(range(count))


def test_plain_numbers_are_copied_as_ever() -> None:
    numbers = np.arange(5)
    other = copied(numbers)
    other[0] = 9
    assert numbers.tolist() == [0, 1, 2, 3, 4]


def test_all_records_become_what_one_is_and_no_others() -> None:
    rows, one = Pair.table(5), Pair.table(1)
    rows.first, one.first, one.second = 7, 3, -np.inf
    fill_with(np.asarray(rows)[1:4], np.asarray(one))
    assert rows.first.tolist() == [7, 3, 3, 3, 7]
    assert rows.second.tolist() == [0.0, -np.inf, -np.inf, -np.inf, 0.0]
    fill_with(np.asarray(rows)[:0], np.asarray(one))
