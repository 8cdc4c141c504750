"""A bundle of one-dimensional arrays that kernels take as one pointer.

numba passes a tuple of arrays by value: with twenty arrays, a hundred and forty words at every
call, and as many to compile. A `KernelArrays` object is passed as the address of a small block that
holds where each array lies and how long it is. In kernels `arrays.name` is the array, as in Python.

The arrays of one object never move or change their length; to grow one, make a new object with
`with_arrays`. Kernels must not allocate (they are compiled without reference counts).
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from wattline.model.kernel import PLAIN
from wattline.model.plain_rows import quick_rows
from wattline.model.records import copied


class KernelArrays:
    """Subclass it with `FIELDS`, the names of its arrays; give all of them to the constructor."""

    FIELDS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **arrays: Any) -> None:
        if set(arrays) != set(self.FIELDS):
            raise TypeError(f"{type(self).__name__} needs the arrays {', '.join(self.FIELDS)}")
        if PLAIN:
            arrays = {name: quick_rows(array) for name, array in arrays.items()}
        self.__dict__.update(arrays)
        block = np.empty(2 * len(self.FIELDS), dtype=np.int64)
        for index, name in enumerate(self.FIELDS):
            array = arrays[name]
            if array.ndim != 1 or not array.flags.c_contiguous:
                raise TypeError(f"'{name}' must be a contiguous array of one dimension")
            block[2 * index] = array.ctypes.data
            block[2 * index + 1] = array.size
        self._block = block
        self._address = int(block.ctypes.data)

    def with_arrays(self, **arrays: Any) -> Self:
        """The same bundle with some arrays replaced."""
        return type(self)(**{name: getattr(self, name) for name in self.FIELDS} | arrays)

    def __reduce__(self) -> Any:
        """To another process goes what the arrays hold, not where they lie."""
        return _unpacked, (type(self), {name: getattr(self, name) for name in self.FIELDS})

    def copy(self) -> Self:
        """A bundle of its own, which can be written without touching these."""
        return type(self)(**{name: copied(getattr(self, name)) for name in self.FIELDS})


def _unpacked(kind: type[KernelArrays], arrays: dict[str, Any]) -> KernelArrays:
    return kind(**arrays)
