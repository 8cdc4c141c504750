"""What finding the throughput of a network takes, said before it begins."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wattline.model.errors import InputError
from wattline.network.flows import Exchange
from wattline.network.routes import RouteBook

WORTH_SAYING_BYTES = 1e9
BASE_BYTES = 0.2e9
"""Of the program itself, with its compiled code."""
BYTES_PER_DISTANCE = 2 * 6 + 8
"""Hops and ways of a pair of routers, once for the ways and once for the limit, and its traffic."""
BYTES_PER_WAY = 2 * 9
BYTES_PER_HOP = 8
"""Of all ways: a list of links of four bytes each that grows by doubling, and is then cut."""
BYTES_PER_PACKET = 170
"""Where it is and goes, its event, and what sorting packets takes for a while."""
BYTES_PER_FLOW = 100
BYTES_PER_USE = 8
"""Of a link by a flow, as the sharing of links lists them."""
_MEMORY = Path("/proc/meminfo")


def memory_needed(book: RouteBook, exchange: Exchange, model: str) -> float:
    """Bytes that an exchange of single messages takes at the most, as an estimate."""
    topology, traffic = book.topology, exchange.traffic
    ends = topology.node_router[traffic.source], topology.node_router[traffic.target]
    pairs, count = np.unique(ends[0] * topology.routers + ends[1], return_counts=True)
    ways, detours = book.candidates(len(pairs))
    hops = book.mean_hops()
    links = len(pairs) * hops * (ways + 2 * detours)
    needed = (BASE_BYTES + BYTES_PER_DISTANCE * book.wiring.distance.size
              + BYTES_PER_WAY * len(pairs) * (ways + detours) + BYTES_PER_HOP * links)
    if model == "packet":
        return float(needed + BYTES_PER_PACKET * traffic.messages.sum())
    return float(needed + len(count) * (BYTES_PER_FLOW + BYTES_PER_USE * (hops + 2)))


def memory_free() -> float | None:
    """Bytes that the system has to give, where it says so."""
    try:
        lines = _MEMORY.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    said = next((line for line in lines if line.startswith("MemAvailable:")), None)
    return None if said is None else 1024.0 * int(said.split()[1])


def check_memory(needed: float) -> str | None:
    """What is to be said of so much memory before it is taken; refused where it is not there."""
    free = memory_free()
    if free is not None and needed > free:
        raise InputError(f"this would take some {needed / 1e9:.1f} GB of memory, and "
                         f"{free / 1e9:.1f} GB are free; send fewer messages")
    return f"this takes some {needed / 1e9:.1f} GB of memory" if (
        needed >= WORTH_SAYING_BYTES) else None
