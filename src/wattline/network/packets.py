"""A packet-level simulator of small machines: the check on the flow model.

Every link is a server with a queue for each virtual channel; a packet takes channel k on its k-th
hop, so that no cycle of full buffers can arise. Buffers are finite: a packet starts over a link
only when there is room behind it, so congestion spreads back to the sources. The head of a packet
moves on after one hop time (virtual cut-through). At its source a packet looks at the queues of
one minimal path and one detour, both drawn at random, and takes the cheaper one: queue length
times hops (UGAL with local information).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.network.equilibrium import check_routing
from wattline.network.flows import HOP_S, PACKET_BYTES, Exchange
from wattline.network.kernels.packets import simulate
from wattline.network.routes import RouteBook
from wattline.network.topology.base import Topology

BUFFER_PACKETS = 16
"""Packets that the buffer of one virtual channel of one link holds."""


@dataclass(frozen=True, eq=False)
class PacketResult:
    """What the packets did."""

    time_s: FloatArray
    """Until the last packet of each job has arrived."""
    packets: int
    hops: int
    """Links crossed by all packets, node links not counted."""
    detoured: int
    """Packets that took a detour."""
    link_packets: IntArray
    link_stall_s: FloatArray
    """Time that the packet in front of an idle link had to wait for room behind the link."""


def packet_book(topology: Topology) -> RouteBook:
    """The paths that packets choose from: detours by every third group."""
    return RouteBook(topology, detours=max(1, topology.groups))


def packet_times(book: RouteBook, exchanges: Sequence[Exchange], rng: np.random.Generator, *,
                 routing: str = "adaptive", buffer_packets: int = BUFFER_PACKETS,
                 watched: int = -1) -> PacketResult:
    """Communication times of jobs that exchange messages at the same time, packet by packet.

    When a job is watched, the run ends with it, and other jobs may have packets under way.
    """
    mode = check_routing(routing)
    topology = book.topology
    source, target, job = _packets(exchanges)
    # All messages are in flight at once: a node sends its packets in an order drawn at random.
    order = np.argsort(source + rng.random(len(source)) * 0.999, kind="stable")
    source, target, job = source[order], target[order], job[order]
    routes, row = book.routes(topology.node_router[source], topology.node_router[target])
    ports_in = _ports_in(topology.link_to, topology.node_router, topology.links, topology.routers)
    longest = int(np.diff(routes.link_start).max()) + 2
    service = PACKET_BYTES / topology.capacity_bytes_s
    done, hops, detoured, crossed, stalled = simulate(
        source, target, job, len(exchanges), row, routes.path_start, routes.link_start,
        routes.link, routes.minimal, topology.link_from, topology.node_router, *ports_in,
        topology.links, topology.nodes, service, HOP_S, buffer_packets, longest, mode,
        int(rng.integers(1, 2**31 - 2)), watched)
    return PacketResult(done, len(source), int(hops), int(detoured), crossed, stalled)


def _packets(exchanges: Sequence[Exchange]) -> tuple[IntArray, IntArray, IntArray]:
    sources, targets, jobs = [], [], []
    for number, exchange in enumerate(exchanges):
        one = exchange.node_of_task[exchange.traffic.source]
        other = exchange.node_of_task[exchange.traffic.target]
        count = np.ceil(exchange.traffic.messages * exchange.message_bytes / PACKET_BYTES)
        count = np.where(one == other, 0, count).astype(np.int64)
        sources.append(np.repeat(one, count))
        targets.append(np.repeat(other, count))
        jobs.append(np.full(int(count.sum()), number, dtype=np.int64))
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(jobs)


def _ports_in(link_to: IntArray, node_router: IntArray, links: int,
              routers: int) -> tuple[IntArray, IntArray]:
    """Links that lead into each router, those of its nodes included."""
    ends = np.concatenate((link_to, node_router))
    order = np.argsort(ends, kind="stable")
    start = np.searchsorted(ends[order], np.arange(routers + 1))
    return start.astype(np.int64), order.astype(np.int64)
