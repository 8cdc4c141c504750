"""A Slurm that notes what it is told, and nodes that report what a test says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from wattline.live.fleet import NodeReport
from wattline.live.slurm.client import Seen
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import SlurmJob, SlurmNode


@dataclass
class FakeSlurm:
    jobs: list[SlurmJob] = field(default_factory=list)
    nodes: tuple[str, ...] = ("n1", "n2")
    told: list[tuple] = field(default_factory=list)
    fails: bool = False

    def look(self) -> Seen:
        if self.fails:
            raise SlurmError("squeue gave no answer in 15 s")
        return Seen(0.0, tuple(self.jobs),
                    tuple(SlurmNode(name, ("idle",), 32) for name in self.nodes))

    def __getattr__(self, name: str):
        def call(*given, **more):
            more.pop("as_seen", None)
            self.told.append((name, *given, *more.values()))

        return call


@dataclass
class FakeFleet:
    power_w: dict[str, float] = field(default_factory=dict)
    now_s: float = 0.0
    caps_w: dict[str, float] = field(default_factory=dict)
    orders: list[int] = field(default_factory=list)
    without_knobs: set[str] = field(default_factory=set)
    """Nodes that obey no order; others do at once."""
    obeyed: dict[str, int] = field(default_factory=dict)

    def reports(self) -> list[NodeReport]:
        return [NodeReport(name, self.now_s, watts, 0.0, math.inf, self.obeyed.get(name, 0))
                for name, watts in self.power_w.items()]

    def cap(self, order: int, caps_w, lease_s: float) -> None:
        self.orders.append(order)
        self.obeyed |= {name: order for name in self.power_w if name not in self.without_knobs}
        self.caps_w = dict(caps_w)

    def restore(self, nodes=None) -> None:
        self.caps_w = {} if nodes is None else {
            name: watts for name, watts in self.caps_w.items() if name not in nodes}

    def close(self) -> None:
        pass
