"""Arrays of records for kernels: declared once, as a class that both numpy and mypy read.

`class Timer(Record): time_s: float; job: int` declares the fields; `Timer.table(10)` is an array of
ten such records. In kernels and in Python `timers[3].time_s` is a field and `timers.time_s` the
column. All numbers are 64 bits wide: a kernel is compiled once for each width of its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, Self, TypeVar, overload

import numpy as np

R_co = TypeVar("R_co", covariant=True)
KINDS = {"float": "f8", "int": "i8"}


class Table(Protocol[R_co]):
    """An array of records."""

    size: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @overload
    def __getitem__(self, place: int, /) -> R_co: ...
    @overload
    def __getitem__(self, place: Any, /) -> Any: ...
    def __setitem__(self, place: Any, value: Any, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[R_co]: ...
    def __getattr__(self, name: str, /) -> Any: ...
    def __setattr__(self, name: str, value: Any, /) -> None: ...


class Record:
    """Subclass it with its fields, each a float or an int."""

    @classmethod
    def record_type(cls) -> np.dtype[Any]:
        return np.dtype([(name, KINDS[kind]) for name, kind in cls.__annotations__.items()])

    @classmethod
    def table(cls, count: int) -> Table[Self]:
        """An array of so many records, all fields zero."""
        made: Any = np.zeros(count, dtype=_row_type(cls)).view(np.recarray)
        return made  # type: ignore[no-any-return]


_ROW_TYPES: dict[type[Record], np.dtype[Any]] = {}


def _row_type(kind: type[Record]) -> np.dtype[Any]:
    """The type that numpy's arrays of records have, made once: numpy would make it at each view."""
    if kind not in _ROW_TYPES:
        _ROW_TYPES[kind] = np.dtype((np.record, kind.record_type()))
    return _ROW_TYPES[kind]


def as_bytes(array: Any) -> Any:
    """The same memory as bytes, which numpy copies at once; records it copies field by field."""
    return array.view(np.ndarray).view(np.uint8)


def copied(array: Any) -> Any:
    """A copy of an array in one piece, of records or of numbers."""
    if array.dtype.names is None:
        return array.copy()
    return as_bytes(array).copy().view(array.dtype).view(type(array))


def fill_with(rows: Any, row: Any) -> None:
    """Make all records what one is, which is an array of one."""
    as_bytes(rows).reshape(len(rows), rows.dtype.itemsize)[:] = as_bytes(row)
