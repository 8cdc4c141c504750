"""No control cycle."""

from __future__ import annotations

from typing import NamedTuple


class NoRegulation(NamedTuple):
    """The machine follows no signal."""
