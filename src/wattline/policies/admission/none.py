"""No power limit: every job that fits in units may start."""

from __future__ import annotations

from typing import NamedTuple


class NoLimit(NamedTuple):
    """Power is measured, not limited."""
