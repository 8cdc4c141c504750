"""What an import touched, and for which therefore facts must be computed anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Entity = tuple[str, str]
"""Cluster and name of a node, or of another thing with a meter."""


@dataclass(frozen=True)
class Touched:
    """Days of nodes whose series changed, and lives that are new or changed.

    >>> (Touched({("a", "n1"): frozenset([3])}) | Touched({("a", "n1"): frozenset([4])})).days
    {('a', 'n1'): frozenset({3, 4})}
    """

    days: Mapping[Entity, frozenset[int]] = field(default_factory=dict)
    """Whole days of Unix time."""
    lives: frozenset[int] = frozenset()

    def __or__(self, other: Touched) -> Touched:
        days = dict(self.days)
        for entity, more in other.days.items():
            days[entity] = days.get(entity, frozenset()) | more
        return Touched(days, self.lives | other.lives)

