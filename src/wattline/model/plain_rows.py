"""Arrays of records whose fields Python reads and writes quickly.

numpy makes an object of every record that is asked for, and of every field that is read or written
an array; that was most of the time of a kernel that runs as plain Python. Here a record is a handle
that is made once, and its fields are entries of columns. Values, types and errors are those of
numpy's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np


class Row:
    """A record where it lies: its columns, all records as numpy has them behind those, and its
    place among them. The type of a table's rows has a property for each field."""

    __slots__ = ("_columns", "_place")

    def __init__(self, columns: tuple[Any, ...], place: int) -> None:
        self._columns = columns
        self._place = place

    def record(self) -> Any:
        """The same as numpy's own."""
        return self._columns[-1][self._place]

    def __getattr__(self, name: str) -> Any:
        """Only asked for what is no field; numpy asks with `__array__` for a record."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.record(), name)

    def __getitem__(self, name: Any) -> Any:
        return self.record()[name]

    def __setitem__(self, name: Any, value: Any) -> None:
        self.record()[name] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.record())

    def __len__(self) -> int:
        return len(self.record())

    def __eq__(self, other: object) -> Any:
        return self.record() == (other.record() if isinstance(other, Row) else other)

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.record(), dtype=dtype)

    def __repr__(self) -> str:
        return repr(self.record())


class Rows(np.ndarray[Any, Any]):
    """An array of records; `rows.name` is a column, `rows[3].name` a field."""

    _known: dict[int, Row] | None = None
    """The rows that were asked for, by their places."""

    def __getitem__(self, place: Any) -> Any:
        try:
            return self._known[place]  # type: ignore[index]
        except (KeyError, TypeError):  # not known yet, or no single row
            return self._found(place)

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, value.record() if isinstance(value, Row) else value)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __getattr__(self, name: str) -> Any:
        """Only asked for what an array does not have, and as a rule once for each column."""
        if name not in (self.dtype.names or ()):
            raise AttributeError(f"record array has no attribute {name}")
        column = self.view(np.ndarray)[name]
        if self._may_keep():
            self.__dict__[name] = column
        return column

    def __setattr__(self, name: str, value: Any) -> None:
        if name in (self.dtype.names or ()):
            super().__setitem__(name, value)
        else:
            super().__setattr__(name, value)

    def __reduce__(self) -> Any:
        """Another process gets an array of numpy's: it may be one that compiles."""
        return as_numpy(self).__reduce__()

    def _found(self, place: Any) -> Any:
        found = super().__getitem__(place)
        if not isinstance(found, np.void):
            return found
        if self._known is None:
            whole = self.view(np.ndarray)
            columns = (*(whole[name] for name in whole.dtype.names or ()), whole)
            if not self._may_keep():
                return _row_type(self.dtype)(columns, place)
            self.__dict__.update(_known={}, _columns=columns)
        row = _row_type(self.dtype)(self._columns, place)
        if isinstance(place, int | np.integer):
            self._known[int(place)] = row  # type: ignore[index]
        return row

    def _may_keep(self) -> bool:
        """Whether a view of its memory holds on to that memory's owner, and not to these rows: an
        array that is held by what it holds itself is never given back."""
        return type(self.base) is np.ndarray


def quick_rows(array: Any) -> Any:
    """The same memory, seen so that fields are quick to read; other arrays as they are."""
    if array.dtype.names is None or (isinstance(array, Rows) and array._may_keep()):
        return array
    return array.view(np.ndarray).view(np.dtype((np.void, array.dtype))).view(Rows)


def as_numpy(rows: Any) -> Any:
    """The same memory as numpy's own array of records."""
    plain = np.dtype((np.record, np.dtype(rows.dtype.descr)))
    return rows.view(np.ndarray).view(plain).view(np.recarray)


@cache
def _row_type(kind: np.dtype[Any]) -> type[Row]:
    """The handles of these records, with a property for each field."""
    fields = {name: _field(number) for number, name in enumerate(kind.names or ())
              if not hasattr(np.void, name)}
    return type("Row", (Row,), {"__slots__": (), **fields})


def _field(number: int) -> property:
    def get(row: Any) -> Any:
        return row._columns[number][row._place]

    def put(row: Any, value: Any) -> None:
        row._columns[number][row._place] = value

    return property(get, put)
