"""Machine code of kernels called without numba, which takes longer to load than most commands run.

Beside what numba keeps for itself, the code of a kernel that Python calls is kept as it is: an
object file that needs nothing but Python's own functions and a few of numba's helpers, with a line
of JSON before it. llvmlite alone loads it. Where anything else would be needed, and where code or
arguments are not known here, nothing is kept or found, and numba is asked as ever.
"""

from __future__ import annotations

import builtins
import ctypes
import hashlib
import importlib.util
import json
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder
from pathlib import Path
from typing import Any

import numpy as np

from wattline.model import kernel_cache
from wattline.model.kernel_cache import cache_folder, digest, package_of, packages, state_name
from wattline.model.object_file import undefined
from wattline.model.user_cache import say_nothing_is_kept

HELPERS = ("adapt_ndarray", "do_raise", "runtime_build_excinfo_struct", "unpickle")
"""What kernels call of numba's, by its names for it."""
LARGEST_KEPT_BYTES = 32 * 2**20 - 8192
"""Just below the largest block by whose size the C library learns which ones come back."""


def described(value: Any) -> str | None:
    """The type of an argument as numba tells types apart, or finer; None for what it may not know.

    Of classes only those are known whose sources have a part in the name of the folder.
    """
    kind = type(value)
    if kind is int:
        return "int" if -(2**63) <= value < 2**63 else None
    if kind in (float, bool):
        return str(kind.__name__)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return str(value.dtype.str) if value.dtype.kind in "biuf" else None
    if isinstance(value, tuple):
        return _tuple(value)
    if "_address" in getattr(value, "__dict__", {}):  # KernelArrays
        known: dict[str, Any] = value.__dict__["_types"]
        if "described" not in known:
            known["described"] = _bundle(value)
        return str(known["described"])
    return None


def _array(array: Any) -> str:
    flags = array.flags
    order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    can = f"{'w' if flags.writeable else 'r'}{'a' if flags.aligned else 'u'}"
    return f"{type(array).__name__}({_dtype(array.dtype)},{array.ndim}{order}{can})"


@cache
def _dtype(dtype: Any) -> str:
    return f"{dtype!r},{dtype.itemsize}"


def _tuple(values: tuple[Any, ...]) -> str | None:
    kind = type(values)
    if kind is not tuple and package_of(kind) not in packages():
        return None
    parts = [described(value) for value in values]
    if None in parts:
        return None
    return f"{_class(kind)}({','.join(map(str, parts))})"


def _bundle(arrays: Any) -> str:
    parts = (f"{name}={_array(getattr(arrays, name))}" for name in arrays.FIELDS)
    return f"{_class(type(arrays))}({','.join(parts)})"


def _class(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def find(function: Any, types: str) -> Callable[..., Any] | None:
    """The code of a kernel for arguments of these types, ready to be called."""
    if package_of(function) not in packages():
        return None
    for folder in (kernel_cache.SHIPPED / state_name(), cache_folder()):
        # Whatever is wrong with it, numba does without.
        with suppress(ImportError, KeyError, OSError, RuntimeError, ValueError):
            said, _, code = (folder / _name(function, types)).read_bytes().partition(b"\n")
            header = json.loads(said)
            if header["types"] == types and header["digest"] == hashlib.sha256(code).hexdigest():
                return _loaded(code, header)
    return None


def keep(function: Any, arguments: tuple[Any, ...], dispatcher: Any) -> None:
    """Keep the code that numba just made for these arguments, where it can be called without it."""
    types = described(arguments)
    if types is None or package_of(function) not in packages():
        return
    made = dispatcher.overloads.get(tuple(map(dispatcher.typeof_pyval, arguments)))
    code = getattr(getattr(made, "library", None), "_compiled_object", None)
    if not code:
        return  # found on disk, not made here
    environments = [made.environment, *made._find_referenced_environments()]
    if any(each.consts for each in environments) or not _is_callable_alone(code):
        return
    header = {"types": types, "digest": hashlib.sha256(code).hexdigest(),
              "wrapper": made.fndesc.llvm_cpython_wrapper_name,
              "environments": sorted({each.env_name for each in environments})}
    path = cache_folder() / _name(function, types)
    part = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(json.dumps(header).encode() + b"\n" + code)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)  # half of it, on a full disk
        say_nothing_is_kept(error)


def _name(function: Any, types: str) -> str:
    line = function.__code__.co_firstlineno
    return f"{function.__module__}/{function.__qualname__}-{line}.{digest([types.encode()])}.code"


def _is_callable_alone(code: bytes) -> bool:
    """Whether all that it calls is there without numba; what is not would end the process."""
    names = undefined(code)
    there = ctypes.CDLL(None)
    helpers = {f"numba_{name}" for name in HELPERS}
    return names is not None and all(
        name in helpers or name in _symbols() or hasattr(there, name) for name in names)


def _symbols() -> dict[str, int]:
    """Python's objects that code takes the address of, by the names that numba gives them."""
    errors = (each for each in vars(builtins).values()
              if isinstance(each, type) and issubclass(each, BaseException))
    return {"_Py_NoneStruct": id(None)} | {f"PyExc_{each.__name__}": id(each) for each in errors}


def get_ready() -> None:
    """Load what loads code, for whoever knows that code will be wanted."""
    with suppress(ImportError, KeyError, OSError, RuntimeError):
        _engine()


@cache
def _engine() -> tuple[Any, Any]:
    """llvmlite and its loader of object files, which knows what code calls."""
    import llvmlite.binding as llvm

    _keep_freed_memory()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, address in _symbols().items():
        llvm.add_symbol(name, address)
    helpers = _helpers()
    for name in HELPERS:
        llvm.add_symbol(f"numba_{name}", helpers[name])
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm, llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def _keep_freed_memory() -> None:
    """Let the C library keep the arrays of one run for the next.

    It gives memory back to the system until it has seen a block of that size freed; each run then
    touched all its pages anew, a tenth of its time. In a process with numba what numba holds above
    the arrays keeps them. Nothing is written to the block, so that it costs nothing.
    """
    np.empty(LARGEST_KEPT_BYTES, dtype=np.uint8)


def _helpers() -> dict[str, int]:
    """Where numba's helpers lie: they are in a library that needs nothing else of numba."""
    folder = Path(str(importlib.util.find_spec("numba").origin)).parent  # type: ignore[union-attr]
    finder = FileFinder(str(folder), (ExtensionFileLoader, EXTENSION_SUFFIXES))
    spec = finder.find_spec("_helperlib")
    if spec is None:
        raise ImportError("numba has no _helperlib")
    library = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(library)  # type: ignore[union-attr]
    helpers: dict[str, int] = library.c_helpers
    return helpers


_NO_CONSTANTS = ctypes.create_string_buffer(256)
"""In the place of numba's environments, which hold objects for kernels that use any."""


def _loaded(code: bytes, header: dict[str, Any]) -> Callable[..., Any]:
    llvm, engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    for name in header["environments"]:
        place = engine.get_global_value_address(name)
        if place:
            ctypes.c_void_p.from_address(place).value = ctypes.addressof(_NO_CONSTANTS)
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    call: Callable[..., Any] = kind(engine.get_function_address(header["wrapper"]))
    return call
