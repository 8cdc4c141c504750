"""Kernels of the simulation know their places; those of others may count from the end."""

from __future__ import annotations

import numpy as np
import pytest

from wattline.model.kernel import kernel
from wattline.model.signal import FloatArray

pytestmark = pytest.mark.compiled


@kernel
def _at(values: FloatArray, place: int) -> float:
    return float(values[place])


@pytest.mark.parametrize("place", range(-3, 3))
def test_a_kernel_of_somebody_else_counts_from_either_end(place: int) -> None:
    values = np.array([1.0, 2.0, 4.0])
    assert _at(values, place) == values[place]


def test_names_of_the_rooms_are_those_that_numba_gives() -> None:
    """Else nothing would be compiled without asking."""
    from wattline.engine.looking_back import Fared, Span, look_back
    from wattline.model.kernel_index import OWN

    empty, none = np.empty(0), np.empty(0, dtype=np.int64)
    look_back(empty, empty, np.empty(0, dtype=np.bool_), none, empty, empty, empty,
              Span(0.0, 1.0, 1.0), Fared(empty, empty, empty))
    names = [made.fndesc.llvm_func_name for made in look_back.dispatcher.overloads.values()]
    assert names
    assert all(name.startswith(OWN) for name in names)
