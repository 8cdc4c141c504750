"""Which units are free in the middle of a step, as its events will leave them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from wattline.policies.state import State


@dataclass
class Units:
    """Free units, and nodes where they are chosen; it repeats what `outages.pay_down` does."""

    state: State
    free: int
    reserved: int
    owed: int
    """Out of order and not taken out yet, where units are only counted."""
    unpaid: frozenset[int]
    """The same as nodes, of which no job holds any."""
    opened: frozenset[int] = frozenset()
    """Nodes that became free in this step, and that were taken."""
    taken: frozenset[int] = frozenset()

    @classmethod
    def of(cls, state: State) -> Units:
        clock = state.clock[0]
        unpaid = np.flatnonzero(state.node_down & state.node_free).tolist()
        return cls(state, int(clock.free), int(clock.reserved), int(clock.down_owed),
                   frozenset(unpaid))

    def copy(self) -> Units:
        return replace(self)

    @property
    def most(self) -> int:
        """What a job can be on that runs already: also units that a reservation has."""
        return self.free + self.reserved

    def give_back(self, units: int, nodes: Iterable[int]) -> None:
        """A job leaves; free units that are out of order go out as far as there are any."""
        self.free += units
        if self.state.nodes.size:
            left = frozenset(nodes)
            self.opened, self.taken = self.opened | left, self.taken - left
            self.unpaid |= {node for node in left if self.state.node_down[node]}
            lost = frozenset(sorted(self.unpaid)[: self.free])
            self.unpaid, self.taken = self.unpaid - lost, self.taken | lost
            self.free -= len(lost)
        else:
            lost_units = min(self.free, self.owed)
            self.owed -= lost_units
            self.free -= lost_units

    def busy(self, nodes: Iterable[int]) -> list[int]:
        return [node for node in nodes if node in self.taken
                or not (self.state.node_free[node] or node in self.opened)]

    def take(self, units: int, nodes: Iterable[int]) -> None:
        """A job is on units: those that are free, then those of reservations."""
        lent = max(units - self.free, 0)
        self.reserved -= lent
        self.free -= units - lent
        if self.state.nodes.size:
            self.taken |= frozenset(nodes)
            self.unpaid -= frozenset(nodes)
