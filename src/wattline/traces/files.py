"""Compressed files: unpacked by their content, packed as their name asks."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import read_unpacked

COMPRESSIONS = (".gz", ".xz", ".bz2")
PACKED = (*COMPRESSIONS, ".zst")
"""Endings that say that a file is packed; what is not read is refused by its content."""
KINDS = (".swf", ".csv", ".txt", ".json", ".parquet", ".pq", ".events", ".toml")
"""Endings that say what a log or scenario is written as; others belong to its name."""


def read_bytes(path: Path) -> bytes:
    """The content of a file, decompressed when it is compressed, whatever its name."""
    content, was_packed = read_unpacked(path)
    if not content or content.isspace():
        raise InputError(f"{path}: the file is empty")
    if not was_packed and path.suffix.lower() in COMPRESSIONS:
        raise InputError(f"{path}: is not {path.suffix} data, as its name says")
    return content


def inner_name(path: Path) -> str:
    """The file's name in lower case without the suffix of its compression."""
    name = path.name.lower()
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return name


def log_name(path: str | Path) -> str:
    """What runs of a log are called: its name without the endings that say how it is written.

    >>> log_name("logs/KTH-SP2-1996-2.1-cln.swf.xz")
    'KTH-SP2-1996-2.1-cln'
    """
    name = Path(Path(path).name[: len(inner_name(Path(path)))])
    return (name.stem if name.suffix.lower() in KINDS else name.name)[:200]


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
