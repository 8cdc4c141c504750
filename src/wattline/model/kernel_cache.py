"""Where the machine code of kernels is kept between processes, and which of it is.

Code is found again by what it was made from: the contents of the sources that kernels are made of,
the versions of Python and numba, and the processor's family. A clone, a reinstalled package or
another folder with the same sources finds what was compiled once. All is compiled for any processor
of the family, which measured no slower than for the very one; so it can be built into a package
(`SHIPPED`) and used on another machine.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from wattline.model.clock import file_age_s
from wattline.model.plugins import installed
from wattline.model.user_cache import user_cache

HOME = Path(__file__).resolve().parent.parent
SHIPPED = HOME / "_kernels"
"""Code that was built into the package; it is never written to."""
WITH_KERNELS = (
    "benchmarks", "books", "engine", "model", "network", "physics", "policies",
    "shared_nodes", "traces",
)
"""Folders of this package from which kernels are made, constants and all."""
FOLDERS_KEPT = 4
"""Beside the folder in use, so many are kept for other states of the sources."""


def package_of(function: Any) -> str:
    """The package that a function or a class is from."""
    return str(function.__module__).split(".")[0]


@cache
def packages() -> dict[str, Path]:
    """The file or folder of this package, and of each that registers policies, by name."""
    from importlib.util import find_spec

    names = {place.split(":")[0].split(".")[0] for _, place in installed()}
    found = {"wattline": HOME}
    for name in sorted(names):
        spec = find_spec(name)
        if spec is not None and spec.origin:
            origin = Path(spec.origin)
            found[name] = origin.parent if origin.name == "__init__.py" else origin
    return found


def sources() -> list[tuple[str, str]]:
    """The files that kernels are made of, each with a name that does not depend on where it is."""
    found = [(f"wattline/{folder}/{name}", path)
             for folder in WITH_KERNELS for name, path in _modules(HOME / folder)]
    for package, place in packages().items():
        if package != "wattline":
            files = _modules(place) if place.is_dir() else [(place.name, str(place))]
            found += [(f"{package}/{name}", path) for name, path in files]
    return sorted(found)


def _modules(folder: Path) -> list[tuple[str, str]]:
    """All modules in a folder, by their names from there on; as texts, because every command that
    calls a kernel asks, and making path objects took four times as long as looking."""
    start = len(str(folder)) + 1
    return [(f"{place}/{name}"[start:], f"{place}/{name}")
            for place, _, names in os.walk(folder) for name in names if name.endswith(".py")]


@cache
def state_name() -> str:
    """A name for the sources, Python, numba, its checks, and the family of processors."""
    checks = "-checked" if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0") else ""
    version = f"py{sys.version_info[0]}{sys.version_info[1]}-numba{metadata.version('numba')}"
    return f"{version}-{platform.machine()}{checks}-{_contents()}"


def announced(compiling: str) -> str:
    """What is said of a compilation: also why code that was built into the package is of no use."""
    built = sorted(path.name for path in SHIPPED.glob("py*-numba*"))
    if not built or state_name() in built:
        return compiling
    theirs, here = _for_what(built[0]), _for_what(state_name())
    if theirs == here:
        return f"{compiling}; the code built into this package is of other sources, and passed over"
    return f"{compiling}; the code built into this package is for {theirs}, and here is {here}"


def _for_what(state: str) -> str:
    """In words, all but the sources."""
    python, numba, family, *checked = state.split("-")[:-1]
    version = f"{python[2]}.{python[3:]}"
    return " with ".join([f"Python {version}, numba {numba.removeprefix('numba')} on {family}",
                          *checked])


def _contents() -> str:
    """A digest of all sources of kernels.

    Reading them takes longer than a short command does otherwise. So what came of it is remembered
    for a digest of their places, sizes and times, which is quick to find.
    """
    files = sources()
    stats = [(path, os.stat(path)) for _, path in files]
    quick = digest(f"{path}:{s.st_mtime_ns}:{s.st_size}".encode() for path, s in stats)
    note = user_cache() / "sources" / quick
    with suppress(OSError):
        known = note.read_text(encoding="utf-8")
        if known:
            return known
    found = digest(part for name, path in files
                    for part in (name.encode(), Path(path).read_bytes()))
    with suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(found, encoding="utf-8")
    return found


def digest(parts: Iterable[bytes]) -> str:
    """A short name for contents."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:16]


@cache
def cache_folder() -> Path:
    """The folder of this state of the sources. Where it is new, old ones of others are removed."""
    folder = user_cache() / "kernels" / state_name()
    with suppress(OSError):
        if not folder.is_dir():
            _forget_old(folder.parent)
            folder.mkdir(parents=True)
        os.utime(folder)  # it is in use
    return folder


def _forget_old(parent: Path) -> None:
    """Keep the folders that were used last; an hour's grace for processes that run side by side."""
    used = sorted((path for path in parent.glob("*") if path.is_dir()),
                  key=lambda path: path.stat().st_mtime, reverse=True)
    for path in used[FOLDERS_KEPT:]:
        if file_age_s(path) > 3600:
            shutil.rmtree(path, ignore_errors=True)
    for note in (parent.parent / "sources").glob("*"):
        if file_age_s(note) > 30 * 86400:
            note.unlink(missing_ok=True)
