"""Compiled kernels: one decorator, and dispatch on the type of a policy's parameters.

`@kernel` compiles a function with numba and keeps the machine code on disk. With the environment
variable `WATTLINE_PLAIN=1` it leaves the function as it is: the plain-Python twin of every kernel,
from the same source, which the property tests hold equal to the compiled one.

`Slot` is how a compiled caller calls a policy it has never heard of. A policy is a NamedTuple of
parameters; an implementation is registered for that type; a call through the slot is resolved by
the type of the parameters when the caller is compiled. So the machine code of the caller is made
once for each combination of policies, has no trace of those that are not used, and is found again
on disk by later processes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

PLAIN = os.environ.get("WATTLINE_PLAIN", "") not in ("", "0")

F = TypeVar("F", bound=Callable[..., Any])

if not PLAIN:
    import numba
    from numba.extending import overload


def kernel(function: F) -> F:
    """Compile on first call, cached on disk; in plain mode, the function itself."""
    if PLAIN:
        return function
    compiled: F = numba.njit(cache=True, nogil=True)(function)
    return compiled


def small_kernel(function: F) -> F:
    """Like `kernel`, for one-liners that are always to be inlined into their caller."""
    if PLAIN:
        return function
    compiled: F = numba.njit(cache=True, nogil=True, inline="always")(function)
    return compiled


class Slot:
    """A point where a compiled caller calls a policy; see the module's text.

    Make one with `slot`, use the function it returns in kernels, and register implementations
    with `implement`.
    """

    def __init__(self, name: str, position: int) -> None:
        self.name = name
        self.position = position
        self.implementations: dict[type, Callable[..., Any]] = {}

    def find(self, parameters: type) -> Callable[..., Any]:
        try:
            return self.implementations[parameters]
        except KeyError:
            raise TypeError(f"no {self.name} is registered for {parameters.__name__}") from None


_slots: dict[Callable[..., Any], Slot] = {}


def slot(position: int) -> Callable[[F], F]:
    """Make a function a slot that dispatches on its argument at `position`.

    The decorated function's body is never run: its signature and its text are the contract.
    """

    def decorate(declaration: F) -> F:
        found = Slot(declaration.__name__, position)

        def call(*arguments: Any) -> Any:
            return found.find(type(arguments[position]))(*arguments)

        call.__name__ = declaration.__name__
        call.__doc__ = declaration.__doc__
        _slots[call] = found
        if not PLAIN:
            _overload(call, found, declaration)
        return call  # type: ignore[return-value]

    return decorate


def implement(slot_function: Callable[..., Any], parameters: type) -> Callable[[F], F]:
    """Register a kernel as what `slot_function` does for this type of parameters."""

    def decorate(function: F) -> F:
        _slots[slot_function].implementations[parameters] = function
        return function

    return decorate


def _overload(call: Callable[..., Any], found: Slot, declaration: Callable[..., Any]) -> None:
    code = declaration.__code__
    names = code.co_varnames[: code.co_argcount]
    signature = ", ".join(names)

    def resolve(*argument_types: Any) -> Callable[..., Any]:
        chosen = argument_types[found.position]
        parameters = getattr(chosen, "instance_class", None)
        if parameters is None:
            raise TypeError(f"{found.name} takes a NamedTuple of parameters, not {chosen}")
        implementation = found.find(parameters)
        scope = {"implementation": implementation}
        made: Callable[..., Any] = eval(  # numba wants the very argument names
            f"lambda {signature}: implementation({signature})", scope
        )
        return made

    typing = eval(f"lambda {signature}: resolve({signature})", {"resolve": resolve})
    overload(call)(typing)


def _cache_folder() -> Path:
    """A folder of its own for each state of the sources.

    numba notices when the file of a kernel changes, not when a kernel that it calls does. So the
    folder's name is a digest of all sources, and an edit anywhere starts afresh.
    """
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for source in sorted(package.rglob("*.py")):
        status = source.stat()
        digest.update(f"{source}:{status.st_mtime_ns}:{status.st_size};".encode())
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "wattline" / digest.hexdigest()[:16]


if not PLAIN and not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(_cache_folder())
