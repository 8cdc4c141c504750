"""Answers as JSON has them: no NaN, no infinity, no types of numpy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """The same in lists, tables, texts, finite numbers and null."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


def _array(values: np.ndarray[Any, Any]) -> list[Any]:
    found: list[Any] = values.tolist()
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        return plain(found)  # type: ignore[no-any-return]
    return found
