"""What `fetch_soon` is to numba: a hint for each line of the cache that a record lies in."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

from wattline.model.kernel_fetch import fetch_soon

LINE_BYTES = 64
TO_READ, STAYS, DATA = 0, 3, 1
"""What LLVM's hint is told: what for, how long it will be of use, and that it is no code."""


@type_callable(fetch_soon)  # type: ignore[untyped-decorator]
def _type_fetch(context: Any) -> Any:
    def typed(records: Any, row: Any) -> Any:
        fits = isinstance(records, types.Array) and isinstance(row, types.Integer)
        return types.none if fits else None

    return typed


@lower_builtin(fetch_soon, types.Array, types.Integer)  # type: ignore[untyped-decorator]
def _fetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, row_kind = signature.args
    array = context.make_array(kind)(context, builder, arguments[0])
    word, number = ir.IntType(64), ir.IntType(32)
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    row = context.cast(builder, arguments[1], row_kind, types.int64)
    first = builder.add(builder.ptrtoint(array.data, word),
                        builder.mul(row, ir.Constant(word, size)))
    told = [ir.Constant(number, each) for each in (TO_READ, STAYS, DATA)]
    hint = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number]),
        "llvm.prefetch.p0")
    # A record may begin anywhere in a line, so its last byte may lie in one more.
    for offset in (*range(0, size, LINE_BYTES), size - 1):
        place = builder.add(first, ir.Constant(word, offset))
        builder.call(hint, [builder.inttoptr(place, cgutils.voidptr_t), *told])
    return context.get_dummy_value()
