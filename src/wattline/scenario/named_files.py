"""The files that a text of a scenario rests on: the one that it names, and those behind that one.

A `slurm.conf` includes others, a machine's network names another machine or its tables of links,
own code imports what lies beside it. Who keeps a result has to know all of them.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.reading import MOST_TOML_BYTES, is_file, parse_toml
from wattline.model.sources import imported_files
from wattline.scenario.bundled_logs import file_named
from wattline.site.lines import MOST_BYTES, included_names


def files_behind(text: str | Path) -> list[Path]:
    """The file that a text names, and those that it rests on; none where it names no file."""
    code = file_of_code(str(text))
    if code:
        return imported_files(code)
    own = file_named(text)
    found: dict[Path, Path] = {}  # by where it lies: one way round a folder leads to the next
    waiting = [] if own is None else [own]
    while waiting:
        path = waiting.pop()
        if path.resolve() not in found:
            found[path.resolve()] = path
            waiting += _named_in(path)
    return list(found.values())


def file_of_code(place: str) -> str:
    """The file of `file.py:Class`; nothing for a module that Python finds by itself."""
    file, colon, _ = place.rpartition(":")
    return file if colon and file.endswith(".py") and is_file(file) else ""


def file_digest(path: str | Path) -> str:
    """The digest of a file's content, read again where its time or size has changed."""
    status = os.stat(path)
    return _file_digest(str(path), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1024)
def _file_digest(path: str, changed_ns: int, size: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def texts_in(value: Any) -> Iterator[str]:
    """All texts of nested tables and lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            if isinstance(inner, str):  # most of them; to go down for each takes as long again
                yield inner
            else:
                yield from texts_in(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from texts_in(inner)


def _named_in(path: Path) -> Iterator[Path]:
    """Files that this one names; its readers look beside it first, then from where we are."""
    status = os.stat(path)
    for name in _names_in(str(path), status.st_mtime_ns, status.st_size):
        # Whichever cluster it is: the name may stand in the file that includes this one.
        each_cluster = glob.escape(name).replace("%c", "*")
        beside = (sorted(glob.glob(str(Path(glob.escape(str(path.parent)), each_cluster))))
                  if "%c" in name else [path.parent / name])
        yield from (Path(each) for each in (*beside, name) if is_file(each))


@lru_cache(maxsize=1024)
def _names_in(path: str, changed_ns: int, size: int) -> tuple[str, ...]:
    """Texts of a file that may be names of others: those of TOML, and what Slurm's files include.

    Any text of TOML may be one: more than the readers open at most means to compute once more.
    """
    if size > MOST_BYTES:
        return ()
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:  # packed: no file that names others may be
        return ()
    if size > MOST_TOML_BYTES:
        return included_names(text)
    try:
        return tuple(sorted(set(texts_in(parse_toml(text, path)))))
    except InputError:
        return included_names(text)
