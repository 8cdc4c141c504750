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
        return type(self)(**{name: getattr(self, name).copy() for name in self.FIELDS})


def _unpacked(kind: type[KernelArrays], arrays: dict[str, Any]) -> KernelArrays:
    return kind(**arrays)


if not PLAIN:
    import hashlib

    from llvmlite import ir
    from numba import typeof
    from numba.core import cgutils, types
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import (
        NativeValue,
        infer_getattr,
        lower_getattr_generic,
        models,
        register_model,
        typeof_impl,
        unbox,
    )

    class KernelArraysType(types.Type):  # type: ignore[misc]
        """The numba type: a class of bundles with the types of its arrays."""

        def __init__(self, kind: str, fields: tuple[tuple[str, Any], ...]) -> None:
            self.fields = fields
            # A short name keeps the mangled names of kernels short, and compilation quick.
            digest = hashlib.sha256(repr(fields).encode()).hexdigest()[:12]
            super().__init__(name=f"{kind}_{digest}")

        def index(self, name: str) -> int:
            return [field for field, _ in self.fields].index(name)

        def array_type(self, name: str) -> Any:
            return dict(self.fields).get(name)

    # Finding the numba type of a record array takes as long as a small simulation.
    _known_types: dict[tuple[Any, ...], KernelArraysType] = {}

    @typeof_impl.register(KernelArrays)
    def _typeof_arrays(value: KernelArrays, context: Any) -> KernelArraysType:
        known = value.__dict__.get("_type")
        if known is None:
            arrays = [getattr(value, name) for name in value.FIELDS]
            key = (type(value), *((type(a), a.dtype, a.flags.writeable) for a in arrays))
            known = _known_types.get(key)
            if known is None:
                fields = tuple((n, typeof(a)) for n, a in zip(value.FIELDS, arrays, strict=True))
                known = _known_types[key] = KernelArraysType(type(value).__name__, fields)
            value.__dict__["_type"] = known
        assert isinstance(known, KernelArraysType)
        return known

    register_model(KernelArraysType)(models.OpaqueModel)

    @unbox(KernelArraysType)
    def _unbox_arrays(kind: KernelArraysType, value: Any, context: Any) -> Any:
        address = context.pyapi.object_getattr_string(value, "_address")
        number = context.pyapi.long_as_longlong(address)
        context.pyapi.decref(address)
        return NativeValue(context.builder.inttoptr(number, cgutils.voidptr_t))

    @infer_getattr
    class _ArraysAttribute(AttributeTemplate):  # type: ignore[misc]
        key = KernelArraysType

        def generic_resolve(self, kind: KernelArraysType, name: str) -> Any:
            return kind.array_type(name)

    @lower_getattr_generic(KernelArraysType)
    def _get_array(
        context: Any, builder: Any, kind: KernelArraysType, value: Any, name: str
    ) -> Any:
        array_type = kind.array_type(name)
        word = ir.IntType(64)
        words = builder.bitcast(value, word.as_pointer())
        first = 2 * kind.index(name)
        address = _load(builder, words, first)
        count = _load(builder, words, first + 1)
        array = context.make_array(array_type)(context, builder)
        size = context.get_abi_sizeof(context.get_data_type(array_type.dtype))
        itemsize = ir.Constant(word, size)
        array.meminfo = ir.Constant(array.meminfo.type, None)
        array.parent = ir.Constant(array.parent.type, None)
        array.nitems = count
        array.itemsize = itemsize
        array.data = builder.inttoptr(address, array.data.type)
        array.shape = cgutils.pack_array(builder, [count])
        array.strides = cgutils.pack_array(builder, [itemsize])
        return array._getvalue()

    def _load(builder: Any, words: Any, index: int) -> Any:
        """A load that the optimiser may hoist: the block never changes while a kernel runs."""
        loaded = builder.load(builder.gep(words, [ir.Constant(ir.IntType(32), index)]))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded
