"""Endpoint against intermediate congestion, and whether counters show it, packet by packet.

An application on 64 of 192 held nodes, a congestor on 64 others (figure 3.15): nodes in a row (I),
every other node (II), the same beside a congestor (III, IV). In III the congestor is mostly behind
other routers, in IV behind the application's own. Runs are shifted along the held nodes as there.
The ratio of stalls to flits is here the time that packets waited in front of a free link for room
behind it, per packet that it carried: the mean over the links of each of the application's routers
that carried any, then over these routers, as section 3.5.2 has it for tiles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.network.flows import Exchange
from wattline.network.packets import PacketResult, packet_times
from wattline.network.sensitivity import MpiProfile, shipped_profiles
from wattline.network.topology.base import Topology
from wattline.network.traffic import Traffic
from wattline.studies.dragonfly.beside import WORK_BYTES, congestor, halos, run_beside
from wattline.studies.dragonfly.congestor import aries_book, held_nodes

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
    stalled: float
    """Part of the time that a link of the application's routers was stalled, in the mean."""


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
        work = halos(own)
        result = (run_beside(aries_book(), work, partial(congestor, others, "all-to-all"), (), seed)
                  if len(others) else packet_times(aries_book(), [work],
                                                   np.random.default_rng(seed), watched=0))
        time_s = float(result.time_s[0])
        found.append(SettingRun(setting, time_s, stalls_per_packet(topology, result, own),
                                stalled_share(topology, result, own, time_s)))
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
        noise = partial(congestor, np.setdiff1d(held, canaries), "all-to-all")
        alone = packet_times(aries_book(), [ring], np.random.default_rng(seed), watched=0)
        beside = run_beside(aries_book(), ring, noise, (), seed)
        found.append(CanaryRun(size, float(alone.time_s[0] / beside.time_s[0]),
                               stalls_per_packet(topology, beside, held)))
    return found


def stalls_per_packet(topology: Topology, result: PacketResult, nodes: IntArray) -> float:
    """Seconds stalled per packet on the links between routers that leave the routers of nodes."""
    carried = result.link_packets[:topology.links]
    ratio = result.link_stall_s[:topology.links] / np.maximum(1, carried)
    return _mean_of_routers(topology, ratio, carried > 0, nodes)


def stalled_share(topology: Topology, result: PacketResult, nodes: IntArray,
                  time_s: float) -> float:
    """Seconds stalled per second on these links."""
    rate = result.link_stall_s[:topology.links] / time_s
    return _mean_of_routers(topology, rate, np.ones(topology.links, dtype=bool), nodes)


def _mean_of_routers(topology: Topology, of_link: FloatArray, counted: npt.NDArray[np.bool_],
                     nodes: IntArray) -> float:
    """The mean over links of each router of these nodes, and then over the routers."""
    router = topology.link_from[counted]
    total = np.bincount(router, of_link[counted], topology.routers)
    links = np.bincount(router, minlength=topology.routers)
    own = np.unique(topology.node_router[nodes])
    return float((total[own] / np.maximum(1, links[own])).mean())


def _ring(nodes: IntArray, rng: np.random.Generator) -> Exchange:
    order = rng.permutation(len(nodes))
    traffic = Traffic(len(nodes), order, np.roll(order, -1), np.full(len(nodes), CANARY_MESSAGES))
    return Exchange(nodes, nodes, traffic, WORK_BYTES)


def summarize_settings(runs: Sequence[Sequence[SettingRun]],
                       canaries: Sequence[Sequence[CanaryRun]]) -> dict[str, object]:
    """Median execution times by application and setting, and the correlations.

    Those with time are of the means of each setting, as in figures 3.18 and 3.19; every sensitive
    application has the same, since its time grows in proportion to that of its communication.
    """
    every = [run for group in runs for run in group]
    by_setting = {name: [run for run in every if run.setting == name] for name in SETTINGS}
    median = {name: float(np.median([run.time_s for run in group]))
              for name, group in by_setting.items()}
    times: Mapping[str, Mapping[str, float]] = {
        profile.name: {name: _execution(profile, median[name] / median["I"]) for name in SETTINGS}
        for profile in shipped_profiles().values()}
    mean_s, ratio, stalled = (
        [float(np.mean([getattr(run, figure) for run in group])) for group in by_setting.values()]
        for figure in ("time_s", "stalls_per_packet_s", "stalled"))
    alone = [run for group in canaries for run in group]
    return {
        "runs": len(runs),
        "communication": {name: median[name] / median["I"] for name in SETTINGS},
        "execution": times,
        "stalls_per_packet_s": dict(zip(SETTINGS, ratio, strict=True)),
        "stalled": dict(zip(SETTINGS, stalled, strict=True)),
        "correlation_time_stalls": _correlation(mean_s, ratio),
        "correlation_time_stalled": _correlation(mean_s, stalled),
        "correlation_of_single_runs": _correlation([run.time_s for run in every],
                                                   [run.stalls_per_packet_s for run in every]),
        "canary_bandwidth": {
            size: float(np.mean([run.bandwidth_ratio for run in alone if run.nodes == size]))
            for size in CONGESTOR_SIZES},
        "correlation_bandwidth_stalls": _correlation([run.bandwidth_ratio for run in alone],
                                                     [run.stalls_per_packet_s for run in alone]),
    }


def _execution(profile: MpiProfile, communication: float) -> float:
    """Execution time over that of I; unlike `stretch` also where communication is faster."""
    return 1.0 + (profile.synchronizing if profile.sensitive else 0.0) * (communication - 1.0)


def _correlation(one: Sequence[float], other: Sequence[float]) -> float:
    if np.std(one) == 0.0 or np.std(other) == 0.0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])
