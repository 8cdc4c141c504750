"""Endpoint against intermediate congestion, and whether counters show it, packet by packet.

An application on 64 of 192 held nodes, a congestor on 64 others (figure 3.15): nodes in a row (I),
every other node (II), the same beside a congestor (III, IV). In III the congestor is mostly behind
other routers, in IV behind the application's own. Runs are shifted along the held nodes as there.
The ratio of stalls to flits is here the time that packets waited in front of free links for room
behind them, per packet carried, over the links of the application's routers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wattline.model.jobs import IntArray
from wattline.network.flows import Exchange
from wattline.network.packets import PacketResult, packet_times
from wattline.network.sensitivity import shipped_profiles
from wattline.network.topology.base import Topology
from wattline.network.traffic import Traffic
from wattline.studies.dragonfly.congestor import (
    NOISE_BYTES,
    TASKS_PER_NODE,
    WORK_BYTES,
    aries_book,
    exchange_on,
    held_nodes,
)

SETTINGS = ("I", "II", "III", "IV")
APPLICATION = 64
CONGESTOR_SIZES = (16, 32, 64, 86, 106, 128)
CANARY_SHARE = 0.2
"""Part of the congestor's nodes that measures instead of congesting."""
CANARY_MESSAGES = 32.0


@dataclass(frozen=True)
class SettingRun:
    """One run under one setting."""

    setting: str
    time_s: float
    stalls_per_packet_s: float


@dataclass(frozen=True)
class CanaryRun:
    """The congestor alone on so many nodes: what its canaries lose, and what counters show."""

    nodes: int
    bandwidth_ratio: float
    """Bandwidth of the canaries beside the congestor over that without it."""
    stalls_per_packet_s: float


def nodes_of_setting(setting: str, held: IntArray, shift: int) -> tuple[IntArray, IntArray]:
    """Nodes of the application, and of the congestor (none in I and II)."""
    ring = np.roll(held, -shift)
    count = len(held) // 3
    spaced = ring[:2 * count:2]
    if setting == "II":
        return spaced, ring[:0]
    if setting == "IV":
        return spaced, ring[1:2 * count:2]
    # The congestor takes every other one of the nodes behind those in a row.
    beside = ring[count::2][:count] if setting == "III" else ring[:0]
    return ring[:count], beside


def run_settings(seed: int) -> list[SettingRun]:
    """One run of each setting; another seed is another place and another shift."""
    rng = np.random.default_rng(seed)
    topology = aries_book().topology
    held = held_nodes(topology, rng, 3 * APPLICATION, 4)
    shift = int(rng.integers(10)) * len(held) // 10
    found = []
    for setting in SETTINGS:
        own, others = nodes_of_setting(setting, held, shift)
        work = [exchange_on(own, "halo3d", TASKS_PER_NODE, WORK_BYTES)]
        if len(others):
            work.append(exchange_on(others, "all-to-all", 1, NOISE_BYTES))
        result = packet_times(aries_book(), work, np.random.default_rng(seed), watched=0)
        found.append(SettingRun(setting, float(result.time_s[0]),
                                stalls_per_packet(topology, result, own)))
    return found


def run_canaries(seed: int) -> list[CanaryRun]:
    """Rings of canaries beside congestors of six sizes."""
    rng = np.random.default_rng(seed)
    topology = aries_book().topology
    found = []
    for size in CONGESTOR_SIZES:
        held = held_nodes(topology, rng, size, 2)
        canaries = np.sort(rng.choice(held, max(2, int(CANARY_SHARE * size)), replace=False))
        ring = _ring(canaries, rng)
        noise = exchange_on(np.setdiff1d(held, canaries), "all-to-all", 1, NOISE_BYTES)
        alone, beside = (packet_times(aries_book(), work, np.random.default_rng(seed), watched=0)
                         for work in ([ring], [ring, noise]))
        found.append(CanaryRun(size, float(alone.time_s[0] / beside.time_s[0]),
                               stalls_per_packet(topology, beside, held)))
    return found


def stalls_per_packet(topology: Topology, result: PacketResult, nodes: IntArray) -> float:
    """Seconds stalled per packet on the links between routers that leave the routers of nodes."""
    own = np.isin(topology.link_from, topology.node_router[nodes])
    carried = result.link_packets[:topology.links][own].sum()
    return float(result.link_stall_s[:topology.links][own].sum() / max(1, carried))


def _ring(nodes: IntArray, rng: np.random.Generator) -> Exchange:
    order = rng.permutation(len(nodes))
    traffic = Traffic(len(nodes), order, np.roll(order, -1), np.full(len(nodes), CANARY_MESSAGES))
    return Exchange(nodes, nodes, traffic, WORK_BYTES)


def summarize_settings(runs: Sequence[Sequence[SettingRun]],
                       canaries: Sequence[Sequence[CanaryRun]]) -> dict[str, object]:
    """Median execution times by application and setting, and the two correlations."""
    every = [run for group in runs for run in group]
    median = {name: float(np.median([run.time_s for run in every if run.setting == name]))
              for name in SETTINGS}
    times: Mapping[str, Mapping[str, float]] = {
        profile.name: {name: profile.stretch(median[name] / median["I"]) for name in SETTINGS}
        for profile in shipped_profiles().values()}
    alone = [run for group in canaries for run in group]
    return {
        "runs": len(runs),
        "communication": {name: median[name] / median["I"] for name in SETTINGS},
        "execution": times,
        "stalls_per_packet_s": {
            name: float(np.mean([run.stalls_per_packet_s for run in every if run.setting == name]))
            for name in SETTINGS},
        "correlation_time_stalls": _correlation([run.time_s for run in every],
                                                [run.stalls_per_packet_s for run in every]),
        "canary_bandwidth": {
            size: float(np.mean([run.bandwidth_ratio for run in alone if run.nodes == size]))
            for size in CONGESTOR_SIZES},
        "correlation_bandwidth_stalls": _correlation([run.bandwidth_ratio for run in alone],
                                                     [run.stalls_per_packet_s for run in alone]),
    }


def _correlation(one: Sequence[float], other: Sequence[float]) -> float:
    if np.std(one) == 0.0 or np.std(other) == 0.0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])
