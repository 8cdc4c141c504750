"""What a network carries when all nodes send as fast as they can, in one of three patterns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.progress import Advance, Stages, silent
from wattline.model.signal import FloatArray
from wattline.network.equilibrium import AWARE, check_routing
from wattline.network.flows import PACKET_BYTES, Exchange, flow_book, flow_times
from wattline.network.needs import check_memory, memory_needed
from wattline.network.packets import packet_book, packet_times, rule_of
from wattline.network.routes import RouteBook, routing_remarks
from wattline.network.topology.base import Topology
from wattline.network.traffic import Traffic
from wattline.network.ways import spread, spread_by_thirds

LOADS = ("uniform", "adversarial", "incast")
MODELS = ("flow", "packet")
MESSAGES = 200
"""Messages of 1 KB that a node sends, unless asked otherwise."""
ABOVE = 1e-6
"""Part of a limit by which a throughput is above it by more than rounding."""
BESIDE_PACKETS = {
    "valiant": {"on dragonflies": (32, 5), "on a torus": (14, 11)},
    "adaptive": {"on dragonflies": (43, 26), "on a torus": (15, 19)},
    "ugal": {"on dragonflies": (28, 13), "on a torus": (8, 15)},
}
"""How far throughputs of flows were below and above those of packets, in percent: the widest over
16 small networks and three patterns, 200 messages per node, one seed (docs/network.md)."""
TIMED = 0.9
"""Part of the work that is finding the time; the rest is finding the limit."""
FEWEST_GROUPS = 3
"""Of a dragonfly on which the two models were compared: a detour goes by a third one."""
MOST_MESSAGES = 5_000_000
"""Of all nodes together: more do not fit in memory."""


@dataclass(frozen=True)
class Load:
    """The throughput of a network, and what it was found with."""

    machine: str
    pattern: str
    routing: str
    model: str
    threshold: float | None
    """Of adaptive routing packet by packet; None where no queue is looked at by one."""
    nodes: int
    messages_per_node: int
    seed: int
    time_s: float
    """Until the last message has arrived."""
    throughput: float
    """Part of its link's rate at which a node that sends does so, over the whole time."""
    limit: float | None
    """The throughput at which the fullest link is full when each pair of routers uses its minimal
    ways alike, or all its detours under Valiant. Packets that find no room draw another way, so
    they use ways less where links are full, and can be faster than that. Where the routing looks
    at loads, what the links of the nodes allow; None where they do not limit it."""
    detoured: float | None
    """Part of the packets that took a detour."""
    remarks: tuple[str, ...] = ()
    """What was assumed of the network: a sentence each."""

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "remarks": list(self.remarks)}


def measure_load(topology: Topology, pattern: str = "uniform", *, routing: str = "adaptive",
                 model: str = "packet", threshold: float | None = None, messages: int = MESSAGES,
                 seed: int = 1, say: Callable[[str], None] | None = None,
                 progress: Advance = silent) -> Load:
    """Let every node send so many messages of 1 KB, and see how long it takes.

    `say` is told beforehand how much memory that takes, where it is worth saying.
    """
    check_routing(routing)
    if model not in MODELS:
        raise InputError(f"model '{model}' is unknown; write one of {', '.join(MODELS)}")
    if threshold is not None and model == "flow":
        raise InputError("flows look at no queues, so a threshold has no meaning for them; "
                         "take the packet model")
    rule = rule_of(routing, threshold)
    exchange = load_exchange(topology, pattern, messages)
    detoured = None
    book = flow_book(topology, routing) if model == "flow" else packet_book(topology, routing)
    remark = check_memory(memory_needed(book, exchange, model))
    if remark and say:
        say(remark)
    advance = Stages(progress).stage(TIMED)
    if model == "flow":
        time_s = float(flow_times(book, [exchange], routing=routing, seed=seed,
                                  progress=advance).time_s[0])
    else:
        found = packet_times(book, [exchange], np.random.default_rng(seed), routing=routing,
                             rule=rule, progress=advance)
        time_s, detoured = float(found.time_s[0]), found.detoured / found.packets
    advance(1.0)
    rate = topology.node_gbit_s * 1e9 / 8
    throughput = messages * PACKET_BYTES / time_s / rate
    limit = throughput_limit(topology, exchange, routing, messages)
    return Load(topology.name, pattern, routing, model,
                rule.threshold if routing == "adaptive" and model == "packet" else None,
                topology.nodes, messages, seed, time_s, throughput, limit, detoured,
                (*topology.remarks, *routing_remarks(topology, routing), *book.remarks,
                 *_model_remarks(book, routing, model, throughput, limit)))


def _model_remarks(book: RouteBook, routing: str, model: str, throughput: float,
                   limit: float | None) -> tuple[str, ...]:
    """What a model of its own does to the throughput."""
    found = []
    topology = book.topology
    if model == "flow" and routing in BESIDE_PACKETS and topology.is_dragonfly and (
            topology.groups < FEWEST_GROUPS):
        found.append(f"flows were held beside packets on {FEWEST_GROUPS} groups and more; with "
                     "fewer the two know other detours (--model packet)")
    elif model == "flow" and routing in BESIDE_PACKETS and book.detours:
        where = "on dragonflies" if topology.is_dragonfly else "on a torus"
        below, above = BESIDE_PACKETS[routing][where]
        found.append(f"flows know no queues: in long exchanges {where} under '{routing}' routing "
                     f"their throughput was from {below} % below to {above} % above that of "
                     "packets (--model packet)")
    if limit is not None and throughput > limit * (1 + ABOVE):
        found.append("the throughput is above the limit, which is that of ways used alike: "
                     + ("packets that find no room draw another way" if model == "packet"
                        else "flows know some of them alone"))
    return tuple(found)


def load_exchange(topology: Topology, pattern: str, messages: int) -> Exchange:
    """Every node sends its messages to these nodes in turn.

    `uniform`: to nodes at equal distances over the whole machine; `adversarial`: to those of the
    next group, the worst case of minimal routing (without groups, of the router that is half of
    the routers further); `incast`: all to node 0.
    """
    if pattern not in LOADS:
        raise InputError(f"pattern '{pattern}' is unknown; write one of {', '.join(LOADS)}")
    nodes = topology.nodes
    if nodes < 2:
        raise InputError(f"network '{topology.name}' has one node; a load needs two")
    if not 1 <= messages <= MOST_MESSAGES // nodes:
        raise InputError(f"{messages} messages per node; on {nodes} nodes 1 to "
                         f"{MOST_MESSAGES // nodes} are possible")
    number = np.arange(messages)
    if pattern == "incast":
        source = np.repeat(np.arange(1, nodes), messages)
        target = np.zeros(len(source), dtype=np.int64)
    else:
        source = np.repeat(np.arange(nodes), messages)
        if pattern == "uniform":
            ahead = 1 + number * (nodes - 1) // messages if messages < nodes else (
                1 + number % (nodes - 1))
            target = (source + np.tile(ahead, nodes)) % nodes
        else:
            target = _next_targets(topology, messages)
    pairs, count = np.unique(source * nodes + target, return_counts=True)
    traffic = Traffic(nodes, pairs // nodes, pairs % nodes, count.astype(np.float64))
    every = np.arange(nodes, dtype=np.int64)
    return Exchange(every, every, traffic, float(PACKET_BYTES))


def _next_targets(topology: Topology, messages: int) -> IntArray:
    """For each node and each of its messages a node of the next group (or of a far router)."""
    by_group = "groups" in topology.levels
    part = topology.node_group if by_group else topology.node_router
    # Parts without nodes (the upper switches of a fat-tree) do not count.
    label, place = np.unique(part, return_inverse=True)
    parts = len(label)
    if parts < 2:
        raise InputError(f"network '{topology.name}' has one group; the adversarial pattern sends "
                         "from each group to the next")
    first = np.searchsorted(place, np.arange(parts + 1))
    aim = (place + (1 if by_group else max(1, parts // 2))) % parts
    size = first[aim + 1] - first[aim]
    turn = np.arange(topology.nodes)[:, None] - first[place][:, None] + np.arange(messages)
    return (first[aim][:, None] + turn % size[:, None]).ravel().astype(np.int64)


def throughput_limit(topology: Topology, exchange: Exchange, routing: str,
                     messages: int) -> float | None:
    """The throughput at which the fullest link is full, whatever the model.

    All ways of a pair are used alike. A routing that looks at loads uses them as it likes, so that
    only the links of nodes are counted; these allow 1 where nobody gets more than one node sends.
    """
    traffic = exchange.traffic
    load = np.zeros(len(topology.capacity_bytes_s))
    for side, node in ((0, traffic.source), (topology.nodes, traffic.target)):
        np.add.at(load, topology.links + side + node, traffic.messages)
    aware = routing in AWARE
    if not aware:
        load[:topology.links] = _load_of_ways(packet_book(topology, routing), traffic, routing)
    # In units of what one node's link carries while it sends all of its messages.
    used = load / messages * (topology.node_gbit_s * 1e9 / 8) / topology.capacity_bytes_s
    return None if aware and used.max() <= 1 else float(1.0 / used.max())


def _load_of_ways(book: RouteBook, traffic: Traffic, routing: str) -> FloatArray:
    """Messages that cross each link between routers."""
    topology = book.topology
    ends = topology.node_router[traffic.source], topology.node_router[traffic.target]
    if not topology.is_dragonfly and (routing == "minimal" or not book.detours):
        # The ways of one domain can be counted, so that none is left out.
        return spread(book.wiring, *ends, traffic.messages)
    if not topology.is_dragonfly:
        return spread_by_thirds(book.wiring, *ends, traffic.messages)
    routes, row = book.routes(*ends)
    rows, at = np.unique(row, return_inverse=True)
    wanted = np.bincount(at, traffic.messages)
    load = np.zeros(topology.links)
    for pair, sent in zip(rows.tolist(), wanted.tolist(), strict=True):
        paths = np.arange(routes.path_start[pair], routes.path_start[pair + 1])
        direct = routes.minimal[paths]
        chosen = paths[~direct] if routing == "valiant" and not direct.all() else paths[direct]
        for path in chosen.tolist():
            links = routes.link[routes.link_start[path]:routes.link_start[path + 1]]
            load[links] += sent / len(chosen)
    return load
