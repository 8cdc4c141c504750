"""The folder in which code and figures are kept for a user's next run, where one can be written.

Nothing needs it: without it all is compiled and computed anew each time, and that is said once.
"""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

from wattline.model import when_nothing_is_kept

NOWHERE = Path(os.devnull, "wattline")
"""In the place of a folder for users without a home: nothing is found there, nothing written. One
with a known name among temporary files could be anybody's, and code from it would be run."""


def user_cache() -> Path:
    """`wattline` in the folder that XDG_CACHE_HOME names, or else in ~/.cache."""
    named = os.environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named, "wattline")
    try:
        return Path.home() / ".cache" / "wattline"
    except RuntimeError:  # neither HOME nor the list of users says where it is
        return NOWHERE


def can_keep(folder: Path) -> bool:
    """Whether a folder of the cache can be written; said where it cannot."""
    error = _hindrance(folder)
    if error is not None:
        say_nothing_is_kept(error)
    return error is None


@cache
def _hindrance(folder: Path) -> OSError | None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b" ")
    except OSError as error:
        return error
    return None


def say_nothing_is_kept(error: Exception) -> None:
    """Once in a process; for worker processes whoever started them does."""
    import multiprocessing  # which takes milliseconds, and is needed where something is wrong

    if multiprocessing.parent_process() is not None:
        return
    folder = user_cache()
    why = getattr(error, "strerror", None) or error
    what = ("this user has no home folder to keep them in" if folder == NOWHERE
            else f"they cannot be kept in {folder} ({why})")
    while when_nothing_is_kept:
        when_nothing_is_kept.pop()(
            f"code and figures are made anew in each run, because {what}; set XDG_CACHE_HOME to a "
            "folder that can be written")
