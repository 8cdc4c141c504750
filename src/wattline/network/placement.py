"""Putting jobs on an empty or busy network, by the name of a placement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.network.topology.base import Topology
from wattline.policies.placement.network import kernels
from wattline.policies.placement.network.by_key import by_key
from wattline.policies.placement.network.layout import Layout, Room, layout, make_room
from wattline.policies.placement.network.placements import PLACEMENTS

BoolArray = npt.NDArray[np.bool_]
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


def choose(name: str, where: Layout, free: BoolArray, wanted: int, room: Room,
           readings: Readings, *, sensitive: bool = True) -> IntArray:
    """Nodes for one job by the placement of this name."""
    placing = PLACEMENTS[name]
    if placing.kernel:
        getattr(kernels, placing.kernel)(where, free, wanted, room)
    else:
        key = readings.stalls if placing.counter == "stalls" else readings.traffic
        turned = placing.by_sensitivity and not sensitive
        by_key(where, free, wanted, room, key, -placing.sign if turned else placing.sign)
    return room.chosen[:wanted].copy()


def place_all(topology: Topology, placement: str, sizes: Sequence[int], *, seed: int = 1,
              readings: Readings | None = None) -> list[IntArray]:
    """Place jobs in this order on an empty machine."""
    placer = Placer(topology, placement, seed, readings)
    return [placer.place(size, job=f"job {number}") for number, size in enumerate(sizes)]
