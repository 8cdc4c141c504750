"""From a topology and the jobs to what the allocator's placements know of the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray, JobTable
from wattline.model.signal import FloatArray
from wattline.network.placement import check_placement
from wattline.network.sensitivity import MpiProfile, shipped_profiles
from wattline.network.topology.base import MOST_GBIT_S, Topology
from wattline.policies.placement.network.fabric import Fabric
from wattline.policies.placement.network.layout import layout, make_room

SENSITIVE = "sensitive"
"""The column of a log that says which jobs congestion slows down."""


@dataclass(frozen=True)
class Behaviour:
    """How jobs use the network, where their application has no MPI profile."""

    communication_share: float = 0.25
    """Part of the time of a sensitive job that waits on messages."""
    node_traffic_gbit_s: float = 0.0
    """What one node of a job sends; 0 takes a quarter of its link."""
    sensitive_jobs: float = 1.0
    """Part of the jobs that is sensitive to congestion, drawn with the seed."""
    congestion: bool = True
    """Whether congestion slows jobs down; placements work either way."""
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("communication_share", "sensitive_jobs"):
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise InputError(f"[network]: {name} is {value}, must be from 0 to 1")
        if not 0.0 <= self.node_traffic_gbit_s <= MOST_GBIT_S:
            raise InputError(f"[network]: node_traffic_gbit_s is {self.node_traffic_gbit_s}, "
                             f"must be from 0 to {MOST_GBIT_S:g}")


def fabric_for(name: str, topology: Topology, machine_nodes: int,
               behaviour: Behaviour | None = None,
               profiles: Mapping[str, MpiProfile] | None = None) -> Fabric:
    """What the placement of this name is told of this network."""
    check_placement(name, topology)
    if machine_nodes != topology.nodes:
        raise InputError(f"the machine has {machine_nodes} nodes and network '{topology.name}' "
                         f"has {topology.nodes}; they must agree")
    return make_fabric(topology, behaviour or Behaviour(), profiles)


def make_fabric(topology: Topology, behaviour: Behaviour,
                profiles: Mapping[str, MpiProfile] | None = None) -> Fabric:
    """What placements know of a network."""
    where = layout(topology.node_router, topology.router_group)
    uses = Uses(topology, behaviour, profiles)
    return Fabric.start(
        {"job_gbit_s": uses.gbit_s, "job_sensitive": uses.sensitive},
        **where._asdict(),
        **make_room(where, behaviour.seed)._asdict(),
        marks=np.zeros(topology.nodes, dtype=np.int8),
        traffic=np.zeros(topology.routers),
        stalls=np.zeros(topology.routers),
    )


def drawn_sensitive(jobs: JobTable, behaviour: Behaviour) -> IntArray:
    """Which of these jobs are sensitive, drawn with the seed."""
    rng = np.random.default_rng(behaviour.seed)
    return (rng.random(len(jobs)) < behaviour.sensitive_jobs).astype(np.int64)


class Uses:
    """How jobs use a network: by the profile of their application, else as the scenario says."""

    def __init__(self, topology: Topology, behaviour: Behaviour,
                 profiles: Mapping[str, MpiProfile] | None = None) -> None:
        self.node_gbit_s = topology.node_gbit_s
        self.behaviour = behaviour
        self.profiles = shipped_profiles() if profiles is None else profiles

    def share(self, jobs: JobTable, logged: Any) -> FloatArray:
        """Share of its time that each job waits on messages."""
        found = np.full(len(jobs), self.behaviour.communication_share)
        for rows, profile in self._known(jobs):
            found[rows] = profile.synchronizing
        return found

    def gbit_s(self, jobs: JobTable, logged: Any) -> FloatArray:
        """Traffic of one node of each job."""
        own = self.behaviour.node_traffic_gbit_s or 0.25 * self.node_gbit_s
        found = np.full(len(jobs), own)
        for rows, profile in self._known(jobs):
            found[rows] = self._gbit_s_of(profile)
        return found

    def _gbit_s_of(self, profile: MpiProfile) -> float:
        """What a node of an application sends, at most what its link carries."""
        rate = profile.node_bytes_s
        wanted = min(1.0, profile.mpi) * self.node_gbit_s if rate is None else rate * 8e-9
        return min(wanted, self.node_gbit_s)

    def assumed(self, jobs: JobTable) -> list[str]:
        """Applications of these jobs whose traffic is guessed or cut, a sentence each."""
        mine = [profile for rows, profile in self._known(jobs) if np.any(rows)]
        cut = [f"a node of {profile.name} sends {8e-9 * profile.node_bytes_s:.3g} Gbit/s, more "
               f"than its link carries: {self.node_gbit_s:.3g} Gbit/s are taken, all of the time"
               for profile in mine if profile.node_bytes_s is not None
               and 8e-9 * profile.node_bytes_s > self.node_gbit_s]
        guessed = [f"no data rate of {profile.name} is known: its share of time in MPI is taken "
                   "as the part of a node's link that it fills "
                   f"({self._gbit_s_of(profile):.3g} Gbit/s)"
                   for profile in mine if profile.node_bytes_s is None]
        return cut + guessed

    def sensitive(self, jobs: JobTable, logged: Any) -> IntArray:
        """Whether congestion slows each job down: 1 or 0; where nothing says so of a job, it does
        unless it does so to none."""
        silent = np.full(len(jobs), self.behaviour.sensitive_jobs > 0.0)
        found = np.array(logged.get(SENSITIVE, silent), dtype=np.int64)
        for rows, profile in self._known(jobs):
            found[rows] = int(profile.sensitive)
        return found

    def _known(self, jobs: JobTable) -> Iterator[tuple[Any, MpiProfile]]:
        for code, name in enumerate(jobs.names.get("application", ())):
            profile = self.profiles.get(name.lower())
            if profile is not None:
                yield jobs.application == code, profile
