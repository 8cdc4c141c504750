"""Reading what the user names: only files and pipes, only so much, unpacked while it is counted.

A log, a scenario or a table may come from somebody else. A device that never ends, a file of a few
kilobytes that unpacks to gigabytes, or brackets in brackets must cost a message and no memory.
"""

from __future__ import annotations

import bz2
import io
import lzma
import math
import os
import re
import stat
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from wattline.model.errors import InputError

LIMIT_VARIABLE = "WATTLINE_FILE_GIB"
DEFAULT_GIB = 1.0
"""Twice a log of ten million jobs in the Standard Workload Format."""
MOST_TOML_BYTES = 16 * 2**20
MOST_DEPTH = 64
"""Tables and lists in one another; what a person writes has five levels or so."""
_CHUNK = 2**20
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\x00": "xz", b"BZh": "bz2"}
_UNREAD = {b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip", b"7z\xbc\xaf\x27\x1c": "7z"}
"""How packed files begin that are not read, and what they are called."""


class FileTooLarge(InputError):
    """A file has more than may be read."""

    hint = ""
    """The end of the sentence, which is for who runs the command: others cannot follow it."""


def file_limit() -> int:
    """How many bytes a file may have, unpacked: 1 GiB, or what the environment says."""
    text = os.environ.get(LIMIT_VARIABLE, "")
    try:
        gib = float(text) if text else DEFAULT_GIB
    except ValueError:
        gib = math.nan
    if not 0 < gib < 1e9:
        raise InputError(f"{LIMIT_VARIABLE} is '{text}', must be a number of GiB above 0")
    return int(gib * 2**30)


def check_unpacked(source: str | Path, rows: int, row_bytes: int) -> None:
    """Refuse a table of more than a file may have; a few bytes can stand for any number of cells.
    """
    if rows * row_bytes > file_limit():
        raise InputError(f"{source}: has {rows:,} rows, which take more than the limit of "
                         f"{file_limit() / 2**30:.4g} GiB ({LIMIT_VARIABLE})")


def check_parquet(data: bytes, source: str | Path, columns: int | None = None) -> None:
    """The same of a Parquet file, before so many of its columns are read, or all of them."""
    import pyarrow as pa
    from pyarrow import parquet

    about = parquet.read_metadata(pa.BufferReader(data))
    check_unpacked(source, about.num_rows, 8 * (about.num_columns if columns is None else columns))


def is_file(path: str | Path) -> bool:
    """Whether there is such a file; no for a name that no file can have."""
    return os.path.isfile(path)  # a Path takes several times as long to ask


def read_file(path: str | Path, most: int | None = None) -> bytes:
    """All bytes of a file or a pipe, as they are."""
    with _opened(Path(path)) as stream:
        return _joined(iter(lambda: stream.read(_CHUNK), b""), path, most)


def read_unpacked(path: str | Path) -> tuple[bytes, bool]:
    """All bytes of a file, gz, xz and bz2 unpacked whatever its name; and whether it was packed."""
    with _opened(Path(path)) as stream:
        first = stream.read(_CHUNK)
        kind = _packing(first, path)
        packed = _after(first, stream)
        whole = _joined(packed if kind is None else _unpacked(packed, kind, path), path)
        return whole, kind is not None


def first_bytes(path: str | Path) -> bytes:
    """What a file begins with, gz, xz and bz2 unpacked; up to a megabyte."""
    with _opened(Path(path)) as stream:
        first = stream.read(_CHUNK)
        kind = _packing(first, path)
        return first if kind is None else next(
            filter(None, _unpacked(_after(first, stream), kind, path)), b"")


def read_text(path: str | Path, most: int | None = None) -> str:
    """The text of a file."""
    try:
        return read_file(path, most).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8") from None


def log_text(data: bytes, source: str | Path) -> str:
    """The text of a log, in which single letters may be of another encoding, but not all."""
    if b"\0" in data[:4096]:
        raise InputError(f"{source}: not a text file in UTF-8")
    return data.decode("utf-8-sig", "replace")


def separator(first_line: str) -> str:
    """What parts the cells of a table, by its first line: a comma, a semicolon or a tab.

    Where a comma is the decimal point of a country, its tables are separated by semicolons.
    """
    return next((mark for mark in (";", "\t") if mark in first_line and "," not in first_line),
                ",")


def with_point(cell: str) -> str:
    """A number with its decimal comma as a point; other texts as they are.

    >>> with_point("0,5"), with_point("n1,n2")
    ('0.5', 'n1,n2')
    """
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell.strip()) else cell


def read_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    return parse_toml(read_text(path, MOST_TOML_BYTES), str(path))


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    if any(line.partition("=")[0].count(".") > MOST_DEPTH for line in text.splitlines()):
        raise InputError(f"{where}: {_TOO_DEEP}")  # before the reader walks down all of them
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{where}: {_TOO_DEEP}") from None
    except (tomllib.TOMLDecodeError, ValueError) as error:
        # ValueError: a whole number of more digits than Python reads.
        raise InputError(f"{where}: not a TOML file: {error}") from None
    if is_deeper(found, MOST_DEPTH):
        raise InputError(f"{where}: {_TOO_DEEP}")
    return found


_TOO_DEEP = f"tables or lists lie more than {MOST_DEPTH} deep in one another"


def is_deeper(value: Any, depth: int) -> bool:
    """Whether tables and lists lie deeper in one another; without going down by recursion."""
    level = [value]
    while level:
        if depth < 0:
            return True
        depth -= 1
        within = [v.values() if isinstance(v, dict) else v for v in level
                  if isinstance(v, (dict, list, tuple))]
        level = [inner for values in within for inner in values]
    return False


def _opened(path: Path) -> BinaryIO:
    """Open a file, or a pipe that somebody writes to; a device has no end."""
    try:
        # Opening a pipe that nobody writes to would wait for ever.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError:
        raise InputError(f"{str(path)!r}: no file has such a name") from None
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise InputError(f"{path}: is a folder, not a file")
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise InputError(f"{path}: is a device, not a file")
        os.set_blocking(handle, True)
        return os.fdopen(handle, "rb", closefd=True)
    except BaseException:
        os.close(handle)
        raise


def _packing(first: bytes, path: str | Path) -> str | None:
    unread = next((kind for magic, kind in _UNREAD.items() if first.startswith(magic)), None)
    if unread is not None:
        raise InputError(f"{path}: is packed with {unread}, which is not read; unpack it, or pack "
                         "it with gzip, xz or bzip2")
    return next((kind for magic, kind in _MAGIC.items() if first.startswith(magic)), None)


def _after(first: bytes, stream: BinaryIO) -> Iterator[bytes]:
    while first:
        yield first
        first = stream.read(_CHUNK)


def _joined(chunks: Iterator[bytes], path: str | Path, most: int | None = None) -> bytes:
    """The chunks as one; a BytesIO hands its buffer over, so that nothing is held twice."""
    limit = file_limit() if most is None else most
    whole = io.BytesIO()
    try:
        for chunk in chunks:
            if whole.tell() + len(chunk) > limit:
                raise _too_large(path, limit, most is None)
            whole.write(chunk)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    return whole.getvalue()


def _too_large(path: str | Path, limit: int, raised_by_variable: bool) -> FileTooLarge:
    size = f"{limit / 2**30:.4g} GiB" if limit >= 2**30 else f"{limit / 2**20:.4g} MiB"
    hint = f"; {LIMIT_VARIABLE}=4 in the environment allows 4 GiB" if raised_by_variable else ""
    found = FileTooLarge(f"{path}: has more than {size}, unpacked, which is the limit{hint}")
    found.hint = hint
    return found


def _unpacked(packed: Iterator[bytes], kind: str, path: str | Path) -> Iterator[bytes]:
    """Unpack in pieces of at most a chunk, however much a piece of the file holds."""
    try:
        yield from _gunzipped(packed) if kind == "gz" else _streams(packed, kind)
    except EOFError:
        raise InputError(f"{path}: the {kind} data ends too early; the file is cut off") from None
    except (OSError, lzma.LZMAError, zlib.error, ValueError) as error:
        raise InputError(f"{path}: the {kind} data is damaged ({error})") from None


def _gunzipped(packed: Iterator[bytes]) -> Iterator[bytes]:
    """The members of a gz file; zero bytes between and behind them are padding."""
    rest, inflater = b"", None
    for chunk in packed:
        rest += chunk
        while rest:
            if inflater is None:
                rest = rest.lstrip(b"\0")
                if not rest:
                    break
                inflater = zlib.decompressobj(wbits=31)
            yield inflater.decompress(rest, _CHUNK)
            rest = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            inflater = None if inflater.eof else inflater
    if inflater is not None:
        yield inflater.flush(_CHUNK)
        if not inflater.eof:
            raise EOFError


def _streams(packed: Iterator[bytes], kind: str) -> Iterator[bytes]:
    """The streams of an xz or bz2 file, one after the other."""
    def fresh() -> Any:
        return lzma.LZMADecompressor() if kind == "xz" else bz2.BZ2Decompressor()

    unpacker = None
    for chunk in packed:
        rest = chunk
        while rest:
            if unpacker is None:
                rest = rest.lstrip(b"\0") if kind == "xz" else rest  # padding of xz
                if not rest:
                    break
                unpacker = fresh()
            yield unpacker.decompress(rest, _CHUNK)
            while not unpacker.eof and not unpacker.needs_input:
                yield unpacker.decompress(b"", _CHUNK)
            rest = unpacker.unused_data if unpacker.eof else b""
            unpacker = None if unpacker.eof else unpacker
    if unpacker is not None:
        raise EOFError
