"""Network counters: the Aries stall-to-flit ratio, and simulated counters as signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray, Signal
from wattline.network.flows import FlowResult
from wattline.network.placement import Readings
from wattline.network.topology.base import Topology

NTILE_ROWS, TILE_COLUMNS, CHANNELS = 5, 8, 8
"""The first five of the six rows of an Aries router's tiles are network tiles."""

OPTICAL_TILES = frozenset({(0, c) for c in range(1, 7)} | {(1, c) for c in range(2, 6)})
"""Tiles of the links between groups, by row and column, as real cabling shows them."""

ELECTRICAL_STALLS_S = 5_410_794.0
OPTICAL_STALLS_S = 933.0
"""Stalls a second below which a tile is left out: published medians of three months."""


@dataclass(frozen=True, eq=False)
class CounterReadings:
    """What the counters of all routers show, and what must be known of it."""

    readings: Readings
    remarks: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    """Of `traffic` and `stalls`, what was not read: no placement can go by it."""


def counter_rates(time_s: npt.ArrayLike, counted: npt.ArrayLike) -> FloatArray:
    """Rates from counters that only grow, sampled at these times along the first axis.

    A counter that went back (a restart) gives NaN for that interval.
    """
    times = np.asarray(time_s, dtype=np.float64)
    values = np.asarray(counted, dtype=np.float64)
    if times.ndim != 1 or times.size < 2 or values.shape[:1] != times.shape:
        raise InputError("counters need at least two samples, one for each time")
    if np.any(np.diff(times) <= 0):
        raise InputError("the times of counter samples must increase")
    grown = np.diff(values, axis=0)
    span = np.diff(times).reshape((-1,) + (1,) * (values.ndim - 1))
    return np.where(grown < 0, np.nan, grown) / span


def stall_flit_ratio(stall_s: npt.ArrayLike, flit_s: npt.ArrayLike, *,
                     electrical_s: float = ELECTRICAL_STALLS_S,
                     optical_s: float = OPTICAL_STALLS_S) -> float:
    """The ntile stall/flit ratio of one Aries router.

    `stall_s[r, c]` are the stalls a second of the network tile in row r and column c, and
    `flit_s[r, c, v]` the flits a second that came in on its virtual channel v. The ratio of each
    tile is its stalls over the flits of all channels; the router's is the mean over its tiles.
    Tiles with fewer stalls than the threshold of their kind are left out, since small numbers
    make wild ratios; 0 when that leaves none.
    """
    stalls = np.asarray(stall_s, dtype=np.float64)
    flits = np.asarray(flit_s, dtype=np.float64)
    if stalls.shape != (NTILE_ROWS, TILE_COLUMNS):
        raise InputError(f"stalls have the shape {stalls.shape}; a router has 5 x 8 network tiles")
    if flits.shape != (NTILE_ROWS, TILE_COLUMNS, CHANNELS):
        raise InputError(f"flits have the shape {flits.shape}, must be 5 x 8 tiles x 8 channels")
    if np.any(stalls < 0) or np.any(flits < 0):
        raise InputError("stalls and flits a second must not be negative")
    threshold = np.full(stalls.shape, electrical_s)
    for row, column in OPTICAL_TILES:
        threshold[row, column] = optical_s
    total = flits.sum(axis=2)
    kept = (stalls >= threshold) & (total > 0)
    return float((stalls[kept] / total[kept]).mean()) if np.any(kept) else 0.0


def router_traffic(topology: Topology, link_bytes: FloatArray, seconds: float) -> FloatArray:
    """Bytes a second that the nodes behind each router send and receive."""
    node = link_bytes[topology.links:].reshape(2, topology.nodes).sum(axis=0)
    total = np.bincount(topology.node_router, node, topology.routers)
    return total.astype(np.float64) / max(seconds, 1e-300)


def router_stalls(topology: Topology, link_stall_s: FloatArray, seconds: float) -> FloatArray:
    """Share of time that packets in front of a router's links had to wait, over all its links."""
    stalls = np.bincount(topology.link_from, link_stall_s[:topology.links], topology.routers)
    return stalls.astype(np.float64) / max(seconds, 1e-300)


def flow_counters(topology: Topology, flows: FlowResult) -> Readings:
    """What the counters of each router show while jobs exchange messages, from the flow model.

    A link stalls packets for as long as it needs more time than the nodes do to send.
    """
    seconds = float(flows.alone_s.max(initial=0.0))
    if seconds <= 0.0:
        return Readings.quiet(topology)
    needed_s = flows.link_bytes / topology.capacity_bytes_s
    return Readings(router_traffic(topology, flows.link_bytes, seconds),
                    router_stalls(topology, np.maximum(0.0, needed_s - seconds), seconds))


def readings_at(traffic: Sequence[Signal], time_s: float,
                stalls: Sequence[Signal] | None = None) -> Readings:
    """What the counters of each router show at a time: one signal a router."""
    quiet = np.zeros(len(traffic))
    return Readings(np.array([signal.at(time_s) for signal in traffic]),
                    quiet if stalls is None else np.array([s.at(time_s) for s in stalls]))
