"""Figures 3.4 and 3.5: every application under every bound, in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wattline.model.errors import InputError
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.overprovisioning import ConfigurationChoice, choose

BOUNDS_W = (2500.0, 3000.0, 3500.0, 4000.0, float("inf"))
CANONICAL = ("packed_max", "packed_min", "spread_max", "spread_min")


@dataclass(frozen=True)
class Bounded:
    """One application under one bound; None where no configuration is within it."""

    application: str
    bound_w: float
    choice: ConfigurationChoice | None

    @property
    def speedup(self) -> float | None:
        """How much faster the best is than packed-max, the worst case of figure 3.4."""
        if self.choice is None or self.choice.packed_max is None:
            return None
        return self.choice.packed_max.time_s / self.choice.best.time_s - 1.0

    def beside_best(self, name: str) -> float | None:
        """The performance of a canonical configuration, with that of the best as 1."""
        one = None if self.choice is None else self.choice.named[name]
        return None if one is None or self.choice is None else (
            self.choice.best.time_s / one.time_s)

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"application": self.application,
                                 "bound_w": None if self.bound_w == float("inf") else self.bound_w,
                                 "speedup": self.speedup, "best": None}
        if self.choice is not None:
            found["best"] = self.choice.best.as_dict()
            found |= {name: one and {**one.as_dict(), "beside_best": self.beside_best(name)}
                      for name, one in self.choice.named.items() if name in CANONICAL}
        return found


def bounded(
    tables: Mapping[str, ConfigurationTable], bounds_w: Sequence[float] = BOUNDS_W
) -> list[Bounded]:
    """Every application under every bound."""
    found = []
    for name, table in tables.items():
        for bound_w in bounds_w:
            try:
                choice: ConfigurationChoice | None = choose(table, bound_w)
            except InputError:
                choice = None
            found.append(Bounded(name, bound_w, choice))
    return found
