"""Writing files: whole or not at all, and never over what is no file."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wattline.model.errors import InputError


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file whole or not at all; a failure leaves what was there before."""
    data = content.encode() if isinstance(content, str) else content
    with replacing(path) as place:
        place.write_bytes(data)


def possible_path(path: str | Path) -> Path:
    """The path, unless no file can have such a name."""
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError:  # half of a character
        name = b"\0"
    if b"\0" in name:
        raise InputError(f"{str(path)!r}: no file has such a name")
    return Path(path)


@contextmanager
def replacing(path: str | Path, lasting: bool = False) -> Iterator[Path]:
    """Where to write so that `path` changes if, and only if, all went well.

    That is a draft beside the file, which takes its place at the end. Of a link it is the file
    behind it that changes, never the link. A device or a pipe cannot be replaced, or it would be
    one no longer: it is written to directly. `lasting`: it is on the disk when it has its place,
    also where the power fails right after.
    """
    path = possible_path(path)
    try:
        old = _status(path)
        if old is not None and stat.S_ISDIR(old.st_mode):
            raise InputError(f"{path} is a folder; name a file to write")
        if old is not None and not stat.S_ISREG(old.st_mode):
            yield path
            return
        if old is not None and not os.access(path, os.W_OK, effective_ids=True):
            raise InputError(f"{path} cannot be written: it is read-only")
        target = Path(os.path.realpath(path))
        with _draft(target) as draft:
            yield draft
            draft.chmod(_new_mode() if old is None else stat.S_IMODE(old.st_mode))
            if lasting:
                _sync(draft)
            draft.replace(target)
            if lasting:
                _sync(target.parent)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _status(path: Path) -> os.stat_result | None:
    """Of what the path leads to, through any links; None where there is nothing yet."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    # A name of its own length: one made of the target's name could be too long.
    handle, name = tempfile.mkstemp(prefix=".wattline-", suffix=".part", dir=target.parent)
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _new_mode() -> int:
    """What a new file may be used for; a temporary one is the owner's alone."""
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
