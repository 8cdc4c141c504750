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
        self._sizes: dict[str, int] = {}
        # A short name keeps the mangled names of kernels short, and compilation quick.
        digest = hashlib.sha256(repr(fields).encode()).hexdigest()[:12]
        super().__init__(name=f"{kind}_{digest}")

    def index(self, name: str) -> int:
        return [field for field, _ in self.fields].index(name)

    def array_type(self, name: str) -> Any:
        return dict(self.fields).get(name)

    def itemsize(self, context: Any, name: str) -> int:
        """The bytes of an entry; to ask LLVM takes as long as all else about an array."""
        if name not in self._sizes:
            entry = context.get_data_type(self.array_type(name).dtype)
            self._sizes[name] = context.get_abi_sizeof(entry)
        return self._sizes[name]


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
    """A value of numba's for the array, with neither owner nor parent: its fields put together.

    numba's own way (`make_array`) takes memory, stores each field and loads the whole; it is so
    frequent in kernels that they would take a twentieth longer to compile.
    """
    array_type = kind.array_type(name)
    place_of = context.data_model_manager[array_type].get_field_position
    word = ir.IntType(64)
    words = builder.bitcast(value, word.as_pointer())
    first = 2 * kind.index(name)
    address, count = _load(builder, words, first), _load(builder, words, first + 1)
    itemsize = ir.Constant(word, kind.itemsize(context, name))
    made = ir.Constant(context.get_value_type(array_type), None)  # all of it is zero
    data_type = made.type.elements[place_of("data")]
    for place, given in (
        (place_of("data"), builder.inttoptr(address, data_type)),
        (place_of("nitems"), count), ([place_of("shape"), 0], count),
        (place_of("itemsize"), itemsize), ([place_of("strides"), 0], itemsize),
    ):
        made = builder.insert_value(made, given, place)
    return made


def _load(builder: Any, words: Any, index: int) -> Any:
    """A load that the optimiser may hoist: the block never changes while a kernel runs."""
    loaded = builder.load(builder.gep(words, [ir.Constant(ir.IntType(32), index)]))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded
