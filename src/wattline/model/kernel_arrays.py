"""A bundle of one-dimensional arrays that kernels take as one pointer.

numba passes a tuple of arrays by value: with twenty arrays, a hundred and forty words at every
call, and as many to compile. A `KernelArrays` object is passed as the address of a small block that
holds where each array lies and how long it is. In kernels `arrays.name` is the array, as in Python.

The arrays of one object never move or change their length; to grow one, make a new object with
`with_arrays`. Kernels must not allocate (they are compiled without reference counts).

Runs that begin alike take their bundles from a `Mould`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from wattline.model.kernel import PLAIN
from wattline.model.plain_rows import quick_rows
from wattline.model.records import as_bytes, copied

ALIGNED_BYTES = 64
"""Arrays that share a block of memory begin at multiples of this: a line of the cache."""


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
        self._types: dict[str, Any] = {}
        """What callers of kernels found out about its types; bundles of one mould share it."""

    def __getattr__(self, name: str) -> Any:
        """An array that nobody has asked for yet."""
        mould: Mould[Any] | None = self.__dict__.get("_mould")
        if mould is None or name not in self.FIELDS:
            raise AttributeError(f"{type(self).__name__} has no '{name}'")
        found = self.__dict__[name] = mould.array(self.__dict__["_memory"], name)
        return found

    def with_arrays(self, **arrays: Any) -> Self:
        """The same bundle with some arrays replaced."""
        return type(self)(**{name: getattr(self, name) for name in self.FIELDS} | arrays)

    def __reduce__(self) -> Any:
        """To another process goes what the arrays hold, not where they lie."""
        return _unpacked, (type(self), {name: getattr(self, name) for name in self.FIELDS})

    def copy(self) -> Self:
        """A bundle of its own, which can be written without touching these."""
        mould: Mould[Self] | None = self.__dict__.get("_mould")
        if mould is not None:
            return mould.copied(self)
        return type(self)(**{name: copied(getattr(self, name)) for name in self.FIELDS})


Bundle = TypeVar("Bundle", bound=KernelArrays)


class Mould(Generic[Bundle]):
    """Makes bundles that begin as a pattern does, each in one block of memory and with one copy.

    Kernels go by addresses, so numpy's objects for the arrays are only made of those that Python
    asks for: to make all of them takes longer than to fill them.
    """

    def __init__(self, pattern: Bundle) -> None:
        self._kind = type(pattern)
        own = {*pattern.FIELDS, "_block", "_address", "_mould", "_memory"}
        self._beside = {name: value for name, value in vars(pattern).items() if name not in own}
        arrays = {name: getattr(pattern, name) for name in pattern.FIELDS}
        self._shapes = {name: (type(a), a.dtype, a.size) for name, a in arrays.items()}
        # What is all zeros lies at the end, where there is nothing to copy.
        filled = {name: bool(as_bytes(array).any()) for name, array in arrays.items()}
        self._offsets: dict[str, int] = {}
        end = filled_end = 0
        for name in sorted(arrays, key=lambda name: not filled[name]):
            self._offsets[name] = end
            end += -(-arrays[name].nbytes // ALIGNED_BYTES) * ALIGNED_BYTES
            filled_end = end if filled[name] else filled_end
        self._bytes = end
        self._head = np.zeros(filled_end, dtype=np.uint8)
        for name in (name for name in arrays if filled[name]):
            first = self._offsets[name]
            self._head[first : first + arrays[name].nbytes] = as_bytes(arrays[name])
        self._places = np.array([[self._offsets[name], arrays[name].size] for name in arrays],
                                dtype=np.int64).reshape(-1, 2)

    def cast(self) -> Bundle:
        """A new bundle that holds what the pattern held."""
        memory = np.zeros(self._bytes, dtype=np.uint8)
        memory[: self._head.size] = self._head
        return self._over(memory)

    def copied(self, bundle: Bundle) -> Bundle:
        """A copy of a bundle that was made here."""
        return self._over(vars(bundle)["_memory"].copy())

    def rows(self, name: str) -> int:
        """The length of an array."""
        return int(self._shapes[name][2])

    def array(self, memory: Any, name: str) -> Any:
        """An array of a bundle in this block."""
        kind, dtype, size = self._shapes[name]
        return np.ndarray.__new__(kind, (size,), dtype, memory, self._offsets[name])

    def _over(self, memory: Any) -> Bundle:
        block = self._places.copy()
        block[:, 0] += memory.ctypes.data
        made = object.__new__(self._kind)
        vars(made).update(self._beside, _mould=self, _memory=memory, _block=block,
                          _address=int(block.ctypes.data))
        return made


def _unpacked(kind: type[KernelArrays], arrays: dict[str, Any]) -> KernelArrays:
    return kind(**arrays)
