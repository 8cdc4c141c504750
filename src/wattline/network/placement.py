"""Placements by name: what each needs of a network, and putting jobs on an empty or busy one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.network.topology.base import Topology
from wattline.policies.placement.network import kernels
from wattline.policies.placement.network.by_key import by_key
from wattline.policies.placement.network.layout import Layout, Room, layout, make_room

BoolArray = npt.NDArray[np.bool_]


class Placing(NamedTuple):
    """One placement policy."""

    help: str
    needs: str
    """The level of the network without which it makes no sense."""
    kind: str
    """grouping, spreading, aware (of the size of a job), or data (driven by counters)."""


PLACEMENTS: Mapping[str, Placing] = {
    "simple": Placing("Free nodes in label order.", "nodes", "grouping"),
    "slurm": Placing("Slurm's rule: a router that fits, else fewest idle first.", "routers",
                     "grouping"),
    "rdg": Placing("Groups drawn at random.", "groups", "grouping"),
    "rdn": Placing("Nodes drawn at random.", "nodes", "spreading"),
    "rdr": Placing("Routers drawn at random.", "routers", "spreading"),
    "rrn": Placing("Nodes from the groups in turn.", "groups", "spreading"),
    "rrr": Placing("Routers from the groups in turn.", "groups", "spreading"),
    "level-spread": Placing("Spread in the smallest level that the job fits in.", "groups",
                            "aware"),
    "jokanovic": Placing("Small jobs from one end, large ones from the other.", "groups", "aware"),
    "nedd": Placing("Quiet routers for jobs that are sensitive to congestion, busy ones for the "
                    "others.", "routers", "data"),
    "low-traffic-router": Placing("Routers with the least traffic first.", "routers", "data"),
    "high-traffic-router": Placing("Routers with the most traffic first.", "routers", "data"),
    "low-stall-router": Placing("Routers with the fewest stalls first.", "routers", "data"),
    "fewer-router": Placing("Routers with the most idle nodes first.", "routers", "grouping"),
    "random": Placing("Nodes drawn at random (the same as rdn).", "nodes", "spreading"),
}
BASELINES = ("simple", "slurm", "rdg", "rdn", "rdr", "rrn", "rrr")


def check_placement(name: str, topology: Topology) -> None:
    """Refuse a placement that is unknown, or that needs what the network does not have."""
    found = PLACEMENTS.get(name)
    if found is None:
        raise InputError(f"placement '{name}' is unknown; write one of {', '.join(PLACEMENTS)}")
    if found.needs != "nodes" and found.needs not in topology.levels:
        good = [n for n, p in PLACEMENTS.items() if p.needs in ("nodes", *topology.levels)]
        raise InputError(f"placement '{name}' needs {found.needs}, and network "
                         f"'{topology.name}' has none; use one of {', '.join(good)}")


@dataclass(frozen=True, eq=False)
class Readings:
    """Counters of each router at the time of a placement; zeros where nothing is measured."""

    traffic: FloatArray
    """Bytes a second of all nodes behind the router."""
    stalls: FloatArray
    """Stalls a second of all its ports."""

    @classmethod
    def quiet(cls, topology: Topology) -> Readings:
        return cls(np.zeros(topology.routers), np.zeros(topology.routers))


@lru_cache(maxsize=8)
def _layout_of(topology: Topology) -> Layout:
    """The map of a topology; made once, since studies place thousands of workloads on one."""
    return layout(topology.node_router, topology.router_group)


@dataclass(eq=False)
class Placer:
    """Places jobs one after the other on a network and remembers which nodes are free."""

    topology: Topology
    placement: str
    seed: int = 1
    readings: Readings | None = None
    free: BoolArray = field(init=False)
    _layout: Layout = field(init=False)
    _room: Room = field(init=False)

    def __post_init__(self) -> None:
        check_placement(self.placement, self.topology)
        self.free = np.ones(self.topology.nodes, dtype=np.bool_)
        self._layout = _layout_of(self.topology)
        self._room = make_room(self._layout, self.seed)
        if self.readings is None:
            self.readings = Readings.quiet(self.topology)

    def place(self, wanted: int, *, sensitive: bool = True, job: str = "the job") -> IntArray:
        """Choose nodes, mark them as taken, and return them in the order of their tasks."""
        if wanted < 1:
            raise InputError(f"{job} asks for {wanted} nodes; it needs at least 1")
        if wanted > self.topology.nodes:
            raise InputError(f"{job} asks for {wanted} nodes, but network "
                             f"'{self.topology.name}' has only {self.topology.nodes}")
        left = int(self.free.sum())
        if wanted > left:
            raise InputError(f"{job} asks for {wanted} nodes, but only {left} of "
                             f"{self.topology.nodes} are free")
        assert self.readings is not None
        nodes = choose(self.placement, self._layout, self.free, wanted, self._room,
                       self.readings, sensitive=sensitive)
        self.free[nodes] = False
        return nodes


CHOOSERS: Mapping[str, Callable[[Layout, BoolArray, int, Room], None]] = {
    "simple": kernels.simple, "slurm": kernels.slurm, "rdg": kernels.rdg, "rdn": kernels.rdn,
    "rdr": kernels.rdr, "rrn": kernels.rrn, "rrr": kernels.rrr,
    "level-spread": kernels.level_spread, "jokanovic": kernels.jokanovic,
    "fewer-router": kernels.fewer_router, "random": kernels.rdn,
}


def choose(name: str, where: Layout, free: BoolArray, wanted: int, room: Room,
           readings: Readings, *, sensitive: bool = True) -> IntArray:
    """Nodes for one job by the placement of this name."""
    chooser = CHOOSERS.get(name)
    if chooser is not None:
        chooser(where, free, wanted, room)
    else:
        key = readings.stalls if name == "low-stall-router" else readings.traffic
        busy_first = name == "high-traffic-router" or (name == "nedd" and not sensitive)
        by_key(where, free, wanted, room, key, -1.0 if busy_first else 1.0)
    return room.chosen[:wanted].copy()


def place_all(topology: Topology, placement: str, sizes: Sequence[int], *, seed: int = 1,
              readings: Readings | None = None) -> list[IntArray]:
    """Place jobs in this order on an empty machine."""
    placer = Placer(topology, placement, seed, readings)
    return [placer.place(size, job=f"job {number}") for number, size in enumerate(sizes)]
