"""A policy is a value: a run starts from copies of its arrays, and leaves those as they were."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.books import Books
from wattline.policies.contract import Composition


def fresh(policy: Composition) -> Composition:
    """The same policy with arrays of its own; what two of its axes share they share here too.

    Arrays that cannot be written are not copied.
    """
    made: Composition = _own(policy, {})
    return made


def _own(value: Any, known: dict[int, Any]) -> Any:
    if id(value) not in known:
        known[id(value)] = _made(value, known)
    return known[id(value)]


def _made(value: Any, known: dict[int, Any]) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy(order="K") if value.flags.writeable else value
    if isinstance(value, Books):
        return value.with_arrays(
            **{name: _own(getattr(value, name), known) for name in value.FIELDS}
        )
    if isinstance(value, tuple):
        parts = [_own(part, known) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value
