"""A record that is asked for before it is used: a hint, which changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from wattline.model.kernel import PLAIN, kernel
from wattline.model.kernel_arrays import KernelArrays
from wattline.model.kernel_fetch import fetch_soon

SIZES = (8, 64, 104, 248)


class Rows(KernelArrays):
    FIELDS = ("rows",)


@kernel
def ask_for(arrays, row):
    fetch_soon(arrays.rows, row)
    return arrays.rows.size


def rows_of(size: int, count: int) -> np.recarray:
    rows = np.zeros(count, np.dtype([(f"f{place}", "i8") for place in range(size // 8)]))
    rows.view(np.int64)[:] = np.arange(count * size // 8)
    return rows.view(np.recarray)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("row", [0, 3, 6, 7, -1, 10**12])
def test_no_row_is_changed_and_none_need_be_there(size, row):
    arrays = Rows(rows=rows_of(size, 7))
    before = arrays.rows.tobytes()
    assert ask_for(arrays, row) == 7
    assert arrays.rows.tobytes() == before


@pytest.mark.skipif(PLAIN, reason="plain Python gives no hints")
@pytest.mark.parametrize("size", SIZES)
def test_each_line_that_a_record_may_lie_in_is_asked_for(size):
    arrays = Rows(rows=rows_of(size, 7))
    ask_for(arrays, 0)
    made = ask_for.dispatcher
    code = made.inspect_llvm(next(
        kinds for kinds in made.overloads if kinds[0] is made.typeof_pyval(arrays)))
    lines = (size - 8) // 64 + 2  # where it begins at the end of a line
    assert code.count("call void @llvm.prefetch") >= min(lines, size // 8)
