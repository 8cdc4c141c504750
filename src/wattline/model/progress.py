"""How long work says how far it has come."""

from __future__ import annotations

from typing import Protocol


class Advance(Protocol):
    """Call it with how far the work has come, from 0 to 1."""

    def __call__(self, fraction: float) -> None: ...


def silent(fraction: float) -> None:
    """Nobody wants to know."""
