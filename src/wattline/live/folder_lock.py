"""One process per folder, for those that must not be there twice."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wattline.model.errors import InputError, WattlineError


@contextmanager
def alone_in(folder: Path, refused: str, *, mode: int = 0o777) -> Iterator[None]:
    """Hold the folder's lock, which goes with the process whatever happens to it.

    `refused` is said where another holds it; `mode` is that of a folder which is made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
        lock = (folder / "lock").open("w", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder} cannot be written to: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise WattlineError(refused) from None
        yield


def is_taken(folder: Path) -> bool:
    """Whether a process of this machine holds the folder's lock."""
    try:
        with (folder / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # there is none, or it is not ours to read
        return False
    return False
