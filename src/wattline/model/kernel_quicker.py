"""numba, spared work that nobody has anything of: an eighth of the time that compiling takes.

Nine tenths of that time are Python, not LLVM, and these few functions are called by the million.
What they answer stays the same, and so do the kernels. One thing is gone: LLVM's lock tells nobody
when it is taken, so the `llvm_lock` timers of numba's metadata stay empty in this process.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import llvmlite.binding as llvm
from numba.core import base, ir
from numba.core.targetconfig import TargetConfig
from numba.core.typing.templates import _OverloadFunctionTemplate

PLAIN_VALUES = frozenset({ir.Loc, str, int, float, bool, type(None)})
"""What most fields of statements hold; there are no variables in them."""


def spare_work() -> None:
    """Once, before anything is compiled."""
    _compare_flags_that_are_set()
    _list_variables_at_once()
    _remember_sizes()
    _leave_out_entrances_for_c()
    llvm.ffi.lib._lock._cblist.clear()  # told all kernels that are being compiled, at each call


def _compare_flags_that_are_set() -> None:
    """Flags are compared for each call in a kernel: all forty by name, those with defaults too."""
    by_name = TargetConfig.__eq__
    of_kind: dict[type, int] = {}

    def equal(self: Any, other: Any) -> Any:
        if type(self) is type(other) and self._values == other._values:
            return True
        return by_name(self, other)

    def same_for_a_kind(self: Any) -> int:
        """As numba has it: the hash is of the names alone."""
        kind = type(self)
        if kind not in of_kind:
            of_kind[kind] = hash(tuple(sorted(self.options)))
        return of_kind[kind]

    TargetConfig.__eq__, TargetConfig.__hash__ = equal, same_for_a_kind


def _list_variables_at_once() -> None:
    """In one list, not in a list for each field."""

    def listed(self: Any, value: Any) -> list[Any]:
        found: list[Any] = []
        gather_variables((value,), found)
        return found

    ir.Inst._rec_list_vars = listed


def gather_variables(values: Iterable[Any], found: list[Any]) -> None:
    """Add the variables among values, and in what they hold, in their order."""
    for value in values:
        if type(value) in PLAIN_VALUES:
            continue
        if isinstance(value, ir.Var):
            found.append(value)
        elif isinstance(value, ir.Inst):
            found += value.list_vars()
        elif isinstance(value, list | tuple):
            gather_variables(value, found)
        elif isinstance(value, dict):
            gather_variables(value.values(), found)


def _remember_sizes() -> None:
    """LLVM is asked for the size of a type by a program of its own, which it has to read."""
    ask = base.BaseContext.get_abi_sizeof
    known: dict[tuple[type, str], int] = {}

    def size(self: Any, kind: Any) -> int:
        name = (type(self), str(kind))
        if name not in known:
            known[name] = ask(self, kind)
        return known[name]

    base.BaseContext.get_abi_sizeof = size


def _leave_out_entrances_for_c() -> None:
    """Of numba's own functions, which kernels call, and C never does."""
    asked = _OverloadFunctionTemplate._get_jit_decorator

    def without(self: Any) -> Any:
        jit = asked(self)
        return lambda **options: jit(**{"no_cfunc_wrapper": True, **options})

    _OverloadFunctionTemplate._get_jit_decorator = without
