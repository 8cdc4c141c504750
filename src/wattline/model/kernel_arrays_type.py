"""What `KernelArrays` are to numba: one pointer, and in kernels the arrays by their names."""

from __future__ import annotations

import hashlib
from typing import Any

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

from wattline.model.kernel_arrays import KernelArrays


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
    known = value.__dict__["_types"].get("numba")
    if known is None:
        arrays = [getattr(value, name) for name in value.FIELDS]
        key = (type(value), *((type(a), a.dtype, a.flags.writeable) for a in arrays))
        known = _known_types.get(key)
        if known is None:
            fields = tuple((n, typeof(a)) for n, a in zip(value.FIELDS, arrays, strict=True))
            known = _known_types[key] = KernelArraysType(type(value).__name__, fields)
        value.__dict__["_types"]["numba"] = known
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
