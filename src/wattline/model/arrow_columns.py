"""Arrays to Arrow's columns and back, through their buffers.

Nothing is copied, and pyarrow does not import pandas, which its own `pa.array` and `to_numpy` do
and which costs more than a short simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa


def column_of(values: npt.NDArray[Any]) -> pa.Array:
    """An array of numbers as a column without gaps, of floats or of whole numbers."""
    import pyarrow as pa

    kind = pa.float64() if values.dtype.kind == "f" else pa.int64()
    wanted = np.float64 if values.dtype.kind == "f" else np.int64
    buffer = pa.py_buffer(np.ascontiguousarray(values, dtype=wanted))
    return pa.Array.from_buffers(kind, len(values), [None, buffer])


def texts_column(texts: Sequence[str]) -> pa.Array:
    """Texts as a column."""
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int32)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def values_of(column: pa.Array, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """The numbers of a column in one piece, which has no gaps and is of that type."""
    if not len(column):
        return np.zeros(0, dtype)
    whole: npt.NDArray[Any] = np.frombuffer(column.buffers()[1], dtype=dtype)
    return whole[column.offset : column.offset + len(column)]
