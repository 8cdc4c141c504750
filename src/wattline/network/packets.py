"""A packet-level simulator of small machines: the check on the flow model.

Every link is a server with a queue for each virtual channel; a packet takes channel k on its k-th
hop, so that no cycle of full buffers can arise. Buffers are finite: a packet starts over a link
only when there is room behind it, so congestion spreads back to the sources. The head of a packet
moves on after one hop time (virtual cut-through). At its source a packet looks at the queues of
one minimal path and one detour, both drawn at random, and goes by the rule of its routing
(`Rule`): `adaptive` takes the detour only where it has more than twice the room of the direct way,
`ugal` takes the one with the smaller queue length times hops.

A job's messages are all in flight at once, or, where its exchange says in which step each is sent,
a task sends those of its next step when it has received those of the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.progress import silent
from wattline.model.signal import FloatArray
from wattline.network.equilibrium import check_routing
from wattline.network.flows import HOP_S, PACKET_BYTES, Exchange
from wattline.network.kernels.packets import (
    ARRIVED,
    AWAITED,
    DETOURED,
    HOPS,
    READY,
    SEED,
    Yard,
    run_packets,
)
from wattline.network.routes import RouteBook
from wattline.network.topology.base import Topology

BUFFER_PACKETS = 16
"""Packets that the buffer of one virtual channel of one cable holds."""
EVENTS_A_CALL = 10_000_000
"""A few seconds of work, after which progress is told."""
THRESHOLD = 2.0
MOST_THRESHOLD = 1e6


@dataclass(frozen=True)
class Rule:
    """When a packet takes its detour: where that has more than `threshold` times the credits.

    The credits of a way are the room of a channel's buffer less the queue of its first link, which
    is all that the source router knows. As it stands this is the rule of the `adaptive-local`
    routing of the merlin network in SST, with its default threshold.
    """

    threshold: float = THRESHOLD
    one_channel: bool = True
    """Whether only the channel that the packet would take counts as the queue, or all of them."""
    by_hops: bool = False
    """Whether the queue counts once for each hop of the way."""

    def __post_init__(self) -> None:
        if not 1.0 <= self.threshold <= MOST_THRESHOLD:
            raise InputError(f"threshold is {self.threshold:g}; it says how many times the room of "
                             f"the direct way a detour needs: 1 to {MOST_THRESHOLD:g}")


RULES = {"adaptive": Rule(), "ugal": Rule(1.0, one_channel=False, by_hops=True)}
"""What each routing that looks at queues goes by."""


def rule_of(routing: str, threshold: float | None = None) -> Rule:
    """The rule of a routing, with another threshold where one is given."""
    check_routing(routing)
    if threshold is None:
        return RULES.get(routing, Rule())
    if routing != "adaptive":
        raise InputError(f"a threshold belongs to adaptive routing, and the routing is '{routing}'")
    return Rule(threshold)


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


def packet_book(topology: Topology, routing: str = "adaptive") -> RouteBook:
    """The paths that packets choose from: detours by every third group.

    Inside a group packets detour too, by a third router of it; under `ugal` they do not.
    """
    return RouteBook(topology, detours=max(1, topology.groups), inside=routing != "ugal")


def packet_times(book: RouteBook, exchanges: Sequence[Exchange], rng: np.random.Generator, *,
                 routing: str = "adaptive", rule: Rule | None = None,
                 buffer_packets: int = BUFFER_PACKETS, watched: int = -1,
                 progress: Callable[[float], None] = silent) -> PacketResult:
    """Communication times of jobs that exchange messages at the same time, packet by packet.

    When a job is watched, the run ends with it, and other jobs may have packets under way.
    """
    mode = check_routing(routing)
    rule = rule or rule_of(routing)
    topology = book.topology
    load = _load(exchanges, rng)
    routes, row = book.routes(topology.node_router[load.source], topology.node_router[load.target])
    channels = int(np.diff(routes.link_start).max()) + 2
    setting = np.array([topology.links, topology.nodes, channels, mode, watched,
                        rule.one_channel, rule.by_hops], dtype=np.int64)
    number = np.zeros(8, dtype=np.int64)
    number[READY] = load.ready
    number[SEED] = rng.integers(1, 2**31 - 2)
    # Without a job to wait for, the count never comes down to zero.
    number[AWAITED] = max(1, int(np.sum((load.job == watched) & (load.source != load.target))))
    yard = Yard(
        setting=setting, threshold=np.array([rule.threshold]), number=number, row=row,
        opens=load.opens, source=load.source, target=load.target, job=load.job,
        batch_first=load.batch_first, batch_waits=load.batch_waits, batch_more=load.batch_more,
        ready=load.ready_batches, path_start=routes.path_start, link_start=routes.link_start,
        link=routes.link, minimal=routes.minimal.view(np.int8), link_from=topology.link_from,
        node_router=topology.node_router, hop_s=np.array([HOP_S]),
        room=buffer_packets * cables_of_links(topology),
        service=PACKET_BYTES / topology.capacity_bytes_s, done=np.zeros(len(exchanges)),
        **_ports_in(topology), **_queues(len(load.source), topology, channels))
    packets = int(np.sum(load.source != load.target))
    while run_packets(yard, EVENTS_A_CALL):
        progress(int(number[ARRIVED]) / packets)
    return PacketResult(yard.done, packets, int(number[HOPS]),
                        int(number[DETOURED]), yard.crossed, yard.stalled)


def cables_of_links(topology: Topology) -> IntArray:
    """Cables that a link counts as: as many as carry its rate, each as fast as that of a node.

    Each has a buffer of its own. With that of one cable a link of a whole switch would wait for
    room most of the time, since a packet holds its place for one hop time at least.
    """
    cables = np.ceil(topology.link_gbit_s / topology.node_gbit_s - 1e-9).astype(np.int64)
    of_nodes = np.ones(2 * topology.nodes, dtype=np.int64)
    return np.concatenate((np.maximum(1, cables), of_nodes))


class _Load(NamedTuple):
    """The packets of all jobs, and the batches in which they are handed over."""

    source: IntArray
    target: IntArray
    job: IntArray
    opens: IntArray
    """The batch that waits for the arrival of each packet, or -1."""
    batch_first: IntArray
    batch_waits: IntArray
    batch_more: IntArray
    """Whether the next batch is the same sender's next one."""
    ready_batches: IntArray
    ready: int


def _load(exchanges: Sequence[Exchange], rng: np.random.Generator) -> _Load:
    """Packets sorted by batch: one batch a node, or one for each task and each of its steps."""
    sources: list[IntArray] = []
    targets: list[IntArray] = []
    batches: list[IntArray] = []
    opens: list[IntArray] = []
    jobs: list[IntArray] = []
    more: list[IntArray] = []
    batch_count = 0
    for number, exchange in enumerate(exchanges):
        traffic = exchange.traffic
        one, other = (exchange.node_of_task[ends] for ends in (traffic.source, traffic.target))
        count = np.ceil(traffic.messages * exchange.message_bytes / PACKET_BYTES).astype(np.int64)
        if exchange.step is None:
            count[one == other] = 0
            _, batch = np.unique(one, return_inverse=True)
            here = int(batch.max(initial=-1)) + 1
            more.append(np.zeros(here, dtype=np.int64))
            opened = np.full(len(one), -1)
        else:
            steps = int(exchange.step.max(initial=0)) + 1
            here = traffic.tasks * steps
            batch = traffic.source * steps + exchange.step
            opened = np.where(exchange.step + 1 < steps,
                              batch_count + traffic.target * steps + exchange.step + 1, -1)
            more.append((np.arange(here) % steps < steps - 1).astype(np.int64))
        for values, found in ((sources, one), (targets, other), (batches, batch_count + batch),
                              (opens, opened)):
            values.append(np.repeat(found, count))
        jobs.append(np.full(int(count.sum()), number, dtype=np.int64))
        batch_count += here
    batch, source = np.concatenate(batches), np.concatenate(sources)
    # Packets of one batch are handed over in an order drawn at random.
    order = np.argsort(batch + rng.random(len(batch)) * 0.999, kind="stable")
    opened = np.concatenate(opens).astype(np.int64)
    batch_more = np.concatenate(more)
    waits = np.bincount(opened[opened >= 0], minlength=batch_count)
    waits[1:] += batch_more[:-1]
    ready = np.flatnonzero(waits == 0)[::-1]
    stack = np.zeros(max(1, batch_count), dtype=np.int64)
    stack[:len(ready)] = ready
    first = np.concatenate(([0], np.cumsum(np.bincount(batch, minlength=batch_count))))
    return _Load(source[order].astype(np.int64), np.concatenate(targets)[order].astype(np.int64),
                 np.concatenate(jobs)[order], opened[order], first.astype(np.int64),
                 waits.astype(np.int64), batch_more, stack, len(ready))


def _queues(packets: int, topology: Topology, channels: int) -> dict[str, npt.NDArray[Any]]:
    """Empty queues, idle links and an empty heap."""
    links = len(topology.capacity_bytes_s)
    counts = ("busy", "turn", "waiting", "crossed", "stacked", "stack")
    return {
        **{name: np.zeros(links, dtype=np.int64) for name in counts},
        **{name: np.full(links * channels, -1, dtype=np.int64) for name in ("head", "tail")},
        **{name: np.full(packets, -1, dtype=np.int64) for name in ("path", "following")},
        "held": np.zeros(links * channels, dtype=np.int64),
        "hop": np.zeros(packets, dtype=np.int64),
        "carried": np.full(links, -1, dtype=np.int64),
        "blocked_since": np.full(links, -1.0),
        "stalled": np.zeros(links),
        "now": np.zeros(1),
        # A link that is busy has one event, and so has a packet that is under way.
        "times": np.zeros(links + packets + 1),
        "codes": np.zeros(links + packets + 1, dtype=np.int64),
    }


def _ports_in(topology: Topology) -> dict[str, IntArray]:
    """Links that lead into each router, those of its nodes included."""
    ends = np.concatenate((topology.link_to, topology.node_router))
    order = np.argsort(ends, kind="stable")
    start = np.searchsorted(ends[order], np.arange(topology.routers + 1))
    return {"in_start": start.astype(np.int64), "in_link": order.astype(np.int64)}
