"""Nodes that jobs have, by their names, and what they would draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from wattline.controller.node_power import NodePower
from wattline.controller.told import Told


class BusyNodes:
    """What whoever meters and caps nodes asks of a watcher."""

    def __init__(self, nodes: Sequence[str], power: NodePower | None = None) -> None:
        self.number = {name: number for number, name in enumerate(nodes)}
        self.names = list(nodes)
        self.power = power or NodePower()
        """What each of them draws, where that is known."""
        self.told: dict[str, Told] = {}
        """By name what the books have been told of jobs."""
        self.off: set[str] = set()
        """Nodes that were switched off from here: out of use, and not out of order."""

    def switched(self, names: Iterable[str], on: bool) -> None:
        """Nodes were told to go off or on; the books know it already."""
        self.off = self.off - set(names) if on else self.off | set(names)

    def node_names(self, numbers: Iterable[int]) -> list[str]:
        return [self.names[number] for number in numbers]

    def wanted_w(self, job_w: Callable[[str, Told], float]) -> dict[str, float]:
        """What each busy node would draw if nothing slowed it; `job_w` is what a job would."""
        found: dict[str, float] = {}
        for name, told in self.told.items():
            if told.nodes and told.draws:  # most of thousands wait
                node_w = job_w(name, told) / len(told.nodes)
                for number in told.nodes:
                    found[self.names[number]] = node_w
        return found

    def drawn_w(self, told: Told, nodes_w: Mapping[str, float]) -> float:
        """What a job draws of its nodes, by their meters; NaN where one of them is silent."""
        names = self.names
        return sum([nodes_w.get(names[number], math.nan) for number in told.nodes])

    def idle_w(self, node: str, usual_w: float) -> float:
        """What a node draws without jobs."""
        return self.power.idle_w.get(node, usual_w)

    def least_w(self, nodes: Iterable[str], usual_w: float) -> dict[str, float]:
        """The lowest cap that each of these can hold with a job."""
        of_node = self.power.least_w.get
        return {name: of_node(name, usual_w) for name in nodes}
