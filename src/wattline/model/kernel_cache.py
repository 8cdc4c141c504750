"""Where the machine code of kernels is kept between processes, and which of it is."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, NullCache

from wattline.model import PLUGINS


def keep_on_disk(dispatcher: Any) -> Any:
    """Let later processes find what this kernel is compiled to."""
    counts_references = dispatcher.targetoptions["_nrt"]
    dispatcher._cache = KernelCache(dispatcher.py_func, counts_references)
    return dispatcher


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
    def _files(self) -> FunctionCache:
        return FunctionCache(self._function)

    @property
    def cache_path(self) -> str:
        return str(self._files.cache_path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if not _is_lasting(sig):
            return None
        if self._counts_references:
            target_context.refresh()
        return self._files._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        if _is_lasting(sig):
            self._files.save_overload(sig, data)


def _is_lasting(argument_types: Iterable[Any]) -> bool:
    """Whether all policies among the arguments come from packages whose sources are watched."""
    for each in argument_types:
        policy = getattr(each, "instance_class", None)
        if policy is not None and policy.__module__.split(".")[0] not in packages():
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
    found = {"wattline": Path(__file__).resolve().parent.parent}
    for name in sorted(names):
        spec = find_spec(name)
        if spec is not None and spec.origin:
            origin = Path(spec.origin)
            found[name] = origin.parent if origin.name == "__init__.py" else origin
    return found


@cache
def cache_folder() -> Path:
    """A folder of its own for each state of the sources.

    numba notices when the file of a kernel changes, not when a kernel that it calls does. So the
    folder's name is a digest of all sources, those of installed policies too, and an edit anywhere
    starts afresh.
    """
    digest = hashlib.sha256()
    for place in packages().values():
        for source in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            status = source.stat()
            digest.update(f"{source}:{status.st_mtime_ns}:{status.st_size};".encode())
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "wattline" / digest.hexdigest()[:16]


if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(cache_folder())
