"""The flow model: the communication time of every job on a network, in a few milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.progress import silent
from wattline.model.signal import FloatArray
from wattline.network.equilibrium import (
    AWARE,
    DETOURED,
    SHARPNESS,
    SWEEPS,
    TOLERANCE,
    check_routing,
)
from wattline.network.kernels.messages import count_messages, node_rates
from wattline.network.kernels.routing import draw_paths, list_uses, split
from wattline.network.kernels.sharing import finish_times
from wattline.network.routes import RouteBook, Routes
from wattline.network.topology.base import Topology
from wattline.network.traffic import Traffic
from wattline.policies.placement.network.layout import sequence_start

HOP_S = 100e-9
"""Time of the head of a packet over one router and one link."""
PACKET_BYTES = 1024
DETOURS = 6
"""Detours that a pair of routers knows in the flow model; pairs know different ones."""
DRAWS = 8
"""A flow of up to this many packets, or ways where these are more, is routed packet by packet, a
larger one in so many parts."""
WINDOW = 0.2
"""While there are many flows, those that end within this part of the time so far end as one."""


@dataclass(frozen=True, eq=False)
class Exchange:
    """One exchange of one job: where its tasks are, who sends to whom, and how much."""

    nodes: IntArray
    """Nodes of the job."""
    node_of_task: IntArray
    traffic: Traffic
    message_bytes: float = 1024.0
    step: IntArray | None = None
    """Step in which each message is sent, for the packet simulator; without it all go at once."""


@dataclass(frozen=True, eq=False)
class FlowResult:
    """What the flow model finds for exchanges that start together."""

    time_s: FloatArray
    """Until the last message of each job has arrived."""
    alone_s: FloatArray
    """Time in which the job's own node links drain: what no placement can beat."""
    link_bytes: FloatArray
    """Bytes over each link of the routers, then up and down of each node."""
    moving: float
    """Part of the traffic that would still move when the routing was taken as settled."""
    sweeps: int
    """Rounds in which the routing settled."""


@dataclass(frozen=True, eq=False)
class FlowSet:
    """Traffic of all jobs by (job, source router, target router)."""

    job: IntArray
    source: IntArray
    target: IntArray
    messages: FloatArray
    sent: FloatArray
    """Messages that leave each node of the source router: one column per node."""
    received: FloatArray
    """Messages that reach each node of the target router."""


def flow_book(topology: Topology, routing: str = "adaptive") -> RouteBook:
    """The paths that the flow model uses; under `ugal` without detours inside groups."""
    detours = 0 if routing == "minimal" else DETOURS
    return RouteBook(topology, detours=detours, inside=routing != "ugal")


def flow_times(book: RouteBook, exchanges: Sequence[Exchange], *, routing: str = "adaptive",
               seed: int = 1, window: float = WINDOW,
               progress: Callable[[float], None] = silent) -> FlowResult:
    """Communication times of jobs that exchange messages at the same time.

    Every node sends at its full rate, divided over its messages. Flows share links max-min fairly.
    Each message takes one path, drawn by the shares at which the routing settles: the uneven
    loads that this makes are part of the time, above all when messages are few.
    """
    mode = check_routing(routing)
    topology = book.topology
    flows = gather(topology, exchanges)
    jobs = len(exchanges)
    message_bytes = np.array([exchange.message_bytes for exchange in exchanges])
    if flows.job.size == 0:
        silent = np.zeros(jobs)
        return FlowResult(silent, silent, np.zeros(len(topology.capacity_bytes_s)), 0.0, 0)
    first = first_node(topology)
    capacity = topology.capacity_bytes_s
    rate, sent, received, busiest = node_rates(
        flows.job, flows.source, flows.target, flows.messages, flows.sent, flows.received, first,
        topology.nodes, jobs)
    routes, row = book.routes(flows.source, flows.target)
    progress(0.6)
    pairs, pair = np.unique(row, return_inverse=True)
    scale = topology.node_gbit_s / topology.link_gbit_s
    offset, share, moving, sweeps = split(
        pairs, np.bincount(pair, rate, len(pairs)), routes.path_start, routes.link_start,
        routes.link, routes.minimal, scale, mode, SHARPNESS[routing], DETOURED[routing],
        TOLERANCE, SWEEPS)
    progress(0.8)
    packets = flows.messages * np.maximum(1.0, message_bytes[flows.job] / PACKET_BYTES)
    flow, path, part = draw_paths(pairs, offset, share, pair, routes.path_start, packets,
                                  _draws(book, routing, offset), routing not in AWARE,
                                  sequence_start(seed))
    start, link, use = list_uses(
        flow, path, part, routes.link_start, routes.link, flows.source, flows.target, rate, sent,
        received, first, topology.links, topology.nodes)
    size = (message_bytes[flows.job] * flows.messages / rate)[flow]
    time_s = finish_times(start, link, use, flows.job[flow], size, jobs, capacity, window)
    carried = use * np.repeat(size, np.diff(start))
    link_bytes = np.bincount(link, carried, len(capacity)).astype(np.float64)
    hops = _hops_of_job(flows, pair, pairs, routes, jobs)
    return FlowResult(time_s + hops * HOP_S, busiest * message_bytes / capacity[-1], link_bytes,
                      float(moving), int(sweeps))


def _draws(book: RouteBook, routing: str, offset: IntArray) -> int:
    """Parts of a large flow, at least: with fewer than its ways some would stay empty.

    Where ways weigh alike, each flow has as many more as its own ways want.
    """
    if routing not in AWARE:
        return DRAWS
    # The constants of dragonflies were fitted with as many parts as shortest ways.
    ways = book.ways_given if book.wiring.grouped else int(np.diff(offset).max())
    return max(DRAWS, ways)


def gather(topology: Topology, exchanges: Sequence[Exchange]) -> FlowSet:
    """Count the messages of every job between each two routers."""
    first = first_node(topology)
    widest = int(np.diff(first).max())
    parts = []
    for number, exchange in enumerate(exchanges):
        if exchange.nodes.size and int(exchange.nodes.max()) >= topology.nodes:
            raise InputError(f"job {number}: network '{topology.name}' has no node "
                             f"{int(exchange.nodes.max())}; it has {topology.nodes}")
        traffic = exchange.traffic
        parts.append(count_messages(
            exchange.nodes, exchange.node_of_task, _to_read(traffic.source),
            _to_read(traffic.target), _to_read(traffic.messages), topology.node_router, first,
            widest))
    job = np.repeat(np.arange(len(parts), dtype=np.int64), [len(part[0]) for part in parts])
    return FlowSet(job, *(np.concatenate([part[i] for part in parts]) for i in range(5)))


def _to_read(values: NDArray[Any]) -> NDArray[Any]:
    """The same values, not to be written: those of patterns are so, and kernels are compiled anew
    for others."""
    seen = values.view()
    seen.flags.writeable = False
    return seen


def first_node(topology: Topology) -> IntArray:
    """First node of each router, and the number of nodes at the end."""
    first = np.searchsorted(topology.node_router, np.arange(topology.routers + 1))
    return first.astype(np.int64)


def _hops_of_job(flows: FlowSet, pair: IntArray, pairs: IntArray, routes: Routes,
                 jobs: int) -> FloatArray:
    """Hops of the longest minimal way of each job, with the two node links."""
    path = routes.path_start[pairs]
    hops = (routes.link_start[path + 1] - routes.link_start[path])[pair] + 2
    longest = np.zeros(jobs)
    np.maximum.at(longest, flows.job, hops)
    return longest
