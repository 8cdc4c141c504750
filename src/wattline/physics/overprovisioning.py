"""The best configuration under a power bound, and the ones it is measured against.

Chapter 3 and section 4.2 of the overprovisioning study: a bound in watts can be spent on few nodes
with everything switched on, or on more nodes with fewer cores and a lower cap. The four canonical
configurations are what one would do without looking: all cores (packed) or the fewest (spread),
at the highest or the lowest cap, on as many nodes as the bound allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wattline.model.errors import InputError
from wattline.physics.configurations import Configuration, ConfigurationTable

SOCKETS = 2
MEMORY_POWER_W = 30.0
"""Highest memory power of a node, which the study adds to that of its two packages."""


@dataclass(frozen=True)
class Choice:
    """What to run under a bound, beside the alternatives; None where nothing of that kind fits."""

    application: str
    bound_w: float
    best: Configuration
    packed_max: Configuration | None
    packed_min: Configuration | None
    spread_max: Configuration | None
    spread_min: Configuration | None
    worst_case: Configuration | None
    by_nodes: tuple[Configuration, ...]
    """The best configuration at each node count: the degree of overprovisioning."""
    not_measured: frozenset[str] = frozenset()
    """Which of the names are None because the table has no row of their cores and cap."""

    @property
    def named(self) -> dict[str, Configuration | None]:
        return {name: getattr(self, name) for name in NAMES}

    def gain_over(self, other: Configuration | None) -> float | None:
        """By which fraction the best configuration's time is below the other's."""
        return None if other is None else 1.0 - self.best.time_s / other.time_s

    @property
    def worst_case_above_bound(self) -> bool:
        """Whether the worst case breaks the bound: a node draws more than it is rated for."""
        return self.worst_case is not None and self.worst_case.power_w > self.bound_w

    @property
    def degree(self) -> float | None:
        """Nodes of the best configuration for each node of the worst case."""
        return None if self.worst_case is None else self.best.nodes / self.worst_case.nodes


NAMES = ("best", "packed_max", "packed_min", "spread_max", "spread_min", "worst_case")


def node_power_max_w(
    table: ConfigurationTable, sockets: int = SOCKETS, memory_power_w: float = MEMORY_POWER_W
) -> float:
    """What a node can draw at most, by its ratings: every package at the highest cap, and memory.

    With the study's 115 W and 30 W this is 260 W, and 3500 W and 4500 W then power 12 and 16
    nodes (of the even counts that were measured), as it prints.
    """
    return sockets * float(table.cap_w.max()) + memory_power_w


def choose(
    table: ConfigurationTable, bound_w: float, *, node_power_w: float | None = None,
    best: Configuration | None = None,
) -> Choice:
    """The best configuration of a table under a bound, with its alternatives.

    `best` is given where an index has found it already.
    """
    best = best or best_under(table, bound_w)
    if best is None:
        smallest = table.row(int(np.argmin(table.power_w)))
        raise InputError(
            f"a bound of {bound_w:.12g} W is below the smallest configuration of "
            f"'{table.application}': {smallest.label} draws "
            f"{_shown_above(smallest.power_w, bound_w)} W"
        )
    most, fewest = int(table.cores.max()), int(table.cores.min())
    high, low = float(table.cap_w.max()), float(table.cap_w.min())
    kinds = {"packed_max": (most, high), "packed_min": (most, low), "spread_max": (fewest, high),
             "spread_min": (fewest, low), "worst_case": (most, high)}
    limit_w = node_power_max_w(table) if node_power_w is None else node_power_w
    return Choice(
        table.application,
        bound_w,
        best,
        packed_max=canonical(table, bound_w, *kinds["packed_max"]),
        packed_min=canonical(table, bound_w, *kinds["packed_min"]),
        spread_max=canonical(table, bound_w, *kinds["spread_max"]),
        spread_min=canonical(table, bound_w, *kinds["spread_min"]),
        worst_case=worst_case(table, bound_w, limit_w),
        by_nodes=tuple(best_by_nodes(table, bound_w)),
        not_measured=frozenset(name for name, (cores, cap_w) in kinds.items()
                               if not _rows(table, cores, cap_w).any()),
    )


def _rows(table: ConfigurationTable, cores: int, cap_w: float) -> NDArray[np.bool_]:
    rows: NDArray[np.bool_] = (table.cores == cores) & (table.cap_w == cap_w)
    return rows


def _shown_above(power_w: float, bound_w: float) -> str:
    """A power above a bound, with as many digits as it takes to see that."""
    texts = (f"{power_w:.{digits}f}" for digits in range(17))
    return next((text for text in texts if float(text) > bound_w), repr(power_w))


def best_under(table: ConfigurationTable, bound_w: float) -> Configuration | None:
    """The fastest configuration that draws no more than the bound; of equals the thriftiest."""
    fits = np.flatnonzero(table.power_w <= bound_w)
    if not fits.size:
        return None
    order = np.lexsort((table.power_w[fits], table.time_s[fits]))
    return table.row(int(fits[order[0]]))


def canonical(
    table: ConfigurationTable, bound_w: float, cores: int, cap_w: float
) -> Configuration | None:
    """These cores and this cap on as many nodes as the bound allows."""
    fits = np.flatnonzero(_rows(table, cores, cap_w) & (table.power_w <= bound_w))
    return table.row(int(fits[np.argmax(table.nodes[fits])])) if fits.size else None


def worst_case(
    table: ConfigurationTable, bound_w: float, node_power_w: float
) -> Configuration | None:
    """All cores uncapped on the nodes that could be powered if each drew its rated maximum."""
    if not node_power_w > 0:
        raise InputError(f"the highest power of a node is {node_power_w:g} W, must be above 0")
    fits = np.flatnonzero(
        _rows(table, int(table.cores.max()), float(table.cap_w.max()))
        & (table.nodes * node_power_w <= bound_w)
    )
    return table.row(int(fits[np.argmax(table.nodes[fits])])) if fits.size else None


def best_by_nodes(table: ConfigurationTable, bound_w: float) -> list[Configuration]:
    """The fastest configuration under the bound at each node count that fits."""
    found = []
    for count in np.unique(table.nodes):
        best = best_under(table.take(table.nodes == count), bound_w)
        if best is not None:
            found.append(best)
    return found
