"""Placing jobs on an empty machine, with the times and the link loads that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.model.units import fold_hosts
from wattline.network.counters import flow_counters
from wattline.network.flows import Exchange, FlowResult, flow_book, flow_times
from wattline.network.jobfile import PlacedJob
from wattline.network.packets import packet_book, packet_times, rule_of
from wattline.network.placement import Placer
from wattline.network.routes import routing_remarks
from wattline.network.topology.base import Topology
from wattline.network.traffic import map_tasks
from wattline.policies.placement.network.placements import PLACEMENTS

HOT_SPOTS = 10


@dataclass(frozen=True, eq=False)
class TrialJob:
    """Where one job went, and how long its exchange takes there."""

    name: str
    nodes: IntArray
    time_s: float
    alone_s: float


@dataclass(frozen=True, eq=False)
class Trial:
    """All jobs of a file under one placement."""

    topology: Topology
    placement: str
    routing: str
    model: str
    jobs: Sequence[TrialJob]
    link_bytes: FloatArray
    link_busy_s: FloatArray
    """Time that each link needs for what it carries."""
    remarks: tuple[str, ...] = ()
    """What was assumed of the network, and which ways were left out: a sentence each."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values: what `--json` prints."""
        hot = np.argsort(-self.link_busy_s[:self.topology.links], kind="stable")[:HOT_SPOTS]
        return {
            "machine": self.topology.name,
            "placement": self.placement,
            "routing": self.routing,
            "model": self.model,
            "jobs": [self._job(job) for job in self.jobs],
            "hot_spots": [
                {"link": self.topology.link_name(int(e)), "busy_s": float(self.link_busy_s[e]),
                 "bytes": float(self.link_bytes[e])}
                for e in hot if self.link_bytes[e] > 0
            ],
            "remarks": list(self.remarks),
            "link_bytes": {
                "median": float(np.median(self.link_bytes[:self.topology.links])),
                "max": float(self.link_bytes[:self.topology.links].max(initial=0.0)),
            },
        }

    def _hosts(self, nodes: IntArray) -> str:
        """A host list by the names of the nodes, where they have names."""
        if not self.topology.hosts:
            return host_list(nodes)
        return fold_hosts(self.topology.host(node) for node in np.sort(nodes).tolist())

    def _job(self, job: TrialJob) -> dict[str, Any]:
        routers = self.topology.node_router[job.nodes]
        return {
            "name": job.name,
            "nodes": [int(node) for node in job.nodes],
            "host_list": self._hosts(job.nodes),
            "routers": len(np.unique(routers)),
            "groups": len(np.unique(self.topology.router_group[routers])),
            "time_s": job.time_s,
            "alone_s": job.alone_s,
            "stretch": job.time_s / job.alone_s if job.alone_s > 0 else 1.0,
        }


def place_jobs(topology: Topology, jobs: Sequence[PlacedJob], placement: str, *,
               mapping: str = "random", seed: int = 1) -> list[Exchange]:
    """Place the jobs in order and put their tasks on the nodes.

    Placements that are driven by counters see those of the jobs that are placed already.
    """
    placer = Placer(topology, placement, seed)
    rng = np.random.default_rng(seed)
    book = flow_book(topology) if PLACEMENTS[placement].kind == "data" else None
    exchanges: list[Exchange] = []
    for job in jobs:
        if book is not None and exchanges:
            placer.readings = flow_counters(topology, flow_times(book, exchanges, seed=seed + 1))
        nodes = placer.place(job.nodes, sensitive=job.sensitive, job=f"job '{job.name}'")
        tasks = map_tasks(nodes, job.traffic.tasks, mapping, rng)
        exchanges.append(Exchange(nodes, tasks, job.traffic, job.message_bytes))
    return exchanges


def try_placement(topology: Topology, jobs: Sequence[PlacedJob], exchanges: Sequence[Exchange],
                  placement: str, *, routing: str = "adaptive", threshold: float | None = None,
                  seed: int = 1, packets: bool = False) -> Trial:
    """Let all jobs, placed by `place_jobs`, exchange their messages once."""
    rule = rule_of(routing, threshold)
    book = flow_book(topology, routing)
    result = flow_times(book, exchanges, routing=routing, seed=seed + 1)
    if packets:
        book = packet_book(topology, routing)
        counted = packet_times(book, exchanges, np.random.default_rng(seed), routing=routing,
                               rule=rule)
        result = FlowResult(counted.time_s, result.alone_s,
                            counted.link_packets.astype(np.float64) * 1024.0, 0.0, 0)
    placed = [TrialJob(job.name, exchange.nodes, float(time_s), float(alone_s))
              for job, exchange, time_s, alone_s
              in zip(jobs, exchanges, result.time_s, result.alone_s, strict=True)]
    return Trial(topology, placement, routing, "packet" if packets else "flow", placed,
                 result.link_bytes, result.link_bytes / topology.capacity_bytes_s,
                 (*topology.remarks, *routing_remarks(topology, routing), *book.remarks))


def host_list(nodes: IntArray) -> str:
    """`0-15,32`: runs of neighbours."""
    ordered = np.sort(nodes)
    breaks = np.flatnonzero(np.diff(ordered) > 1) + 1
    runs = [f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}"
            for run in np.split(ordered, breaks)]
    return ",".join(runs)
