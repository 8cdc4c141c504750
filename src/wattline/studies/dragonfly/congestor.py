"""The congestor experiment: an application beside a congestor, under six placements.

On the real machine 200 nodes were held; a congestor ran on 64 of them and an application on 32.
Here the nodes are runs of neighbours on an Aries-like machine, as a scheduler gives them out; the
congestor exchanges all to all on nodes drawn from them and never ends, and the application
exchanges halos beside it. Counters come from a packet-level run of the congestor alone, and the
times from the flow model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wattline.model.jobs import IntArray
from wattline.network.counters import router_stalls, router_traffic
from wattline.network.flows import Exchange, flow_book, flow_times
from wattline.network.packets import packet_book, packet_times
from wattline.network.placement import Placer, Readings
from wattline.network.sensitivity import shipped_profiles
from wattline.network.topology import Topology, aries
from wattline.network.traffic import map_tasks, pattern

APPLICATIONS = ("minimd", "lammps", "milc", "miniamr", "qmcpack", "hpcg")
PLACEMENTS = ("high-traffic-router", "random", "low-stall-router", "fewer-router",
              "low-traffic-router")
HELD, CONGESTOR, APPLICATION = 200, 64, 32
RUNS_OF_NODES = 5
TASKS_PER_NODE = 8


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
    """Communication time of the application under each placement, over none beside it."""
    topology = machine()
    flows = flow_book(topology)
    rng = np.random.default_rng(seed)
    held = _held_nodes(topology, rng)
    congestor = np.sort(rng.choice(held, CONGESTOR, replace=False))
    noise = _exchange(congestor, "all-to-all", 1e6, rng)
    readings = _counters(topology, noise, rng)
    free = np.setdiff1d(held, congestor)
    times = {}
    for placement in ("none", *PLACEMENTS):
        alone = placement == "none"
        placer = Placer(topology, "fewer-router" if alone else placement, seed, readings)
        placer.free[:] = False
        placer.free[held if alone else free] = True
        nodes = placer.place(APPLICATION)
        work = _exchange(nodes, "halo3d", 16384.0, np.random.default_rng((seed, 7)))
        together = [work] if alone else [work, noise]
        times[placement] = float(flow_times(flows, together, seed=seed + 1).time_s[0])
    return {name: times[name] / times["none"] for name in PLACEMENTS}


def _held_nodes(topology: Topology, rng: np.random.Generator) -> IntArray:
    """Runs of neighbouring nodes at random places."""
    length = HELD // RUNS_OF_NODES
    slots = rng.choice(topology.nodes // length, RUNS_OF_NODES, replace=False)
    return np.sort(np.concatenate([np.arange(length) + slot * length for slot in slots]))


def _exchange(nodes: IntArray, name: str, message_bytes: float,
              rng: np.random.Generator) -> Exchange:
    traffic = pattern(name, len(nodes) * TASKS_PER_NODE)
    return Exchange(nodes, map_tasks(nodes, traffic.tasks, "linear", rng), traffic, message_bytes)


def _counters(topology: Topology, noise: Exchange, rng: np.random.Generator) -> Readings:
    """Counters of each router while only the congestor runs."""
    small = Exchange(noise.nodes, map_tasks(noise.nodes, 2 * CONGESTOR, "linear", rng),
                     pattern("all-to-all", 2 * CONGESTOR), 4096.0)
    packets = packet_times(packet_book(topology), [small], rng)
    seconds = float(packets.time_s[0])
    carried = packets.link_packets.astype(np.float64) * 1024.0
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
