"""The best configuration under a power bound, and the ones it is measured against.

Chapter 3 and section 4.2 of the overprovisioning study: a bound in watts can be spent on few nodes
with everything switched on, or on more nodes with fewer cores and a lower cap. The four canonical
configurations are what one would do without looking: all cores, or whatever can be counted on a
node (packed), or the fewest (spread), at the highest or the lowest caps, on as many nodes as the
bound allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.configurations import Configuration, ConfigurationTable
from wattline.physics.devices import RatedNode, rate_node


@dataclass(frozen=True)
class ConfigurationChoice:
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
    """Which of the names are None because the table has no row of their settings."""
    node_power_w_max: float | None = None
    """What the worst case takes for a node; None where it is not known."""

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


def choose(
    table: ConfigurationTable, bound_w: float, *, node_power_w: float | None = None,
    node: RatedNode | None = None, best: Configuration | None = None,
    unused_w: FloatArray | float = 0.0,
) -> ConfigurationChoice:
    """The best configuration of a table under a bound, with its alternatives.

    `node_power_w` is the highest power of a node; else that of its devices, `node`. `best` is given
    where an index has found it already. `unused_w` is what of each configuration's power the nodes
    draw that it does not use.
    """
    best = best or best_under(table, bound_w)
    if best is None:
        smallest = table.row(int(np.argmin(table.power_w)))
        raise InputError(
            f"a bound of {bound_w:.12g} W is below the smallest configuration of "
            f"'{table.application}': {smallest.label} draws "
            f"{_shown_above(smallest.power_w, bound_w)} W"
            + (" with the nodes that it leaves idle" if np.any(unused_w) else "")
        )
    kinds = {"packed_max": table.extreme(packed=True, fast=True),
             "packed_min": table.extreme(packed=True, fast=False),
             "spread_max": table.extreme(packed=False, fast=True),
             "spread_min": table.extreme(packed=False, fast=False)}
    node = rate_node(table) if node is None else node
    limit_w = None if node.unknown else node.power_w_max
    if node_power_w is not None:
        limit_w = node_power_w
    found = {name: canonical(table, bound_w, wanted) for name, wanted in kinds.items()}
    missing = {name for name, wanted in kinds.items() if not table.set_like(wanted).any()}
    return ConfigurationChoice(
        table.application, bound_w, best, **found,
        worst_case=None if limit_w is None else worst_case(table, bound_w - unused_w, limit_w),
        by_nodes=tuple(best_by_nodes(table, bound_w)),
        not_measured=frozenset(missing | ({"worst_case"} if "packed_max" in missing else set())),
        node_power_w_max=limit_w,
    )


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
    table: ConfigurationTable, bound_w: float, settings: Mapping[str, float]
) -> Configuration | None:
    """These settings on as many nodes as the bound allows."""
    fits = np.flatnonzero(table.set_like(settings) & (table.power_w <= bound_w))
    return table.row(int(fits[np.argmax(table.nodes[fits])])) if fits.size else None


def worst_case(
    table: ConfigurationTable, bound_w: FloatArray | float, node_power_w: float
) -> Configuration | None:
    """All of a node uncapped, on the nodes that could be powered if each drew its rated maximum.

    The bound may be another for each configuration.
    """
    if not node_power_w > 0:
        raise InputError(f"the highest power of a node is {node_power_w:g} W, must be above 0")
    fits = np.flatnonzero(table.set_like(table.extreme(packed=True, fast=True))
                          & (table.nodes * node_power_w <= bound_w))
    return table.row(int(fits[np.argmax(table.nodes[fits])])) if fits.size else None


def best_by_nodes(table: ConfigurationTable, bound_w: float) -> list[Configuration]:
    """The fastest configuration under the bound at each node count that fits."""
    found = []
    for count in np.unique(table.nodes):
        best = best_under(table.take(table.nodes == count), bound_w)
        if best is not None:
            found.append(best)
    return found
