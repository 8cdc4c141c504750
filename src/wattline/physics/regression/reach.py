"""How far outside its training a model is asked, and what is then made of its answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

FURTHEST = 2.0
"""Beyond this factor of what was measured a model is not asked without the user's word."""


@dataclass(frozen=True)
class Outside:
    """One of nodes, cores and cap that lies outside the range of the training."""

    name: str
    value: float
    trained_from: float
    trained_to: float

    @property
    def factor(self) -> float:
        """By how many times: 1.5 is half as much again as the most, or two thirds of the least."""
        return max(self.value / self.trained_to, self.trained_from / self.value)

    def __str__(self) -> str:
        side = "below the least" if self.value < self.trained_from else "above the most"
        return (f"{self.name} {self.value:g} is outside by {self.factor:.3g} times ({side}; "
                f"trained from {self.trained_from:g} to {self.trained_to:g})")

    def as_dict(self) -> dict[str, float]:
        return {"value": self.value, "trained_from": self.trained_from,
                "trained_to": self.trained_to, "factor": self.factor}


def outside_of(name: str, value: float, levels: Sequence[float]) -> list[Outside]:
    """The value, where it is outside these levels."""
    low, high = float(min(levels)), float(max(levels))
    return [] if low <= value <= high else [Outside(name, value, low, high)]


def widening(outside: Sequence[Outside]) -> float:
    """By what a 90 % interval is widened on each side, in logarithms.

    Time and power go at most about in proportion to nodes, cores and caps, and a model knows
    nothing of how they go on. So each factor outside may be in the answer whole, either way.
    """
    return math.fsum(math.log(one.factor) for one in outside)
