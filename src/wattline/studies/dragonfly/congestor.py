"""The congestor experiment: an application beside a congestor, under six placements.

On the real machine 200 nodes were held; a congestor ran on 64 of them and an application on 32.
Here the nodes are runs of neighbours on an Aries-like machine, as a scheduler gives them out; the
congestor exchanges all to all on nodes drawn from them for longer than the application, which
exchanges halos beside it. All of it runs packet by packet, since the harm that a congestor does
is full buffers that hold up packets of others, and the counters that placements read come from
a run of the congestor alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from wattline.model.jobs import IntArray
from wattline.network.counters import router_stalls, router_traffic
from wattline.network.flows import PACKET_BYTES, Exchange
from wattline.network.packets import packet_book, packet_times
from wattline.network.placement import Placer, Readings
from wattline.network.routes import RouteBook
from wattline.network.sensitivity import shipped_profiles
from wattline.network.topology import Topology, aries
from wattline.network.traffic import pattern

APPLICATIONS = ("minimd", "lammps", "milc", "miniamr", "qmcpack", "hpcg")
PLACEMENTS = ("high-traffic-router", "random", "low-stall-router", "fewer-router",
              "low-traffic-router")
HELD, CONGESTOR, APPLICATION = 200, 64, 32
RUNS_OF_NODES = 5
TASKS_PER_NODE = 8
WORK_BYTES = 4096.0
NOISE_BYTES = 32768.0


@dataclass(frozen=True)
class CongestorResult:
    """Mean execution time over that without a congestor: by application, then by placement."""

    stretch: Mapping[str, Mapping[str, float]]
    better: Mapping[str, float]
    """How much shorter miniMD runs on low-traffic routers than under each other placement."""
    repeats: int


def machine() -> Topology:
    """Four groups of an Aries machine: 1,536 nodes."""
    return aries(groups=4, links_per_group_pair=24)


def run_once(seed: int) -> dict[str, float]:
    """Communication time of the application under each placement, over that without congestor."""
    book = _book()
    topology = book.topology
    rng = np.random.default_rng(seed)
    held = _held_nodes(topology, rng)
    congestor = np.sort(rng.choice(held, CONGESTOR, replace=False))
    noise = _exchange(congestor, "all-to-all", 1, NOISE_BYTES)
    readings = _counters(book, congestor, rng)
    free = np.setdiff1d(held, congestor)
    times = {}
    for placement in ("none", *PLACEMENTS):
        alone = placement == "none"
        placer = Placer(topology, "fewer-router" if alone else placement, seed, readings)
        placer.free[:] = False
        placer.free[held if alone else free] = True
        work = _exchange(placer.place(APPLICATION), "halo3d", TASKS_PER_NODE, WORK_BYTES)
        result = packet_times(book, [work] if alone else [work, noise],
                              np.random.default_rng(seed), watched=0)
        times[placement] = float(result.time_s[0])
    return {name: times[name] / times["none"] for name in PLACEMENTS}


@cache
def _book() -> RouteBook:
    return packet_book(machine())


def _held_nodes(topology: Topology, rng: np.random.Generator) -> IntArray:
    """Runs of neighbouring nodes at random places."""
    length = HELD // RUNS_OF_NODES
    slots = rng.choice(topology.nodes // length, RUNS_OF_NODES, replace=False)
    return np.sort(np.concatenate([np.arange(length) + slot * length for slot in slots]))


def _exchange(nodes: IntArray, name: str, tasks_per_node: int, message_bytes: float) -> Exchange:
    traffic = pattern(name, len(nodes) * tasks_per_node)
    return Exchange(nodes, np.repeat(nodes, tasks_per_node), traffic, message_bytes)


def _counters(book: RouteBook, congestor: IntArray, rng: np.random.Generator) -> Readings:
    """Counters of each router while only the congestor runs."""
    topology = book.topology
    packets = packet_times(book, [_exchange(congestor, "all-to-all", 1, NOISE_BYTES / 4)], rng)
    seconds = float(packets.time_s[0])
    carried = packets.link_packets.astype(np.float64) * PACKET_BYTES
    return Readings(router_traffic(topology, carried, seconds),
                    router_stalls(topology, packets.link_stall_s, seconds))


def summarize(runs: list[dict[str, float]]) -> CongestorResult:
    """Execution times from communication times, through the profile of each application."""
    profiles = shipped_profiles()
    stretch = {
        profiles[name].name: {
            placement: float(np.mean([profiles[name].stretch(run[placement]) for run in runs]))
            for placement in PLACEMENTS
        }
        for name in APPLICATIONS
    }
    minimd = stretch["miniMD"]
    quiet = minimd["low-traffic-router"]
    better = {name: 1.0 - quiet / minimd[name] for name in PLACEMENTS
              if name != "low-traffic-router"}
    return CongestorResult(stretch, better, len(runs))
