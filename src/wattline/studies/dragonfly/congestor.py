"""The congestor experiment: an application beside a congestor, under six placements.

On the real machine 200 nodes were held; a congestor ran on 64 of them and an application on 32.
Here the nodes are runs of neighbours on an Aries-like machine, as a scheduler gives them out; the
application exchanges halos. The congestor, which goes on for longer, is one of two: `all-to-all`
in rounds from all its nodes, or `one-to-all` puts, which is what the broadcast of GPCNeT is by its
name: one of four fifths of its nodes puts to the others. The machine has other users: jobs on the
nodes that are not held, of which some pairs of nodes talk. All of it runs packet by packet, since
the harm that a congestor does is full buffers that hold up packets of others, and the counters that
placements read come from a run of the congestor and the other users.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from wattline.model.jobs import IntArray
from wattline.network.counters import router_stalls, router_traffic
from wattline.network.flows import PACKET_BYTES, Exchange
from wattline.network.packets import packet_book, packet_times
from wattline.network.placement import Placer, Readings
from wattline.network.routes import RouteBook
from wattline.network.sensitivity import shipped_profiles
from wattline.network.topology import Topology, aries
from wattline.studies.dragonfly.beside import KINDS, congestor, halos, other_users, run_beside

APPLICATIONS = ("minimd", "lammps", "milc", "miniamr", "qmcpack", "hpcg")
PLACEMENTS = ("high-traffic-router", "random", "low-stall-router", "fewer-router",
              "low-traffic-router")
HELD, CONGESTOR, APPLICATION = 200, 64, 32
RUNS_OF_NODES = 10
BUSY_SHARE = 0.8
"""Part of the congestor's nodes that GPCNeT congests with; the others measure."""


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


def run_once(seed: int, kind: str = KINDS[0]) -> dict[str, float]:
    """Communication time of the application under each placement, over that without congestor."""
    book = aries_book()
    topology = book.topology
    rng = np.random.default_rng(seed)
    held = held_nodes(topology, rng)
    taken = rng.choice(held, CONGESTOR, replace=False)
    busy = taken if kind == "all-to-all" else taken[:int(BUSY_SHARE * CONGESTOR)]
    noise = partial(congestor, busy, kind)
    others = other_users(topology, held, rng)
    readings = _counters(book, noise(1), others, rng)
    free = np.setdiff1d(held, taken)
    times = {}
    for placement in ("none", *PLACEMENTS):
        alone = placement == "none"
        placer = Placer(topology, "fewer-router" if alone else placement, seed, readings)
        placer.free[:] = False
        placer.free[held if alone else free] = True
        work = halos(placer.place(APPLICATION))
        result = (packet_times(book, [work, *others], np.random.default_rng(seed), watched=0)
                  if alone else run_beside(book, work, noise, others, seed))
        times[placement] = float(result.time_s[0])
    return {name: times[name] / times["none"] for name in PLACEMENTS}


@cache
def aries_book() -> RouteBook:
    return packet_book(machine())


def held_nodes(topology: Topology, rng: np.random.Generator, count: int = HELD,
               runs: int = RUNS_OF_NODES) -> IntArray:
    """Runs of neighbouring nodes at random places, which may begin and end inside a router."""
    length = count // runs
    spare = int(np.bincount(topology.node_router).max()) - 1
    slots = rng.choice(topology.nodes // (length + spare), runs, replace=False)
    starts = slots * (length + spare) + rng.integers(0, spare + 1, runs)
    return np.sort(np.concatenate([np.arange(length) + start for start in starts]))


def _counters(book: RouteBook, noise: Exchange, others: Sequence[Exchange],
              rng: np.random.Generator) -> Readings:
    """Counters of each router before the application runs, while the congestor does."""
    topology = book.topology
    packets = packet_times(book, [noise, *others], rng, watched=0)
    seconds = float(packets.time_s[0])
    carried = packets.link_packets.astype(np.float64) * PACKET_BYTES
    return Readings(router_traffic(topology, carried, seconds),
                    router_stalls(topology, packets.link_stall_s, seconds))


def summarize(runs: Sequence[Mapping[str, float]]) -> CongestorResult:
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
