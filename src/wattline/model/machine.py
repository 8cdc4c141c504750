"""The machine as a tree: site, system, rack, node, socket, with classes of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from wattline.model.errors import InputError
from wattline.model.units import parse_hosts

MOST_NODES = 20_000_000
"""Twice the cores of the largest machine there is, for logs that count cores as nodes."""
MOST_CORES = 1_000_000
"""Of one node."""
MOST_POWER_W = 1e12
MOST_SPEED = 1e6
"""How much faster or slower than the machine of the log a node may be."""


class NodeState(IntEnum):
    """Power states of a node."""

    OFF = 0
    CHANGING = 1
    """Booting or shutting down."""
    IDLE = 2
    ACTIVE = 3
    """At the speed and power of the job that it runs."""


@dataclass(frozen=True)
class NodeClass:
    """What all nodes of one kind share. Powers are of one node."""

    name: str = "node"
    cores: int = 1
    sockets: int = 1
    power_w_idle: float = 90.0
    power_w_active: float = 300.0
    power_w_off: float = 0.0
    boot_s: float = 0.0
    boot_power_w: float = 0.0
    shutdown_s: float = 0.0
    shutdown_power_w: float = 0.0
    speed: float = 1.0
    """Progress of a job a second here, relative to the machine on which it was logged."""

    def __post_init__(self) -> None:
        for name in ("power_w_idle", "power_w_active", "power_w_off", "boot_s", "boot_power_w",
                     "shutdown_s", "shutdown_power_w"):
            value = getattr(self, name)
            if not 0 <= value <= MOST_POWER_W:  # of seconds too: some 30,000 years
                raise InputError(f"node class '{self.name}': {name} is {value}, must be from 0 "
                                 f"to {MOST_POWER_W:g}")
        if self.power_w_active < self.power_w_idle:
            raise InputError(
                f"node class '{self.name}': power_w_active ({self.power_w_active}) is below "
                f"power_w_idle ({self.power_w_idle})"
            )
        if not (1 <= self.cores <= MOST_CORES and 1 <= self.sockets <= MOST_CORES):
            raise InputError(f"node class '{self.name}': cores and sockets must be from 1 to "
                             f"{MOST_CORES:,}")
        if not 1 / MOST_SPEED <= self.speed <= MOST_SPEED:
            raise InputError(f"node class '{self.name}': speed is {self.speed}, must be from "
                             f"{1 / MOST_SPEED:g} to {MOST_SPEED:g}")


@dataclass(frozen=True)
class NodeGroup:
    """A run of equal nodes, in racks; node numbers follow the order of the groups."""

    node_class: NodeClass
    count: int
    nodes_per_rack: int = 0
    """0 means all nodes of the group stand in one rack."""

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InputError(f"a group of '{self.node_class.name}' nodes has {self.count} nodes")
        if self.nodes_per_rack < 0:
            raise InputError("nodes_per_rack must not be negative")


@dataclass(frozen=True)
class Machine:
    """A system at a site. Its tree has the levels site, system, rack, node, socket."""

    groups: tuple[NodeGroup, ...]
    name: str = "system"
    site: str = "site"
    node_names: str = ""
    """What the nodes are called, as a host list in the order of their numbers; else n0, n1, ..."""

    def __post_init__(self) -> None:
        if not self.groups:
            raise InputError("a machine needs at least one group of nodes")
        if self.node_count > MOST_NODES:
            raise InputError(f"{self.name} has {self.node_count:,} nodes; at most {MOST_NODES:,} "
                             "can be simulated")
        names = len(self.hosts) if self.node_names else self.node_count
        if names != self.node_count:
            raise InputError(f"{self.name} has {self.node_count:,} nodes, and node_names has "
                             f"{names:,} names; each needs one")
        if self.node_names and len(set(self.hosts)) < names:
            raise InputError(f"node_names of {self.name} has a name twice; each node needs its own")

    @classmethod
    def uniform(cls, nodes: int, node_class: NodeClass | None = None, *, nodes_per_rack: int = 0,
                name: str = "system") -> Machine:
        return cls((NodeGroup(node_class or NodeClass(), nodes, nodes_per_rack),), name=name)

    @property
    def node_count(self) -> int:
        return sum(group.count for group in self.groups)

    @property
    def core_count(self) -> int:
        return sum(group.count * group.node_class.cores for group in self.groups)

    @property
    def power_w_idle(self) -> float:
        """All nodes on and idle."""
        return sum(group.count * group.node_class.power_w_idle for group in self.groups)

    @property
    def power_w_max(self) -> float:
        """Rated power: all nodes active at full speed, with all that they draw then.

        A cap in per cent is of this (`model/cap_value.py`).
        """
        return sum(group.count * group.node_class.power_w_active for group in self.groups)

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The name of each node, written out when asked for."""
        if self.node_names:
            return tuple(parse_hosts(self.node_names))
        return tuple(f"n{node}" for node in range(self.node_count))

    @cached_property
    def racks(self) -> tuple[tuple[int, int], ...]:
        """For each rack its first node and the number of its nodes; laid out when asked for."""
        return tuple(self._lay_racks())

    def rack_of(self, node: int) -> int:
        for rack, (first, count) in enumerate(self.racks):
            if first <= node < first + count:
                return rack
        raise InputError(f"{self.name} has no node {node}; it has {self.node_count}")

    def class_of(self, node: int) -> NodeClass:
        for group in self.groups:
            if node < group.count:
                return group.node_class
            node -= group.count
        raise InputError(f"{self.name} has only {self.node_count} nodes")

    def _lay_racks(self) -> list[tuple[int, int]]:
        racks = []
        first = 0
        for group in self.groups:
            size = group.nodes_per_rack or group.count
            for offset in range(0, group.count, size):
                racks.append((first + offset, min(size, group.count - offset)))
            first += group.count
        return racks
