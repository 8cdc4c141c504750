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

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from wattline.model import before_compiling

PLAIN = os.environ.get("WATTLINE_PLAIN", "") not in ("", "0")

# Kernels never allocate, so they need no reference counts (`_nrt`), which made them ten times
# slower when arrays were handed from kernel to kernel. Division by zero gives infinity, as in
# numpy.
JIT_OPTIONS: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True
}

F = TypeVar("F", bound=Callable[..., Any])

if not PLAIN:
    # numba looks for SciPy's BLAS, in case a kernel multiplies matrices, and for the coverage
    # tool; kernels need neither, and loading them would be a tenth of the time of a short command.
    not_needed = [name for name in ("scipy.linalg.cython_blas", "coverage")
                  if name not in sys.modules]
    sys.modules.update(dict.fromkeys(not_needed))  # type: ignore[arg-type]
    import numba
    import numba.np.arraymath
    from numba.core import event
    from numba.extending import overload, register_jitable

    for name in not_needed:
        del sys.modules[name]

    from wattline.model.kernel_cache import keep_on_disk
    from wattline.model.waiting import Wait

    class _Announcement(event.Listener):  # type: ignore[misc]
        """numba tells it of every kernel that it compiles because it is not found on disk."""

        def __init__(self) -> None:
            self._wait = Wait()

        def on_start(self, event: Any) -> None:
            module = event.data["dispatcher"].py_func.__module__
            # The reader, and what it is made of, takes a second: not worth a word.
            if not module.startswith(("numba.", "wattline.traces.")):
                while before_compiling:
                    before_compiling.pop()()
            self._wait.begin()

        def on_end(self, event: Any) -> None:
            self._wait.end()

    event.register("numba:compile", _Announcement())


def kernel(function: F) -> F:
    """Compile on first call, cached on disk; in plain mode, the function itself."""
    if PLAIN:
        return function
    compiled: F = keep_on_disk(numba.njit(**JIT_OPTIONS)(function))
    return compiled


def is_compiled(function: Any, *arguments: Any) -> bool:
    """Whether a call of this kernel would begin at once, without compiling it first."""
    if PLAIN:
        return True
    types = tuple(numba.typeof(argument) for argument in arguments)
    if types in function.overloads:
        return True
    return bool(function._cache.knows(types, function.targetctx))


def kernel_part(function: F) -> F:
    """A part of kernels, compiled into each that calls it; called from Python it runs as it is.

    For functions that take a composition of policies: each combination compiles its own, so there
    is nothing to share on disk, and the entrance from Python that a kernel has takes as long to
    compile as the function itself.
    """
    if PLAIN:
        return function
    part: F = register_jitable(**JIT_OPTIONS)(function)
    return part


def array_kernel(function: F) -> F:
    """Like `kernel`, for functions that make arrays; they are called from plain code only."""
    if PLAIN:
        return function
    options = {**JIT_OPTIONS, "_nrt": True}
    compiled: F = keep_on_disk(numba.njit(**options)(function))
    return compiled


def constants(count: int) -> Any:
    """Numbers from 0 on, to give names to in a module of kernels.

    They are numpy's integers: for each Python integer that a kernel is called with, numba would
    compile the kernel once more.
    """
    return np.arange(count)


class Slot:
    """A point where a compiled caller calls a policy; see the module's text.

    Make one with `slot`, use the function it returns in kernels, and register implementations
    with `implement`.
    """

    def __init__(self, declaration: Callable[..., Any], position: int, default: bool) -> None:
        self.name = declaration.__name__
        self.position = position
        self.arguments = _argument_names(declaration)
        self.implementations: dict[type, Callable[..., Any]] = {}
        self.default = kernel(declaration) if default else None

    def find(self, parameters: type) -> Callable[..., Any]:
        found = self.implementations.get(parameters, self.default)
        if found is None:
            raise TypeError(f"no {self.name} is registered for {parameters.__name__}")
        return found


_slots: dict[Callable[..., Any], Slot] = {}


def slot(position: int, *, default: bool = False) -> Callable[[F], F]:
    """Make a function a slot that dispatches on its argument at `position`.

    Its signature and its text are the contract. With `default`, its body is what happens for types
    that registered nothing; otherwise the body is never run.
    """

    def decorate(declaration: F) -> F:
        found = Slot(declaration, position, default)

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

    found = _slots[slot_function]

    def decorate(function: F) -> F:
        if _argument_names(function) != found.arguments:
            raise TypeError(f"{found.name} takes {found.arguments}: {function} must do so too")
        found.implementations[parameters] = function
        return function

    return decorate


def _overload(call: Callable[..., Any], found: Slot, declaration: Callable[..., Any]) -> None:
    """Tell numba how to resolve a call of the slot from a kernel."""

    def resolve(*argument_types: Any) -> Callable[..., Any]:
        chosen = argument_types[found.position]
        parameters = getattr(chosen, "instance_class", None)
        if parameters is None:
            raise TypeError(f"{found.name} takes a NamedTuple of parameters, not {chosen}")
        implementation: Any = found.find(parameters)
        plain: Callable[..., Any] = getattr(implementation, "py_func", implementation)
        return plain

    # numba wants the very argument names in the function that resolves.
    names = ", ".join(_argument_names(declaration))
    typing = eval(f"lambda {names}: resolve({names})", {"resolve": resolve})
    overload(call, jit_options=JIT_OPTIONS, strict=False)(typing)


def _argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    code = getattr(function, "py_func", function).__code__
    return tuple(code.co_varnames[: code.co_argcount])
