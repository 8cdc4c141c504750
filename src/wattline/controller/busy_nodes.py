"""Nodes that jobs have, by their names, and what they would draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from wattline.controller.node_power import NodePower
from wattline.controller.sleeping_nodes import SleepingNodes
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
        self.sleeping = SleepingNodes()

    def switched(self, names: Iterable[str], on: bool) -> None:
        """Nodes were told to go off or on; the books know it already."""
        self.off = self.off - set(names) if on else self.off | set(names)
        if on:
            self.sleeping.left_out.update(names)

    @property
    def switched_off(self) -> set[str]:
        """Nodes that are off, from here or by Slurm's own power saving."""
        return self.off | self.sleeping.off

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

    def suspended_w(self, told: Told, usual_w: float) -> float:
        """Sum what counts on the nodes of a suspended job: idle power, or more where Slurm has
        started jobs there that the books do not take."""
        others = (self.wanted_w(lambda name, each: each.watts)
                  if any(each.untold for each in self.told.values()) else {})
        return sum(max(others.get(name, 0.0), self.idle_w(name, usual_w))
                   for name in self.node_names(told.nodes))

    def drawn_w(self, told: Told, nodes_w: Mapping[str, float]) -> float:
        """What a job draws of its nodes, by their meters; NaN where one of them is silent."""
        names = self.names
        return sum([nodes_w.get(names[number], math.nan) for number in told.nodes])

    def said_and_least_w(self, told: Told, usual_w: float) -> dict[str, tuple[float, float]]:
        """By node what a job draws there as it says, and under the node's lowest cap."""
        names = self.node_names(told.nodes)
        said_w = told.watts / max(len(names), 1)
        return {name: (said_w, min(least_w, said_w))
                for name, least_w in self.least_w(names, usual_w).items()}

    def idle_w(self, node: str, usual_w: float) -> float:
        """What a node draws without jobs."""
        return self.power.idle_w.get(node, usual_w)

    def alone_w(self, node: str, usual_w: float) -> float:
        """Return the power of a node without jobs as it is now: off, booting or idle."""
        if node in self.off or node in self.sleeping.off:
            return self.power.off_w
        if node in self.sleeping.booting:
            return self.power.booting_w(node, usual_w)
        return self.idle_w(node, usual_w)

    def changing_w(self, usual_w: float) -> float:
        """Sum what nodes that boot or shut down draw above what the books count for them: with a
        job its part there, without one what a node draws that is off."""
        jobs_w = self.wanted_w(lambda name, told: told.watts) if self.sleeping.with_job else {}
        total_w = 0.0
        for name in self.sleeping.booting | (self.sleeping.halting - self.sleeping.with_job):
            counted_w = jobs_w.get(name, self.power.off_w)
            total_w += max(self.alone_w(name, usual_w) - counted_w, 0.0)
        return total_w

    def least_w(self, nodes: Iterable[str], usual_w: float) -> dict[str, float]:
        """The lowest cap that each of these can hold with a job."""
        of_node = self.power.least_w.get
        return {name: of_node(name, usual_w) for name in nodes}
