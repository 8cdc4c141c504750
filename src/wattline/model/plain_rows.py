"""Arrays of records whose fields Python reads quickly.

numpy's own (`np.recarray`) find a field with functions written in Python, which is most of the time
of a kernel that runs as plain Python. Here a field of a record is a property that numpy's compiled
code answers, and a record is fetched by numpy's compiled indexing. Values, types and errors are
those of numpy's own.
"""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np


class Rows(np.ndarray[Any, Any]):
    """An array of records; `rows.name` is a column, `rows[3].name` a field."""

    def __getattr__(self, name: str) -> Any:
        """Only asked for what an array does not have."""
        if name not in (self.dtype.names or ()):
            raise AttributeError(f"record array has no attribute {name}")
        return np.ndarray.__getitem__(self, name).view(np.ndarray)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in (self.dtype.names or ()):
            np.ndarray.__setitem__(self, name, value)
        else:
            super().__setattr__(name, value)

    def __reduce__(self) -> Any:
        """Another process gets an array of numpy's: it may be one that compiles."""
        return as_numpy(self).__reduce__()


def quick_rows(array: Any) -> Any:
    """The same memory, seen so that fields are quick to read; other arrays as they are."""
    if array.dtype.names is None or isinstance(array, Rows):
        return array
    return array.view(np.ndarray).view(_quick(array.dtype)).view(Rows)


def as_numpy(rows: Any) -> Any:
    """The same memory as numpy's own array of records."""
    plain = np.dtype((np.record, np.dtype(rows.dtype.descr)))
    return rows.view(np.ndarray).view(plain).view(np.recarray)


@cache
def _quick(kind: np.dtype[Any]) -> np.dtype[Any]:
    """The type of these records, each of which is an object with a property for each field."""
    fields = {name: _field(name) for name in kind.names or () if not hasattr(np.void, name)}
    row = type("Row", (np.void,), {"__slots__": (), **fields})
    return np.dtype((row, kind))


def _field(name: str) -> property:
    def put(row: Any, value: Any) -> None:
        row[name] = value

    return property(itemgetter(name), put)
