"""Time over the node count: the best measured times themselves, or a straight line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.configurations import Configuration, ConfigurationTable
from wattline.physics.overprovisioning import best_by_nodes


class Curve(Protocol):
    """What a comparison of machines asks: times at node counts, under a power budget."""

    def under(self, power_w: float, idle_w: float = 0.0) -> Curve:
        """The curve of another budget, and of nodes that draw this when they are left idle."""

    def time_s(self, nodes: int) -> float:
        """The time on so many nodes of the older generation; refused where it is not known."""

    def steps_w(self, nodes: int) -> FloatArray:
        """Budgets at which the time on so many nodes changes."""


@dataclass(frozen=True)
class Scaling:
    """Time as a line over the node count, on nodes of the older generation."""

    slope_s: float
    intercept_s: float
    nodes_max: int = 48
    """Up to which node count the line is believed."""
    nodes_min: int = 1
    """From which on."""

    def under(self, power_w: float, idle_w: float = 0.0) -> Scaling:
        """The line itself: it knows nothing of the budget."""
        return self

    def at(self, nodes: int) -> float:
        return self.slope_s * nodes + self.intercept_s

    def time_s(self, nodes: int) -> float:
        if not self.nodes_min <= nodes <= self.nodes_max:
            reach = f"up to {self.nodes_max}" if self.nodes_min == 1 else (
                f"from {self.nodes_min} to {self.nodes_max}")
            raise InputError(f"the scaling line is valid {reach} nodes, the machine would have "
                             f"{nodes}; if you know a line that holds there, give it with "
                             "--scaling M,B and --nodes-valid")
        if self.at(nodes) <= 0:
            raise InputError(f"the scaling line gives {self.at(nodes):g} s at {nodes} nodes, a "
                             "time must be above 0: the line does not hold there")
        return self.at(nodes)

    def steps_w(self, nodes: int) -> FloatArray:
        return np.array([])


# The lines behind table 4.9, through the two times that it prints for each application. Table 4.8
# gives the same with fewer digits, except for SP-MZ: its -0.112 and 7.00 do not lead to the times
# that table 4.9 prints for it (3.64 and 3.64 s, not 3.51 and 3.61).
PUBLISHED: Mapping[str, Scaling] = {
    "SPhot": Scaling(-1.114475, 73.07425),
    "SP-MZ": Scaling(-0.119600, 7.098000),
    "BT-MZ": Scaling(-0.069715, 8.501450),
    "LU-MZ": Scaling(-0.542032, 25.920960),
}


@dataclass(frozen=True, eq=False)
class BestTimes:
    """The best time at each node count of a table under a budget, and between them.

    Times fall like powers of the node count, so between two counts a power is drawn through both.
    Nodes that a configuration does not use draw their idle power out of the same budget.
    """

    table: ConfigurationTable
    """Its watts are those of the budget."""
    power_w: float
    idle_w: float = 0.0
    """Of a node that is left idle."""

    @cached_property
    def best(self) -> tuple[Configuration, ...]:
        found = tuple(best_by_nodes(self.table, self.power_w))
        if not found:
            raise InputError(f"no configuration of '{self.table.application}' is within "
                             f"{self.power_w:g} W")
        return found

    def under(self, power_w: float, idle_w: float = 0.0) -> BestTimes:
        if (power_w, idle_w) == (self.power_w, self.idle_w):
            return self
        return BestTimes(self.table, power_w, idle_w)

    def time_s(self, nodes: int) -> float:
        known = [one.nodes for one in self.best]
        last = int(self.table.nodes.max()) if self.idle_w else known[-1]
        if not known[0] <= nodes <= last:
            raise InputError(f"best times of '{self.table.application}' are known from {known[0]} "
                             f"to {last} nodes, the machine would have {nodes}; measure "
                             "there, or give a line that holds there with --scaling M,B and "
                             "--nodes-valid")
        # Nobody has to use all nodes: a part of them may be faster under the same power.
        found = [one.time_s for one in self._with_idle(nodes)]
        if nodes <= known[-1]:
            logs = np.interp(math.log(nodes), np.log(known),
                             np.log([one.time_s for one in self.best]))
            found.append(math.exp(logs))
        if not found:
            raise InputError(
                f"a machine of {nodes} nodes runs no configuration of '{self.table.application}' "
                f"within {self.power_w:,.0f} W: those that it leaves idle draw {self.idle_w:g} W "
                f"each, and no {nodes} nodes run within it")
        return min(found)

    def _with_idle(self, nodes: int) -> list[Configuration]:
        """The best configurations of at most so many nodes, beside the others of them idle."""
        if not self.idle_w:
            return [one for one in self.best if one.nodes <= nodes]
        fits = self.table.nodes <= nodes
        fits &= self.table.power_w + (nodes - self.table.nodes) * self.idle_w <= self.power_w
        return best_by_nodes(self.table.take(fits), self.power_w) if fits.any() else []

    def steps_w(self, nodes: int) -> FloatArray:
        unused = np.maximum(nodes - self.table.nodes, 0)
        return np.unique([self.table.power_w, self.table.power_w + unused * self.idle_w])


@dataclass(frozen=True)
class DrawnLine:
    """A scaling line through best times, and how far it is from them at the worst."""

    scaling: Scaling
    deviation: float
    """Largest distance of the line from a time that it was drawn through, as a part of it."""
    deviation_nodes: int
    """Where that is."""


def fit_scaling(best_by_nodes: Iterable[Configuration]) -> DrawnLine:
    """The line through the best time at each node count, valid between the outermost of them."""
    found = list(best_by_nodes)
    if len(found) < 2:
        raise InputError("a scaling line needs at least two node counts under the bound")
    nodes = [c.nodes for c in found]
    slope, intercept = np.polyfit(nodes, [c.time_s for c in found], 1)
    line = Scaling(float(slope), float(intercept), max(nodes), min(nodes))
    off = [abs(line.at(c.nodes) / c.time_s - 1.0) for c in found]
    worst = int(np.argmax(off))
    return DrawnLine(line, off[worst], nodes[worst])
