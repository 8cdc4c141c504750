"""Counters of Aries routers from a table, as LDMS stores them: what each router shows.

A row is what one node read at one time: the counters of its router, which only grow. Names are the
full ones or the abbreviations of the published table; what else stands in the table is passed over.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wattline.model.errors import InputError
from wattline.model.reading import read_text, separator
from wattline.model.signal import FloatArray
from wattline.model.units import counted, plain_number
from wattline.network.counters import CounterReadings, counter_rates
from wattline.network.placement import Readings
from wattline.network.topology.base import Topology

TIMES = ("time", "#time", "timestamp", "time_s")
COMPONENTS = ("component", "host", "hostname", "node", "producername", "nodename")
_STALL = re.compile(r"AR_RTR_(\d)_(\d)_INQ_PRF_ROWBUS_STALL_CNT|N_STALL_(\d)_(\d)", re.IGNORECASE)
_TRAFFIC = re.compile(r"AR_NL_PRF_(?:REQ|RSP)_PTILES_TO_NIC_(\d)_FLITS|P_(?:REQ|RSP)_FLIT_(\d)",
                      re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class _Table:
    """Samples of each component: times, and for each of its counters a column."""

    traffic: tuple[str, ...]
    stalls: tuple[str, ...]
    samples: Mapping[str, list[tuple[float, list[float]]]]


def read_counters(path: Path, topology: Topology) -> CounterReadings:
    """Mean traffic and stalls of each router over the time of the table.

    The traffic of a router is the flits to all its nodes (requests and responses), its stalls are
    those of all its network tiles, both per second. Nodes of one router read the same counters, so
    their mean counts. A counter that went back was restarted, and that interval is left out.
    """
    table = _read(path)
    number = {topology.host(node): node for node in range(topology.nodes)}
    sums = np.zeros((2, topology.routers))
    seen = np.zeros(topology.routers)
    strange, short = [], []
    for component, samples in table.samples.items():
        if component not in number:
            strange.append(component)
            continue
        rates = _rates(samples)
        if rates is None:
            short.append(component)
            continue
        router = topology.node_router[number[component]]
        flits = len(table.traffic)
        sums[:, router] += rates[:flits].sum(), rates[flits:].sum()
        seen[router] += 1
    if not seen.any():
        raise InputError(f"{path}: no component of the table is a node of network "
                         f"'{topology.name}' with two samples or more; the first is "
                         f"'{next(iter(table.samples))}', and the first node '{topology.host(0)}'")
    return CounterReadings(*_filled(path, topology, table, sums, seen, strange, short))


def _filled(path: Path, topology: Topology, table: _Table, sums: FloatArray, seen: FloatArray,
            strange: list[str], short: list[str]) -> tuple[Readings, tuple[str, ...]]:
    """Readings of all routers, and what must be known of them."""
    found = sums[:, seen > 0] / seen[seen > 0]
    every = np.repeat(np.median(found, axis=1)[:, None], topology.routers, axis=1)
    every[:, seen > 0] = found
    remarks = []
    holding = np.unique(topology.node_router)
    silent = int(np.sum(seen[holding] == 0))
    if silent:
        remarks.append(f"{path}: no counters of {counted(silent, 'router')}; they are taken to be "
                       "as busy as the median of the others")
    for names, what in ((strange, "not of the network"),
                        (short, "without two samples in a row")):
        if names:
            shown = names[0] + (", ..." if len(names) > 1 else "")
            remarks.append(f"{path}: {counted(len(names), 'component')} {what} ({shown}); left out")
    for kind, columns in (("traffic", table.traffic), ("stalls", table.stalls)):
        if not columns:
            remarks.append(f"{path}: has no counters of {kind}, which are taken to be alike")
    return Readings(every[0], every[1]), tuple(remarks)


def _rates(samples: Iterable[tuple[float, list[float]]]) -> FloatArray | None:
    """The mean rate of each counter over the intervals in which it grew."""
    ordered = sorted(samples, key=lambda sample: sample[0])
    if len(ordered) < 2:
        return None
    times = np.array([time for time, _ in ordered])
    rates = counter_rates(times, np.array([values for _, values in ordered]))
    span = np.diff(times)[:, None] * np.isfinite(rates)
    if not np.all(span.sum(axis=0) > 0):
        return None
    found: FloatArray = np.nansum(rates * span, axis=0) / span.sum(axis=0)
    return found


def _read(path: Path) -> _Table:
    text = read_text(path)
    lines = csv.reader(io.StringIO(text), delimiter=separator(text.partition("\n")[0]))
    head = [name.strip() for name in next(lines, [])]
    low = [name.lower() for name in head]
    time = next((low.index(name) for name in TIMES if name in low), -1)
    component = next((low.index(name) for name in COMPONENTS if name in low), -1)
    if time < 0 or component < 0:
        raise InputError(f"{path}: needs a column of times (like time or #Time) and one of nodes "
                         "(like component, host or ProducerName) in its first line")
    traffic = [i for i, name in enumerate(head) if _TRAFFIC.fullmatch(name)]
    stalls = [i for i, name in enumerate(head) if _STALL.fullmatch(name)]
    if not traffic and not stalls:
        raise InputError(f"{path}: has none of the counters of Aries routers, like "
                         "AR_NL_PRF_REQ_PTILES_TO_NIC_0_FLITS or N_STALL_0_0")
    samples: dict[str, list[tuple[float, list[float]]]] = {}
    for number, row in enumerate(lines, start=2):
        if not row:
            continue
        try:
            values = [plain_number(row[i]) for i in (time, *traffic, *stalls)]
        except (ValueError, IndexError):
            raise InputError(f"{path}, line {number}: has a cell that is missing or not a "
                             "number") from None
        samples.setdefault(row[component].strip(), []).append((values[0], values[1:]))
    if not samples:
        raise InputError(f"{path}: has no row below its first line")
    return _Table(tuple(head[i] for i in traffic), tuple(head[i] for i in stalls), samples)
