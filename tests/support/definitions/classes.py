"""A machine of several node classes on which first-fit chooses nodes.

The rules are those of docs/model.md (granularity, classes, nodes) and docs/scenario.md (power
limits): the free nodes with the lowest numbers, those last that cannot draw what the log has for
the job; where the cap has no room for it there, those on which it raises the power least.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from tests.support.definitions.admissions import drawn_w
from tests.support.definitions.world import SLACK, Case, Running, World
from wattline.model.machine import Machine


class ClassesWorld(World):
    """Every node has a class. Without reservations of nodes and outages."""

    def __init__(self, case: Case, keeps_cap: bool) -> None:
        super().__init__(case)
        assert not case.told
        assert not any(each.nodes for each in case.reservations)
        self.keeps_cap = keeps_cap
        self.kinds = [case.machine.class_of(node) for node in range(self.total)]
        self.nodes: dict[int, list[int]] = {}
        """Of each job that has started."""
        self.own_w = case.jobs.power_w.tolist()
        """Power of jobs as the log has it, or not a number."""

    def equal_units_w(self, machine: Machine) -> tuple[float, float]:
        return math.nan, math.nan

    # The machine now

    @property
    def free_nodes(self) -> list[int]:
        busy = {node for run in self.running for node in self.nodes[run.job]}
        return [node for node in range(self.total) if node not in busy]

    @property
    def idle_on_w(self) -> float:
        return sum(self.kinds[node].power_w_idle for node in self.free_nodes)

    def idle_of_w(self, units: int) -> float:
        return sum(kind.power_w_idle for kind in self.kinds)

    # Nodes of a job

    def node_w(self, job: int, node: int) -> float:
        """What a busy node draws: what the log has is alike for all nodes of the job."""
        own_w = self.own_w[job]
        return self.kinds[node].power_w_active if math.isnan(own_w) else own_w / self.units[job]

    def rise_w(self, job: int, nodes: Collection[int]) -> float:
        above_w = sum(self.node_w(job, node) - self.kinds[node].power_w_idle for node in nodes)
        return max(above_w, 0.0)

    def first(self, job: int, nodes: Collection[int]) -> list[int]:
        """In the order of their numbers."""
        def too_weak(node: int) -> bool:
            return self.node_w(job, node) > self.kinds[node].power_w_active

        return sorted(nodes, key=lambda node: (too_weak(node), node))[:self.units[job]]

    def least(self, job: int, nodes: Collection[int]) -> list[int]:
        """Those on which the job raises the power least."""
        return sorted(nodes, key=lambda node: (
            self.node_w(job, node) - self.kinds[node].power_w_idle, node))[:self.units[job]]

    def gets(self, job: int) -> list[int]:
        """Nodes that it would get now, fewer than it needs where too few are free."""
        first = self.first(job, self.free_nodes)
        if not self.keeps_cap or (
                drawn_w(self) + self.rise_w(job, first) <= self.cap_w * (1 + SLACK)):
            return first
        return self.least(job, self.free_nodes)

    def gets_alone(self, job: int) -> list[int]:
        """Nodes that it would get on the idle machine under the highest cap to come."""
        every = range(self.total)
        first = self.first(job, every)
        alone_w = self.idle_of_w(self.total) + self.rise_w(job, first)
        if not self.keeps_cap or alone_w <= self.highest_cap_w * (1 + SLACK):
            return first
        return self.least(job, every)

    def above_idle_w(self, job: int) -> float:
        return self.rise_w(job, self.gets(job))

    def least_above_idle_w(self, job: int) -> float:
        return self.rise_w(job, self.least(job, range(self.total)))

    def kept_above_idle_w(self, job: int) -> float:
        return self.rise_w(job, self.gets_alone(job))

    def speed(self, nodes: list[int]) -> float:
        """That of the slowest."""
        return min((self.kinds[node].speed for node in nodes), default=1.0)

    def lasts_s(self, job: int) -> float:
        return self.requested_s[job] / self.speed(self.gets(job))

    def start(self, job: int, rate: float = 1.0, power_w: float | None = None) -> Running:
        nodes = self.gets(job)
        run = super().start(job, rate * self.speed(nodes),
                            sum(self.node_w(job, node) for node in nodes))
        run.idle_w = sum(self.kinds[node].power_w_idle for node in nodes)
        self.nodes[job] = nodes
        return run
