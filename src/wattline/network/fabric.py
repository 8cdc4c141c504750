"""From a topology and the jobs to what the allocator's placements know of the network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.network.flows import flow_book
from wattline.network.placement import check_placement
from wattline.network.routes import Routes
from wattline.network.sensitivity import MpiProfile, shipped_profiles
from wattline.network.topology.base import MOST_GBIT_S, Topology
from wattline.policies.placement import network as plug_ins
from wattline.policies.placement.fabric import JOB_PAIRS, Fabric
from wattline.policies.placing.layout import layout, make_room

MOST_ROUTERS = 2000
"""Above this the paths of all pairs of routers do not fit in memory."""

PLUG_INS: Mapping[str, Callable[[Fabric], Any]] = {
    "simple": plug_ins.Simple,
    "slurm": plug_ins.SlurmRouters,
    "rdg": plug_ins.RandomGroups,
    "rdn": plug_ins.RandomNodes,
    "random": plug_ins.RandomNodes,
    "rdr": plug_ins.RandomRouters,
    "rrn": plug_ins.NodesInTurn,
    "rrr": plug_ins.RoutersInTurn,
    "level-spread": plug_ins.LevelSpread,
    "jokanovic": plug_ins.Jokanovic,
    "fewer-router": plug_ins.FewerRouters,
    "nedd": plug_ins.Nedd,
    "low-traffic-router": lambda fabric: plug_ins.ByTraffic(fabric, 1.0),
    "high-traffic-router": lambda fabric: plug_ins.ByTraffic(fabric, -1.0),
    "low-stall-router": plug_ins.ByStalls,
}


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


def network_placement(name: str, topology: Topology, jobs: JobTable, machine_nodes: int,
                      behaviour: Behaviour | None = None,
                      profiles: Mapping[str, MpiProfile] | None = None) -> Any:
    """The allocator's placement of this name on this network for these jobs."""
    check_placement(name, topology)
    if machine_nodes != topology.nodes:
        raise InputError(f"the machine has {machine_nodes} nodes and network '{topology.name}' "
                         f"has {topology.nodes}; they must agree")
    return PLUG_INS[name](make_fabric(topology, jobs, behaviour or Behaviour(), profiles))


def make_fabric(topology: Topology, jobs: JobTable, behaviour: Behaviour,
                profiles: Mapping[str, MpiProfile] | None = None) -> Fabric:
    """All arrays that placements and congestion need."""
    where = layout(topology.node_router, topology.router_group)
    routes = _all_routes(topology, behaviour.congestion)
    share, gbit_s, sensitive = _job_figures(topology, jobs, behaviour,
                                            shipped_profiles() if profiles is None else profiles)
    # A job on k routers has at most JOB_PAIRS pairs, and at most k - 1 for each router.
    pairs = 11 * topology.nodes + JOB_PAIRS
    links, routers = topology.links, topology.routers
    return Fabric(
        **where._asdict(),
        **make_room(where, behaviour.seed)._asdict(),
        marks=np.zeros(topology.nodes, dtype=np.int8),
        flags=np.array([0, int(behaviour.congestion)], dtype=np.int64),
        path_start=routes.path_start,
        link_start=routes.link_start,
        link=routes.link.astype(np.int64),
        minimal=routes.minimal.astype(np.int64),
        link_from=topology.link_from,
        link_gbit_s=topology.link_gbit_s,
        job_share=share,
        job_gbit_s=gbit_s,
        job_sensitive=sensitive,
        traffic=np.zeros(routers),
        stalls=np.zeros(routers),
        load=np.zeros(links),
        fresh=np.zeros(links),
        price=np.ones(links),
        cost=np.zeros(int(np.diff(routes.path_start).max(initial=1)) + 1),
        pair_row=np.zeros(pairs, dtype=np.int64),
        pair_gbit_s=np.zeros(pairs),
        job_router=np.zeros(topology.nodes, dtype=np.int64),
    )


def _all_routes(topology: Topology, congestion: bool) -> Routes:
    """Paths between all pairs of routers, or none where congestion is off."""
    if not congestion:
        nothing = np.zeros(2, dtype=np.int64)
        return Routes(nothing, nothing, np.zeros(1, np.int32), np.zeros(1, np.bool_))
    if topology.routers > MOST_ROUTERS:
        raise InputError(f"network '{topology.name}' has {topology.routers} routers; congestion "
                         f"works up to {MOST_ROUTERS}; set congestion = false in [network]")
    every = np.arange(topology.routers**2, dtype=np.int64)
    routes, _ = flow_book(topology).routes(every // topology.routers, every % topology.routers)
    return routes


def _job_figures(topology: Topology, jobs: JobTable, behaviour: Behaviour,
                 profiles: Mapping[str, MpiProfile]) -> tuple[Any, Any, Any]:
    """Share of time that waits, traffic of a node, and whether it is sensitive: one a job."""
    count = len(jobs)
    own = behaviour.node_traffic_gbit_s or 0.25 * topology.node_gbit_s
    rng = np.random.default_rng(behaviour.seed)
    sensitive = (rng.random(count) < behaviour.sensitive_jobs).astype(np.int64)
    share = np.full(count, behaviour.communication_share)
    gbit_s = np.full(count, own)
    for code, name in enumerate(jobs.names.get("application", ())):
        profile = profiles.get(name.lower())
        if profile is None:
            continue
        rows = jobs.application == code
        share[rows] = profile.synchronizing
        sensitive[rows] = int(profile.sensitive)
        gbit_s[rows] = min(1.0, profile.mpi) * topology.node_gbit_s
    return share, gbit_s, sensitive
