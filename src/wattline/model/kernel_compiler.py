"""numba, told of all kernels, slots and types: loaded when something has to be compiled.

Importing it is the slow part; code that is known is called without it (`kernel_code`).
"""

from __future__ import annotations

import fcntl
import gc
import uuid
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numba
import numba.np.arraymath
from numba.core import event, types
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
)
from numba.extending import typeof_impl

import wattline.model.kernel_arrays_type
import wattline.model.kernel_fetch_code
import wattline.model.kernel_index  # noqa: F401  (they register what numba makes of them)
from wattline.model import (
    COMPILING,
    COMPILING_PART,
    COMPILING_SHARED,
    before_compiling,
    kernel_cache,
)
from wattline.model.kernel import Kernel
from wattline.model.kernel_cache import cache_folder, digest, package_of, packages, state_name
from wattline.model.kernel_inner import INNER_OPTIONS, InnerResults
from wattline.model.user_cache import say_nothing_is_kept
from wattline.model.waiting import Wait

LONG = ("wattline.engine.loop", "wattline.shared_nodes.")
"""Where the kernels are that contain all others of a run."""
OBJECTS_MADE = 50_000
"""So many more objects than before, and Python looks for garbage among them."""

numba.config.CPU_NAME, numba.config.CPU_FEATURES = "generic", ""


class _Announcement(event.Listener):  # type: ignore[misc]
    """numba tells it of every kernel that it compiles because it is not found on disk."""

    def __init__(self) -> None:
        self._wait = Wait()
        self._told_of_parts = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if module.startswith(LONG):
            shared = module.startswith("wattline.shared_nodes.")
            while before_compiling:
                before_compiling.pop()(
                    kernel_cache.announced(COMPILING_SHARED if shared else COMPILING))
        # The reader, and what it is made of, takes a second: not worth a word.
        elif not module.startswith(("numba.", "wattline.traces.")) and not self._told_of_parts:
            self._told_of_parts = True
            for tell in before_compiling:
                tell(kernel_cache.announced(COMPILING_PART))
        self._wait.begin()

    def on_end(self, event: Any) -> None:
        self._wait.end()


class _Collector(event.Listener):  # type: ignore[misc]
    """Lets Python look for garbage less often while kernels are compiled.

    numba makes objects by the million and most of them stay; looking through them again and again
    took a seventh of the time.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._before = gc.get_threshold()

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._before = gc.get_threshold()
            gc.set_threshold(OBJECTS_MADE, *self._before[1:])
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._before)


event.register("numba:compile", _Announcement())
event.register("numba:compile", _Collector())


@typeof_impl.register(Kernel)
def _typeof_kernel(value: Kernel, context: Any) -> Any:
    """A kernel that another one calls."""
    return types.Dispatcher(value.inner)


def dispatcher_of(function: Any, options: dict[str, Any]) -> Any:
    """What numba calls a kernel by; later processes find what it is compiled to."""
    made = numba.njit(**options)(function)
    made._cache = KernelCache(function, options["_nrt"])
    return made


def inner_dispatcher_of(function: Any, options: dict[str, Any]) -> Any:
    """The same for calls from other kernels."""
    made = numba.njit(**options, **INNER_OPTIONS)(function)
    made._cache = KernelCache(function, options["_nrt"], InnerResults)
    return made


class _Place:
    """Where numba keeps a kernel's files: by its module's name, not by its file's path and time.

    What the sources are is said by the folder's name; of a kernel from elsewhere, by its own file.
    """

    def __init__(self, folder: Path, function: Any) -> None:
        self._folder = folder / function.__module__
        self._line = function.__code__.co_firstlineno
        self._stamp = "" if package_of(function) in packages() else _own_file(function)
        self._py_file = function.__code__.co_filename
        """What numba names where it warns that a kernel cannot be kept (it holds an address)."""

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
    write over the other's code, and the index would hand it out under the wrong name. And where it
    cannot be read, numba would give up.
    """

    def _load_index(self) -> dict[Any, Any]:
        try:
            found: dict[Any, Any] = super()._load_index()
        except OSError:
            return {}
        return found

    def save(self, key: Any, data: Any) -> None:
        name = self._data_name_pattern.replace("{number:d}", uuid.uuid4().hex)
        self._save_data(name, data)
        with Path(self._index_path + ".lock").open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._save_index(self._load_index() | {key: name})


class _Files(FunctionCache):  # type: ignore[misc]
    """numba's files of one kernel in one folder."""

    def __init__(self, folder: Path, function: Any, results: type) -> None:
        class Kept(results):  # type: ignore[misc]
            def __init__(self, function: Any) -> None:
                self._lineno = function.__code__.co_firstlineno
                self._locator = _Place(folder, function)
                kind = "inner" if results is InnerResults else ""
                self._filename_base = self.get_filename_base(function.__qualname__, kind)

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

    def __init__(
        self, function: Any, counts_references: bool, results: type = CompileResultCacheImpl
    ) -> None:
        self._function = function
        self._counts_references = counts_references
        self._results = results

    @cached_property
    def _own(self) -> _Files:
        return _Files(cache_folder(), self._function, self._results)

    @cached_property
    def _shipped(self) -> _Files | None:
        folder = kernel_cache.SHIPPED / state_name()
        return _Files(folder, self._function, self._results) if folder.is_dir() else None

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
        if not self._is_kept(sig):
            return
        try:
            self._own.save_overload(sig, data)
        except OSError as error:  # it is called from memory then
            say_nothing_is_kept(error)

    def _is_kept(self, sig: Any) -> bool:
        return Path(self._function.__code__.co_filename).is_file() and _is_lasting(sig)


def _own_file(function: Any) -> str:
    path = Path(function.__code__.co_filename)
    return digest([str(path).encode(), path.read_bytes()])


def _is_lasting(argument_types: Iterable[Any]) -> bool:
    """Whether all policies among the arguments come from packages whose sources are watched."""
    for each in argument_types:
        policy = getattr(each, "instance_class", None)
        if policy is not None and package_of(policy) not in packages():
            return False
        if not _is_lasting(getattr(each, "types", ())):
            return False
    return True
