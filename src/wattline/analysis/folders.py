"""Where runs are written: as asked, or the next free number under runs/."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.files import possible_path


def run_folder(name: str, out: str | Path | None = None) -> Path:
    """The folder that was asked for, or the next free one of this name under runs/.

    A place that cannot be written is found out here, before any work is done.
    """
    try:
        if out is not None:
            folder = possible_path(out)
        else:
            number = 1
            while (folder := Path("runs") / f"{file_stem(name)}-{number:03d}").exists():
                number += 1
        there = folder.absolute()
        while not there.exists():
            there = there.parent
    except OSError as error:  # a name that is too long
        raise InputError(f"cannot write to {out}: {error.strerror}") from None
    if not there.is_dir():
        raise InputError(f"cannot write to {folder}: {there} is a file, not a folder")
    if not os.access(there, os.W_OK | os.X_OK, effective_ids=True):
        raise InputError(f"cannot write to {folder}: no permission to write in {there}")
    return folder


@contextmanager
def claimed_folder(name: str, out: str | Path | None = None) -> Iterator[Path]:
    """The same for whoever is about to write: the next free one is made, so that each of several
    processes gets its own. Where nothing comes of the work it is taken away again."""
    if out is not None:
        yield run_folder(name, out)
        return
    folder = _made(name)
    try:
        yield folder
    except BaseException:
        with suppress(OSError):
            folder.rmdir()
        raise


def _made(name: str) -> Path:
    while True:
        folder = run_folder(name)
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:  # another process was quicker
            continue
        except OSError as error:
            raise InputError(f"cannot write to {folder}: {error.strerror}") from None


def file_stem(name: str) -> str:
    """A name made fit for a file, and short enough for one."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-")[:100] or "run"
