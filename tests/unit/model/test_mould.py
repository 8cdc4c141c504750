"""Bundles of a mould begin as its pattern was, and have nothing in common."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from wattline.model.kernel_arrays import KernelArrays, Mould
from wattline.model.kernel_code import described
from wattline.model.records import copied
from wattline.policies.memory import Memory, bound, memories

ROW = np.dtype([("time_s", "f8"), ("job", "i8")])


class Bundle(KernelArrays):
    FIELDS = ("rows", "flags", "numbers", "nothing")
    rows: Any
    flags: Any
    numbers: Any
    nothing: Any


class Remembered(Memory):
    FIELDS = ("level", "mark")
    PER_JOB = {"mark": "f8"}  # noqa: RUF012
    level: Any
    mark: Any


def pattern(rows: int = 3, filled: bool = True) -> Bundle:
    table = np.zeros(rows, ROW).view(np.recarray)
    if filled:
        table["time_s"] = np.arange(rows) + 0.5
    return Bundle(rows=table, flags=np.ones(5, dtype=np.int8), numbers=np.zeros(7),
                  nothing=np.zeros(0, ROW).view(np.recarray))


def held(bundle: KernelArrays) -> dict[str, bytes]:
    return {name: getattr(bundle, name).tobytes() for name in bundle.FIELDS}


@pytest.mark.parametrize("rows", [0, 1, 64])
@pytest.mark.parametrize("filled", [False, True])
def test_what_is_cast_is_what_the_pattern_was(rows: int, filled: bool) -> None:
    first = pattern(rows, filled)
    mould, before = Mould(first), held(first)
    first.numbers[:] = 9.0  # later changes are not its business
    made = mould.cast()
    assert held(made) == before
    for name in Bundle.FIELDS:
        ours, own = getattr(made, name), getattr(first, name)
        assert (type(ours), ours.dtype, ours.shape) == (type(own), own.dtype, own.shape)
        assert all((ours.flags.c_contiguous, ours.flags.aligned, ours.flags.writeable))
        assert getattr(made, name) is ours
    assert described(made) == described(pattern(rows, filled))


def test_kernels_are_told_where_the_arrays_lie() -> None:
    made = Mould(pattern()).cast()
    places = np.asarray(made._block).reshape(-1, 2)
    for (address, size), name in zip(places, Bundle.FIELDS, strict=True):
        array = getattr(made, name)
        assert size == array.size
        assert array.size == 0 or address == array.ctypes.data
    assert made._address == made._block.ctypes.data


@pytest.mark.parametrize("how", ["cast", "copy", "with_arrays"])
def test_bundles_are_written_apart(how: str) -> None:
    mould = Mould(pattern())
    one = mould.cast()
    one.rows["job"] = 4
    now = held(one)
    other = (mould.cast() if how == "cast" else one.copy() if how == "copy"
             else one.with_arrays(**{name: copied(getattr(one, name)) for name in one.FIELDS}))
    assert held(other) == (held(pattern()) if how == "cast" else now)
    other.rows["time_s"] = -1.0
    other.flags[:] = 3
    assert held(one) == now
    assert held(mould.cast()) == held(pattern())


def test_a_mould_of_what_was_cast_is_as_good() -> None:
    made = Mould(pattern()).cast()
    made.numbers[2] = 5.0
    assert held(Mould(made).cast()) == held(made)


def test_to_another_process_goes_what_it_holds() -> None:
    made = Mould(pattern()).cast()
    made.flags[1] = 7
    assert held(pickle.loads(pickle.dumps(made))) == held(made)


def test_what_it_does_not_have_is_said() -> None:
    for bundle in (pattern(), Mould(pattern()).cast()):
        with pytest.raises(AttributeError, match="has no 'columns'"):
            bundle.columns  # noqa: B018


@pytest.mark.parametrize("rows", [0, 4, 6])
def test_a_memory_keeps_its_ways_and_grows(rows: int) -> None:
    start = Remembered.start({"mark": lambda jobs, logged: 1.0}, level=np.arange(3.0))
    made = Mould(start.with_rows(4)).cast()
    policy = (made, 1)
    assert bound(policy, rows) == policy  # only those of named tuples are looked for
    grown = made.with_rows(rows)
    assert len(grown.mark) == max(4, rows)
    assert list(grown.find) == ["mark"]
    grown.level[:] = 0.0
    assert made.level.tolist() == [0.0, 1.0, 2.0]
    assert memories(made) == {"": made}
