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
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, update_wrapper
from typing import Any, TypeVar, cast

import numpy as np

from wattline.model import kernel_code

PLAIN = os.environ.get("WATTLINE_PLAIN", "") not in ("", "0")

# Kernels never allocate, so they need no reference counts (`_nrt`), which made them ten times
# slower when arrays were handed from kernel to kernel. Division by zero gives infinity, as in
# numpy.
JIT_OPTIONS: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True
}

F = TypeVar("F", bound=Callable[..., Any])

_untold: list[Callable[[], None]] = []
"""What numba is told of when it is loaded; nothing has to be compiled where all code is known."""


_compiler: list[Any] = []
_loading = threading.RLock()


def is_compiler_loaded() -> bool:
    """Whether numba is there already; then there is nothing to be gained by doing without."""
    return bool(_compiler)


def _tell_compiler(registration: Callable[[], None]) -> None:
    _untold.append(registration)
    if _compiler:
        load_compiler()


def load_compiler() -> Any:
    """numba, which knows all kernels, slots and types that were declared so far."""
    with _loading:
        if not _compiler:
            # numba looks for SciPy's BLAS, in case a kernel multiplies matrices, for the coverage
            # tool, and for colours to say in what did not fit while it tries; kernels need none of
            # them, and they take long to load or to use.
            names = [name for name in ("scipy.linalg.cython_blas", "coverage", "colorama")
                     if name not in sys.modules]
            sys.modules.update(dict.fromkeys(names))  # type: ignore[arg-type]
            from wattline.model import kernel_compiler

            for name in names:
                del sys.modules[name]
            _compiler.append(kernel_compiler)
        while _untold:
            _untold.pop(0)()
    return _compiler[0]


_uncompiled: ContextVar[bool] = ContextVar("uncompiled", default=False)


@contextmanager
def uncompiled(wanted: bool = True) -> Iterator[None]:
    """Within it kernels that Python calls run as plain Python, where they would have to be compiled
    for less work than that takes."""
    before = _uncompiled.set(wanted)
    try:
        yield
    finally:
        _uncompiled.reset(before)


class Kernel:
    """A function that is called compiled.

    Code that is on disk is called at once; numba, which takes a third of a second to load, is
    asked where there is none, and is given its way from then on.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._options = options
        self._known: dict[str, Callable[..., Any]] = {}
        """Code that was loaded without numba, by the types of its arguments."""
        self._made: dict[str, Callable[..., Any]] = {}
        """What numba made or loaded."""

    @cached_property
    def dispatcher(self) -> Any:
        """numba's own object for it, where Python calls it."""
        return load_compiler().dispatcher_of(self.py_func, self._options)

    @cached_property
    def inner(self) -> Any:
        """numba's own object for it, where other kernels call it."""
        return load_compiler().inner_dispatcher_of(self.py_func, self._options)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if _uncompiled.get():
            return self.py_func(*arguments, **named)
        if not named and not is_compiler_loaded():
            code = self.known_code(arguments)
            if code is not None:
                return code(None, arguments, None)
        made = self.dispatcher
        count = len(made.overloads)
        answer = made(*arguments, **named)
        if len(made.overloads) > count:
            kernel_code.keep(self.py_func, arguments, made)
        return answer

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("dispatcher", "inner"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    def __reduce__(self) -> str:
        """To another process goes where it is found."""
        return self.py_func.__qualname__

    def in_memory(self, arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
        """What calls the code for arguments of these types, where it was loaded or made before."""
        types = kernel_code.described(arguments)
        if not is_compiler_loaded():
            code = None if types is None else self._known.get(types)
            return None if code is None else lambda *given: code(None, given, None)
        if types is not None and types in self._made:
            return self._made[types]
        known = self.dispatcher.overloads.get(tuple(map(self.dispatcher.typeof_pyval, arguments)))
        if known is None:
            return None
        found: Callable[..., Any] = known.entry_point
        if types is not None:  # numba takes as long to look at types as a short run takes
            self._made[types] = found
        return found

    def known_code(self, arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
        """Machine code for arguments of these types, where it is on disk."""
        types = kernel_code.described(arguments)
        if types is None:
            return None
        if types not in self._known:
            with _loading:  # by one thread: the same names can't be loaded twice
                found = self._known.get(types) or kernel_code.find(self.py_func, types)
                if found is None:
                    return None
                self._known[types] = found
        return self._known[types]


def kernel(function: F) -> F:
    """Compile on first call, cached on disk; in plain mode, the function itself."""
    if PLAIN:
        return function
    return cast(F, Kernel(function, JIT_OPTIONS))


def is_compiled(function: Any, *arguments: Any) -> bool:
    """Whether a call of this kernel would begin at once, without compiling it first."""
    if PLAIN:
        return True
    if not is_compiler_loaded() and function.known_code(arguments) is not None:
        return True
    made = function.dispatcher
    types = tuple(made.typeof_pyval(argument) for argument in arguments)
    return types in made.overloads or bool(made._cache.knows(types, made.targetctx))


def at_hand(function: Any, *arguments: Any) -> Callable[..., Any] | None:
    """What calls this kernel with arguments of these types, where its code is in memory already;
    None where it has to be loaded or compiled first.

    Who calls it many times with the same types is spared looking at them each time.
    """
    if PLAIN:
        return cast(Callable[..., Any], function)
    found: Callable[..., Any] | None = function.in_memory(arguments)
    return found


def kernel_part(function: F) -> F:
    """A part of kernels, compiled into each that calls it; called from Python it runs as it is.

    For functions that take a composition of policies: each combination compiles its own, so there
    is nothing to share on disk.
    """
    if PLAIN:
        return function
    _tell_compiler(lambda: _register_part(function))
    return function


def _register_part(function: Callable[..., Any]) -> None:
    from numba.extending import register_jitable

    from wattline.model.kernel_inner import INNER_OPTIONS

    register_jitable(**JIT_OPTIONS, **INNER_OPTIONS)(function)


def array_kernel(function: F) -> F:
    """Like `kernel`, for functions that make arrays; they are called from plain code only."""
    if PLAIN:
        return function
    return cast(F, Kernel(function, {**JIT_OPTIONS, "_nrt": True}))


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
        self.chosen = _Chosen(self)
        self.default = kernel(declaration) if default else None

    def find(self, parameters: type) -> Callable[..., Any]:
        found = self.implementations.get(parameters, self.default)
        if found is None:
            raise TypeError(f"no {self.name} is registered for {parameters.__name__}")
        return found


class _Chosen(dict[type, Callable[..., Any]]):
    """What a slot calls for each type of parameters that it was called with so far."""

    def __init__(self, slot: Slot) -> None:
        super().__init__()
        self._slot = slot

    def __missing__(self, parameters: type) -> Callable[..., Any]:
        self[parameters] = self._slot.find(parameters)
        return self[parameters]


_slots: dict[Callable[..., Any], Slot] = {}


def slot(position: int, *, default: bool = False) -> Callable[[F], F]:
    """Make a function a slot that dispatches on its argument at `position`.

    Its signature and its text are the contract. With `default`, its body is what happens for types
    that registered nothing; otherwise the body is never run.
    """

    def decorate(declaration: F) -> F:
        found = Slot(declaration, position, default)
        # With the very arguments, not a tuple of them: plain runs call little else as often.
        names = ", ".join(found.arguments)
        call: Callable[..., Any] = eval(
            f"lambda {names}: chosen[type({found.arguments[position]})]({names})",
            {"chosen": found.chosen})
        call.__module__, call.__name__ = declaration.__module__, declaration.__name__
        call.__doc__ = declaration.__doc__
        _slots[call] = found
        if not PLAIN:
            _tell_compiler(lambda: _overload(call, found, declaration))
        return call  # type: ignore[return-value]

    return decorate


def implement(slot_function: Callable[..., Any], parameters: type) -> Callable[[F], F]:
    """Register a kernel as what `slot_function` does for this type of parameters."""

    found = _slots[slot_function]

    def decorate(function: F) -> F:
        if _argument_names(function) != found.arguments:
            raise TypeError(f"{found.name} takes {found.arguments}: {function} must do so too")
        found.implementations[parameters] = function
        found.chosen.pop(parameters, None)
        return function

    return decorate


def _overload(call: Callable[..., Any], found: Slot, declaration: Callable[..., Any]) -> None:
    """Tell numba how to resolve a call of the slot from a kernel."""
    from numba.extending import overload

    from wattline.model.kernel_inner import INNER_OPTIONS

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
    overload(call, jit_options=JIT_OPTIONS | INNER_OPTIONS, strict=False)(typing)


def _argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    code = getattr(function, "py_func", function).__code__
    return tuple(code.co_varnames[: code.co_argcount])
