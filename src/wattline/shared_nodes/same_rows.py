"""Rows of tables that are equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.shared_nodes.machine import IntArray


def same_rows(*columns: Any) -> tuple[IntArray, IntArray]:
    """Rows with equal columns get the same number; and a row of each number."""
    table = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
    table = np.ascontiguousarray(np.nan_to_num(table, nan=-1.0))
    whole = table.view([("", np.float64)] * table.shape[1]).ravel()
    _, first, number = np.unique(whole, return_index=True, return_inverse=True)
    return number.astype(np.int64).ravel(), first
