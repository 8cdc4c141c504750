"""Cells of tables that others wrote, and whether they say anything."""

from __future__ import annotations

import math
from datetime import datetime

Cell = str | float | int | datetime | None

LARGEST = float(2**53)
"""Above this a double no longer tells neighbouring whole numbers apart."""

_MISSING = frozenset({"", "unknown", "none", "null", "nan", "n/a", "na", "nat", "unlimited",
                      "partition_limit", "invalid", "not_set", "-"})


def is_missing(cell: Cell) -> bool:
    """Whether a cell says nothing."""
    if cell is None:
        return True
    if isinstance(cell, str):
        if cell[:1].isdigit():
            return False
        return cell.strip().lower() in _MISSING
    return isinstance(cell, float) and math.isnan(cell)
