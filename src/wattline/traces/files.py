"""Compressed files: unpacked by their content, packed as their name asks."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from pathlib import Path

from wattline.model.errors import InputError

COMPRESSIONS = (".gz", ".xz", ".bz2")

_MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\x00": "xz", b"BZh": "bz2"}


def read_bytes(path: Path) -> bytes:
    """The content of a file, decompressed when it is compressed, whatever its name."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if not data:
        raise InputError(f"{path}: the file is empty")
    content = _decompress(data, path)
    if not content or content.isspace():
        raise InputError(f"{path}: the file is empty")
    return content


def inner_name(path: Path) -> str:
    """The file's name in lower case without the suffix of its compression."""
    name = path.name.lower()
    for suffix in COMPRESSIONS:
        name = name.removesuffix(suffix)
    return name


def compress(data: bytes, path: Path) -> bytes:
    """Compress as the file's name asks; equal data gives equal bytes."""
    match path.suffix.lower():
        case ".gz":
            return gzip.compress(data, compresslevel=6, mtime=0)
        case ".xz":
            return lzma.compress(data)
        case ".bz2":
            return bz2.compress(data)
    return data


def _decompress(data: bytes, path: Path) -> bytes:
    kind = next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), None)
    if kind is None:
        if path.suffix.lower() in COMPRESSIONS:
            raise InputError(f"{path}: is not {path.suffix} data, as its name says")
        return data
    try:
        if kind == "gz":
            return _gunzip(data)
        return lzma.decompress(data) if kind == "xz" else bz2.decompress(data)
    except EOFError:
        raise InputError(f"{path}: the {kind} data ends too early; the file is cut off") from None
    except (OSError, lzma.LZMAError, zlib.error, ValueError) as error:
        # bz2 says ValueError where its data stops before the end marker.
        raise InputError(f"{path}: the {kind} data is damaged ({error})") from None


def _gunzip(data: bytes) -> bytes:
    """Like gzip.decompress, with one growing buffer: archives of job logs inflate sixfold."""
    parts: list[bytes] = []
    while data:
        inflater = zlib.decompressobj(wbits=31)
        parts.append(inflater.decompress(data))
        if not inflater.eof:
            raise EOFError
        data = inflater.unused_data.lstrip(b"\0")
    return parts[0] if len(parts) == 1 else b"".join(parts)
