"""Places in arrays as kernels of the simulation give them: none is counted from the end.

numba lets a negative number count from the end of an array, as Python does, and asks at each access
whether it is one. The kernels of the rooms below know their places. What is written down as a
number (`array[-1]`) still counts from the end, and all other kernels are compiled as numba does.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.np import arrayobj

OWN = tuple(f"_ZN8wattline{len(room)}{room}" for room in ("books", "engine", "policies"))
"""How numba's names for functions of these rooms begin."""

_counted_from_either_end = getattr(arrayobj, "fix_integer_index", None)
"""None of a numba that does it elsewhere: kernels are then compiled as it does."""


def _place(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    assert _counted_from_either_end is not None
    if isinstance(index, ir.Constant) or not builder.function.name.startswith(OWN):
        return _counted_from_either_end(context, builder, kind, index, size)
    return context.cast(builder, index, kind, types.intp)


if _counted_from_either_end is not None:
    arrayobj.fix_integer_index = _place
