"""Samples of one meter and day as a few bytes each, and back to the last bit.

Times are whole microseconds. Most meters report at an even pace and with few digits: an even pace
is told by its first time and step, and values that are whole in tenths, hundredths... are kept as
whole numbers. What remains are small differences, which compress well; anything else is kept as
it is. An empty sample is NaN.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import WattlineError
from wattline.model.signal import FloatArray

IntArray = npt.NDArray[np.int64]
VERSION = 1
SCALES = (1.0, 10.0, 100.0, 1000.0, 1e6)
_AS_IT_IS = 255
_EXACT = 2.0**53
# Version, scale, bytes per difference of times and of values, whether any sample is empty; count,
# bytes unpacked, first time, step where the pace is even.
_HEAD = struct.Struct("<BBBBBxxxIIqq")


def encode(time_us: IntArray, value: FloatArray) -> bytes:
    """Samples in order of time, no two at one instant."""
    empty = np.isnan(value)
    scale, whole = _scaled(np.where(empty, 0.0, value))
    gaps = np.diff(time_us)
    even = not gaps.size or bool((gaps == gaps[0]).all())
    times, time_width = (b"", 0) if even else _packed(gaps)
    values, value_width = (value.tobytes(), 8) if whole is None else _differences(whole, empty)
    if whole is None:
        values = _shuffled(np.frombuffer(values, dtype=np.uint8).reshape(-1, 8))
    mask = np.packbits(empty).tobytes() if whole is not None and empty.any() else b""
    raw = times + mask + values
    head = _HEAD.pack(VERSION, scale, time_width, value_width, bool(mask), value.size, len(raw),
                      int(time_us[0]), int(gaps[0]) if even and gaps.size else 0)
    return head + bytes(_codec().compress(raw, asbytes=True))


def decode(packed: bytes) -> tuple[IntArray, FloatArray]:
    """Times in microseconds and values, as they were encoded."""
    try:
        version, scale, time_width, value_width, masked, count, size, first, step = _HEAD.unpack(
            packed[: _HEAD.size])
        if version != VERSION:
            raise WattlineError(f"samples of version {version}, and this program reads {VERSION}")
        raw = _codec().decompress(packed[_HEAD.size :], decompressed_size=size, asbytes=True)
        at = (count - 1) * time_width
        times = np.arange(count, dtype=np.int64) * step + first
        if time_width:
            times = np.concatenate([[first], first + np.cumsum(_unpacked(raw[:at], time_width))])
        empty = None
        if masked:
            bits = np.frombuffer(raw, np.uint8, (count + 7) // 8, at)
            empty, at = np.unpackbits(bits, count=count).astype(np.bool_), at + bits.size
        return times, _values(raw[at:], scale, value_width, empty)
    except (struct.error, ValueError, OSError) as error:
        raise WattlineError(f"samples in the store cannot be read: {error}") from None


def _values(raw: bytes, scale: int, width: int, empty: npt.NDArray[np.bool_] | None) -> FloatArray:
    if scale == _AS_IT_IS:
        return _unshuffled(raw, 8).reshape(-1).view(np.float64)
    value = np.cumsum(_unpacked(raw, width)).astype(np.float64)
    if scale:
        value /= SCALES[scale]
    if empty is not None:
        value[empty] = np.nan
    return np.asarray(value, dtype=np.float64)


def _scaled(value: FloatArray) -> tuple[int, IntArray | None]:
    """Which scale makes all values whole and gives them back to the last bit, and these."""
    for place, scale in enumerate(SCALES):
        with np.errstate(over="ignore", invalid="ignore"):
            whole = np.rint(value * scale)
        if (np.abs(whole) < _EXACT).all() and np.array_equal(
                (whole / scale).view(np.uint64), value.view(np.uint64)):
            return place, whole.astype(np.int64)
    return _AS_IT_IS, None


def _differences(whole: IntArray, empty: npt.NDArray[np.bool_]) -> tuple[bytes, int]:
    """What each value adds to the one before; empty ones add nothing."""
    if empty.any():
        last = np.maximum.accumulate(np.where(empty, -1, np.arange(whole.size)))
        whole = np.where(last >= 0, whole[np.maximum(last, 0)], 0)
    return _packed(np.diff(whole, prepend=0))


def _packed(difference: IntArray) -> tuple[bytes, int]:
    """Differences in as few bytes as the largest needs, the sign in the last bit."""
    folded = ((difference << 1) ^ (difference >> 63)).view(np.uint64)
    most = int(folded.max()) if folded.size else 0
    width = next(width for width in (1, 2, 4, 8) if most < 2 ** (8 * width))
    narrow = folded.astype(f"<u{width}")
    return _shuffled(narrow.view(np.uint8).reshape(-1, width)), width


def _unpacked(raw: bytes, width: int) -> IntArray:
    folded = _unshuffled(raw, width).reshape(-1).view(f"<u{width}").astype(np.uint64)
    return (folded >> np.uint64(1)).view(np.int64) ^ -(folded & np.uint64(1)).view(np.int64)


def _shuffled(rows: npt.NDArray[np.uint8]) -> bytes:
    """First bytes first: bytes of one place are alike, and packed well together."""
    return rows.T.tobytes()


def _unshuffled(raw: bytes, width: int) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(np.frombuffer(raw, np.uint8).reshape(width, -1).T)


@cache
def _codec() -> Any:
    import pyarrow

    return pyarrow.Codec("zstd", compression_level=1)
