"""What numba is spared while it compiles changes none of its answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wattline.model.kernel import load_compiler

pytestmark = pytest.mark.compiled


@pytest.fixture(autouse=True)
def _loaded() -> None:
    load_compiler()


def by_definition(value: Any) -> list[Any]:
    """Variables of a part of a program, as numba lists them."""
    from numba.core import ir

    if isinstance(value, ir.Var):
        return [value]
    if isinstance(value, ir.Stmt):
        return by_definition(value.__dict__)
    if isinstance(value, ir.Expr):
        return by_definition(value._kws)
    if isinstance(value, dict):
        return by_definition(list(value.values()))
    if isinstance(value, list | tuple):
        return [each for part in value for each in by_definition(part)]
    return []


def sample(values: Any, limit: int, *rest: Any, scale: float = 2.0) -> Any:
    total = 0.0
    for place in range(limit):
        if values[place] > total and place != limit - 1:
            values[place] = max(values[place], scale) * rest[0]
        total += values[place, ...].sum() + np.sqrt(scale)
    return total, [limit, total], {"scale": scale}


def test_variables_are_those_of_the_definition_in_their_order() -> None:
    from numba.core.compiler import run_frontend

    statements = [each for block in run_frontend(sample).blocks.values() for each in block.body]
    assert len(statements) > 40
    listed = [[var.name for var in each.list_vars()] for each in statements]
    assert listed == [[var.name for var in by_definition(each)] for each in statements]
    assert max(map(len, listed)) > 2


def test_flags_are_equal_where_all_their_values_are() -> None:
    from numba.core.compiler import Flags

    one, two = Flags(), Flags()
    assert one == two
    one.nrt = not one.nrt
    assert one != two
    assert hash(one) == hash(two)  # as by numba: they are told apart by comparing
    two.nrt = one.nrt
    assert one == two
    two.boundscheck = two.boundscheck  # set, to what it is without
    assert one == two
    assert one != "flags"


def test_sizes_are_those_of_llvm() -> None:
    from llvmlite import ir
    from numba.core.registry import cpu_target

    context = cpu_target.target_context
    byte, word = ir.IntType(8), ir.IntType(64)
    kinds = [byte, word, word.as_pointer(), ir.ArrayType(byte, 3),
             ir.LiteralStructType([byte, word]), ir.LiteralStructType([byte, byte])]
    for _ in range(2):
        assert [context.get_abi_sizeof(kind) for kind in kinds] == [
            kind.get_abi_size(context.target_data) for kind in kinds] == [1, 8, 8, 3, 16, 2]


def test_functions_of_numba_are_compiled_without_an_entrance_for_c() -> None:
    import numba

    @numba.njit
    def largest(values: Any) -> Any:
        return max(values[0], values[1])

    assert largest(np.array([3.0, 4.0])) == 4.0
    (template,) = [template for template in cpu_templates(max)
                   if template._overload_func.__name__ == "ol_max"]
    made = [dispatcher for dispatcher, _ in template._impl_cache.values() if dispatcher]
    assert made
    assert all(each.targetoptions["no_cfunc_wrapper"] for each in made)


def cpu_templates(function: Any) -> list[Any]:
    from numba.core.registry import cpu_target

    found = cpu_target.typing_context.resolve_value_type(function)
    return [each for each in found.templates if hasattr(each, "_overload_func")]
