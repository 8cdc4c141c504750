"""The communication times of one workload under one placement, by flows or by packets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.network.flows import Exchange, flow_book, flow_times
from wattline.network.packets import Rule, packet_book, packet_times
from wattline.network.placement import place_all
from wattline.network.rounds import in_steps
from wattline.network.routes import RouteBook
from wattline.network.topology.base import Topology
from wattline.network.traffic import TASKS_PER_NODE, Traffic, map_tasks, pattern
from wattline.studies.dragonfly.allocator import JOKANOVIC_CODE, place_by_code
from wattline.studies.dragonfly.workloads import JobMix


@dataclass(frozen=True, eq=False)
class PlacementOutcome:
    """Means over the jobs of each kind, and what the whole workload waited."""

    time_s: FloatArray
    """Communication time: one value a kind."""
    waited_node_s: float
    """Node-seconds beyond what the jobs' own node links need."""
    node_s: float
    """Node-seconds of communication, waiting included."""


Known = dict[tuple[int, bytes], tuple[FloatArray, FloatArray]]
"""Times found for a run and the nodes of all tasks."""


class Bench:
    """A machine with its paths, ready to evaluate many workloads.

    With `steps`, which needs packets, tasks wait for each other as in a message-passing library.
    """

    def __init__(self, topology: Topology, *, packets: bool = False, steps: bool = False,
                 routing: str = "adaptive", rule: Rule | None = None,
                 mapping: str = "random") -> None:
        self.topology = topology
        self.packets = packets
        self.steps = steps
        self.routing = routing
        self.rule = rule
        self.mapping = mapping
        self.book: RouteBook = (packet_book(topology, routing) if packets
                                else flow_book(topology, routing))

    def exchanges(self, workload: JobMix, placement: str,
                  rng: np.random.Generator) -> list[Exchange]:
        """Place the jobs in order on the empty machine and put their tasks on the nodes."""
        seed = int(rng.integers(2**31))
        if placement == JOKANOVIC_CODE:
            placed = place_by_code(self.topology, workload.sizes)
        else:
            placed = place_all(self.topology, placement, workload.sizes, seed=seed)
        made = []
        at = 0
        for kind in workload.kinds:
            traffic, step = self._messages(kind.pattern, kind.nodes * TASKS_PER_NODE)
            for _ in range(kind.count):
                nodes = placed[at]
                at += 1
                tasks = map_tasks(nodes, traffic.tasks, self.mapping, rng)
                made.append(Exchange(nodes, tasks, traffic, kind.message_bytes, step))
        return made

    def _messages(self, name: str, tasks: int) -> tuple[Traffic, IntArray | None]:
        """Messages of a pattern: all at once, or in the steps of a library (packets only)."""
        return in_steps(name, tasks) if self.steps else (pattern(name, tasks), None)

    def run(self, workload: JobMix, placement: str, seed: int, repeats: int = 1,
            known: Known | None = None, first: int = 0) -> PlacementOutcome:
        """Mean of several runs with other mappings and other random placements.

        Run k of every placement has the same seed, so that placements differ in nothing else; the
        runs are those from `first` on.
        Placements often choose the same nodes, which are evaluated once if they share a `known`;
        that is for one workload and seed only.
        """
        known = {} if known is None else known
        times, waited, spent = [], [], []
        sizes = np.array(workload.sizes)
        for repeat in range(first, first + repeats):
            rng = np.random.default_rng((seed, repeat))
            exchanges = self.exchanges(workload, placement, rng)
            chosen = repeat, b"".join(exchange.node_of_task.tobytes() for exchange in exchanges)
            if chosen not in known:
                known[chosen] = self._seconds(exchanges, rng)
            time_s, alone_s = known[chosen]
            times.append(workload.kind_means(time_s))
            waited.append(float(np.sum(np.maximum(0.0, time_s - alone_s) * sizes)))
            spent.append(float(np.sum(time_s * sizes)))
        return PlacementOutcome(np.mean(times, axis=0), float(np.mean(waited)),
                                float(np.mean(spent)))

    def _seconds(self, exchanges: list[Exchange],
                 rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Communication time of each job, and the time in which its own node links drain."""
        if self.packets:
            found = packet_times(self.book, exchanges, rng, routing=self.routing, rule=self.rule)
            return found.time_s, np.array([_drain_s(e, self.topology) for e in exchanges])
        result = flow_times(self.book, exchanges, routing=self.routing,
                            seed=int(rng.integers(1, 2**31 - 2)))
        return result.time_s, result.alone_s


def _drain_s(exchange: Exchange, topology: Topology) -> float:
    """Time in which the busiest node link of a job drains."""
    one = exchange.node_of_task[exchange.traffic.source]
    other = exchange.node_of_task[exchange.traffic.target]
    apart = one != other
    most = 0.0
    for ends in (one, other):
        total = np.bincount(ends[apart], exchange.traffic.messages[apart])
        most = max(most, float(total.max(initial=0.0)))
    return most * exchange.message_bytes / (topology.node_gbit_s * 1e9 / 8)
