"""Where the machine code of kernels is kept between processes, and which of it is.

Code is found again by what it was made from: the contents of the sources that kernels are made of,
the versions of Python and numba, and the processor's family. A clone, a reinstalled package or
another folder with the same sources finds what was compiled once. All is compiled for any processor
of the family, which measured no slower than for the very one; so it can be built into a package
(`SHIPPED`) and used on another machine.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import sys
import uuid
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
)

from wattline.model import PLUGINS
from wattline.model.clock import file_age_s

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

numba.config.CPU_NAME, numba.config.CPU_FEATURES = "generic", ""


def keep_on_disk(dispatcher: Any) -> Any:
    """Let later processes find what this kernel is compiled to."""
    counts_references = dispatcher.targetoptions["_nrt"]
    dispatcher._cache = KernelCache(dispatcher.py_func, counts_references)
    return dispatcher


class _Place:
    """Where numba keeps a kernel's files: by its module's name, not by its file's path and time.

    What the sources are is said by the folder's name; of a kernel from elsewhere, by its own file.
    """

    def __init__(self, folder: Path, function: Any) -> None:
        self._folder = folder / function.__module__
        self._line = function.__code__.co_firstlineno
        self._stamp = "" if _package_of(function) in packages() else _own_file(function)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)


class _Entries(IndexDataCacheFile):  # type: ignore[misc]
    """The index of a kernel's code, safe where several processes compile at the same time.

    numba numbers files by what it found in the index a moment ago: of two processes, one would
    write over the other's code, and the index would hand it out under the wrong name.
    """

    def save(self, key: Any, data: Any) -> None:
        name = self._data_name_pattern.replace("{number:d}", uuid.uuid4().hex)
        self._save_data(name, data)
        with Path(self._index_path + ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._save_index(self._load_index() | {key: name})


class _Files(FunctionCache):  # type: ignore[misc]
    """numba's files of one kernel in one folder."""

    def __init__(self, folder: Path, function: Any) -> None:
        class Kept(CompileResultCacheImpl):  # type: ignore[misc]
            def __init__(self, function: Any) -> None:
                self._lineno = function.__code__.co_firstlineno
                self._locator = _Place(folder, function)
                self._filename_base = self.get_filename_base(function.__qualname__, "")

        self._impl_class = Kept
        super().__init__(function)
        self._cache_file = _Entries(self._cache_path, self._impl.filename_base,
                                    self._impl.locator.get_source_stamp())


class KernelCache(NullCache):  # type: ignore[misc]
    """numba's files of one kernel, opened when the kernel is first called.

    numba's own way (`cache=True`) tries the folder for each of the many kernels that a command
    imports and never calls. And it stores the types that a kernel was compiled for with it: those
    of a script, a notebook or a test can't be read elsewhere, and their code may have changed, so
    kernels for them are compiled in each process. And before it reads, it loads all that compiling
    would need, a quarter of a second; only kernels that count references ask for some of that.
    """

    def __init__(self, function: Any, counts_references: bool) -> None:
        self._function = function
        self._counts_references = counts_references

    @cached_property
    def _own(self) -> _Files:
        return _Files(cache_folder(), self._function)

    @cached_property
    def _shipped(self) -> _Files | None:
        folder = SHIPPED / _state()
        return _Files(folder, self._function) if folder.is_dir() else None

    @property
    def cache_path(self) -> str:
        return str(self._own.cache_path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if not self._is_kept(sig):
            return None
        if self._counts_references:
            target_context.refresh()
        found = None
        if self._shipped is not None:
            found = self._shipped._load_overload(sig, target_context)
        return self._own._load_overload(sig, target_context) if found is None else found

    def knows(self, sig: Any, target_context: Any) -> bool:
        """Whether code for these types is on disk, without loading it."""
        if not self._is_kept(sig):
            return False
        places = [self._own] if self._shipped is None else [self._shipped, self._own]
        return any(place._index_key(sig, target_context.codegen())
                   in place._cache_file._load_index() for place in places)

    def save_overload(self, sig: Any, data: Any) -> None:
        if self._is_kept(sig):
            self._own.save_overload(sig, data)

    def _is_kept(self, sig: Any) -> bool:
        return Path(self._function.__code__.co_filename).is_file() and _is_lasting(sig)


def _package_of(function: Any) -> str:
    return str(function.__module__).split(".")[0]


def _own_file(function: Any) -> str:
    path = Path(function.__code__.co_filename)
    return _digest([str(path).encode(), path.read_bytes()])


def _is_lasting(argument_types: Iterable[Any]) -> bool:
    """Whether all policies among the arguments come from packages whose sources are watched."""
    for each in argument_types:
        policy = getattr(each, "instance_class", None)
        if policy is not None and _package_of(policy) not in packages():
            return False
        if not _is_lasting(getattr(each, "types", ())):
            return False
    return True


@cache
def packages() -> dict[str, Path]:
    """The file or folder of this package, and of each that registers policies, by name."""
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    names = {point.value.split(":")[0].split(".")[0] for point in entry_points(group=PLUGINS)}
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
def _state() -> str:
    """A name for the sources, Python, numba, its checks, and the family of processors."""
    checks = "-checked" if numba.config.BOUNDSCHECK else ""
    version = f"py{sys.version_info[0]}{sys.version_info[1]}-numba{numba.__version__}"
    return f"{version}-{platform.machine()}{checks}-{_contents()}"


def _contents() -> str:
    """A digest of all sources of kernels.

    Reading them takes longer than a short command does otherwise. So what came of it is remembered
    for a digest of their places, sizes and times, which is quick to find.
    """
    files = sources()
    stats = [(path, os.stat(path)) for _, path in files]
    quick = _digest(f"{path}:{s.st_mtime_ns}:{s.st_size}".encode() for path, s in stats)
    note = _base() / "sources" / quick
    with suppress(OSError):
        known = note.read_text()
        if known:
            return known
    found = _digest(part for name, path in files
                    for part in (name.encode(), Path(path).read_bytes()))
    with suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(found)
    return found


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:16]


def _base() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wattline"


@cache
def cache_folder() -> Path:
    """The folder of this state of the sources. Where it is new, old ones of others are removed."""
    folder = _base() / "kernels" / _state()
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
