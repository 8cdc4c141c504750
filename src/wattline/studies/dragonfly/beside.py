"""An application that goes on, and what goes on beside it for as long: congestors, other users.

Nobody has a backlog that would decide how long the application takes. It repeats its exchange,
each task waiting for what the time before brings it; a congestor goes on in rounds, and other users
send to and fro, until the application has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from wattline.model.jobs import IntArray
from wattline.network.flows import PACKET_BYTES, Exchange
from wattline.network.packets import PacketResult, packet_times
from wattline.network.rounds import in_steps
from wattline.network.routes import RouteBook
from wattline.network.topology import Topology
from wattline.network.traffic import Traffic, pattern

ITERATIONS = 8
TASKS_PER_NODE = 8
"""Of an application, and of a congestor that goes from all to all."""
WORK_BYTES = 4096.0
NOISE_BYTES = 4096.0
"""What a task of a congestor sends to another in one round."""
KINDS = ("all-to-all", "one-to-all")
FIRST_ROUNDS = 1
"""Times that a congestor goes through its targets, until it turns out that it needs more."""
OTHER_NODES, MOST_PAIRS, PINGS = 32, 8, 1500
"""Nodes of a job of other users, pairs of them that talk at most, and how often."""


def halos(nodes: IntArray, iterations: int = ITERATIONS) -> Exchange:
    """An application that exchanges halos again and again."""
    traffic = pattern("halo3d", len(nodes) * TASKS_PER_NODE)
    step = np.zeros(len(traffic.source), dtype=np.int64)
    return _again(nodes, np.repeat(nodes, TASKS_PER_NODE), traffic, step, WORK_BYTES, iterations)


def congestor(nodes: IntArray, kind: str, times: int) -> Exchange:
    """All to all in rounds, or puts of the first node to all the others, so many times."""
    if kind == "all-to-all":
        return _again(nodes, np.repeat(nodes, TASKS_PER_NODE),
                      *in_steps(kind, len(nodes) * TASKS_PER_NODE), NOISE_BYTES, times)
    traffic = pattern("broadcast", len(nodes))
    # Its one sender goes on at the rate of its link: so that both kinds last about as long.
    puts = Traffic(traffic.tasks, traffic.source, traffic.target,
                   traffic.messages * times * len(nodes))
    return Exchange(nodes, nodes, puts, NOISE_BYTES)


def other_users(topology: Topology, held: IntArray, rng: np.random.Generator) -> list[Exchange]:
    """Jobs on the nodes that are not held: some pairs of nodes send a packet to and fro."""
    idle = np.setdiff1d(np.arange(topology.nodes), held)
    jobs = np.split(idle[:len(idle) // OTHER_NODES * OTHER_NODES], len(idle) // OTHER_NODES)
    return [_pings(rng.choice(nodes, 2 * int(rng.integers(1, MOST_PAIRS + 1)), replace=False))
            for nodes in jobs]


def run_beside(book: RouteBook, work: Exchange, noise: Callable[[int], Exchange],
               others: Sequence[Exchange], seed: int) -> PacketResult:
    """Run until the work is done, beside a congestor that is not done before it."""
    times = FIRST_ROUNDS
    while True:
        made = noise(times)
        found = packet_times(book, [work, made, *others], np.random.default_rng(seed), watched=0)
        if _sent(book.topology, found, made.nodes) < _packets(made):
            return found
        times *= 4


def _again(nodes: IntArray, node_of_task: IntArray, traffic: Traffic, step: IntArray,
           message_bytes: float, times: int) -> Exchange:
    """An exchange in steps so many times, one after the other."""
    steps = int(step.max(initial=0)) + 1
    begin = np.repeat(np.arange(times, dtype=np.int64) * steps, len(step))
    tiled = Traffic(traffic.tasks, np.tile(traffic.source, times), np.tile(traffic.target, times),
                    np.tile(traffic.messages, times))
    return Exchange(nodes, node_of_task, tiled, message_bytes, np.tile(step, times) + begin)


def _pings(nodes: IntArray) -> Exchange:
    """The first half of the nodes and the second send to each other in turn."""
    one, other = np.split(np.arange(len(nodes), dtype=np.int64), 2)
    traffic = Traffic(len(nodes), np.concatenate((one, other)), np.concatenate((other, one)),
                      np.ones(len(nodes)))
    step = np.repeat(np.arange(2, dtype=np.int64), len(one))
    return _again(nodes, nodes, traffic, step, float(PACKET_BYTES), PINGS)


def _packets(exchange: Exchange) -> int:
    """Packets that have to leave their nodes."""
    traffic = exchange.traffic
    each = np.ceil(traffic.messages * exchange.message_bytes / PACKET_BYTES)
    return int(each[exchange.node_of_task[traffic.source]
                    != exchange.node_of_task[traffic.target]].sum())


def _sent(topology: Topology, found: PacketResult, nodes: IntArray) -> int:
    """Packets that have left these nodes."""
    return int(found.link_packets[topology.links + nodes].sum())
