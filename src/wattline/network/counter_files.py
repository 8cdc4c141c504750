"""Counters of Aries routers from a table, as LDMS stores them: what each router shows.

A row is what one node read at one time: the counters of its router, which only grow. Names are the
full ones or the abbreviations of the published table; what else stands in the table is passed over.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
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
# Of the six rows of tiles of a router the last is that of its nodes, the others are the network's.
_STALL = re.compile(r"AR_RTR_([0-4])_([0-7])_INQ_PRF_ROWBUS_STALL_CNT|N_STALL_([0-4])_([0-7])",
                    re.IGNORECASE)
_TRAFFIC = re.compile(r"AR_NL_PRF_(REQ|RSP)_PTILES_TO_NIC_([0-3])_FLITS|P_(REQ|RSP)_FLIT_([0-3])",
                      re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class _Table:
    """Samples of each component: times, and for each of its counters a column."""

    traffic: tuple[str, ...]
    stalls: tuple[str, ...]
    samples: Mapping[str, list[tuple[float, list[float]]]]
    repeated: int
    """Rows that stood in the table before, cell by cell."""


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
    readings, remarks = _filled(path, topology, table, sums, seen, strange, short)
    lacks = [kind for kind, columns in (("traffic", table.traffic), ("stalls", table.stalls))
             if not columns]
    return CounterReadings(readings, remarks, tuple(lacks))


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
    if table.repeated:
        remarks.append(f"{path}: {counted(table.repeated, 'row')} stood in it before; left out")
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
    time = _column(path, head, TIMES, "times (like time or #Time)")
    component = _column(path, head, COMPONENTS, "nodes (like component, host or ProducerName)")
    traffic, stalls = _counters(path, head, _TRAFFIC), _counters(path, head, _STALL)
    if not traffic and not stalls:
        raise InputError(f"{path}: has none of the counters of Aries routers, like "
                         "AR_NL_PRF_REQ_PTILES_TO_NIC_0_FLITS or N_STALL_0_0")
    samples: dict[str, list[tuple[float, list[float]]]] = {}
    known: dict[tuple[str, float], list[float]] = {}
    repeated = 0
    for row in lines:
        if not any(cell.strip() for cell in row):
            continue
        where = f"{path}, line {lines.line_num}"
        if len(row) < len(head):
            raise InputError(f"{where}: has {counted(len(row), 'cell')} where the first line names "
                             f"{counted(len(head), 'column')}")
        name = row[component].strip()
        if not name:
            raise InputError(f"{where}: names no node ({head[component]} is empty)")
        moment = _moment(where, head[time], row[time])
        values = [_count(where, head[i], row[i]) for i in (*traffic, *stalls)]
        before = known.setdefault((name, moment), values)
        if before is not values:
            if before != values:
                raise InputError(f"{where}: '{name}' has other counters at the time "
                                 f"{row[time].strip()} in a line before; one of them is wrong")
            repeated += 1
            continue
        samples.setdefault(name, []).append((moment, values))
    if not samples:
        raise InputError(f"{path}: has no row below its first line")
    return _Table(tuple(head[i] for i in traffic), tuple(head[i] for i in stalls), samples,
                  repeated)


def _column(path: Path, head: Sequence[str], names: Sequence[str], what: str) -> int:
    """The column of one of these names; the first of them counts that the table has."""
    low = [name.lower() for name in head]
    found = next((name for name in names if name in low), None)
    if found is None:
        raise InputError(f"{path}: needs a column of {what} in its first line")
    if low.count(found) > 1:
        raise InputError(f"{path}: has {low.count(found)} columns '{found}'; which one counts?")
    return low.index(found)


def _counters(path: Path, head: Sequence[str], pattern: re.Pattern[str]) -> list[int]:
    """The columns of one kind of counters, each of which may stand there once, by either name."""
    columns: dict[tuple[str, ...], int] = {}
    for i, name in enumerate(head):
        match = pattern.fullmatch(name)
        if match is None:
            continue
        counter = tuple(part.upper() for part in match.groups() if part is not None)
        if counter in columns:
            raise InputError(f"{path}: its columns {columns[counter] + 1} and {i + 1} "
                             f"({head[columns[counter]]}, {name}) are the same counter; leave one "
                             "of them out")
        columns[counter] = i
    return list(columns.values())


def _moment(where: str, column: str, cell: str) -> float:
    """Seconds of a time, written as a number or as ISO 8601 has it (UTC where no zone is named)."""
    try:
        found = plain_number(cell)
    except ValueError:
        try:
            moment = datetime.fromisoformat(cell.strip())
        except ValueError:
            raise InputError(f"{where}: {column} is '{cell.strip()}', no time; write seconds or "
                             "2023-01-31T05:00:00") from None
        found = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(found):
        raise InputError(f"{where}: {column} is '{cell.strip()}', no time")
    return found


def _count(where: str, column: str, cell: str) -> float:
    if not cell.strip():
        raise InputError(f"{where}: {column} is empty; leave the line out where nothing was read")
    try:
        found = plain_number(cell)
    except ValueError:
        found = math.nan
    if not (math.isfinite(found) and found >= 0):
        raise InputError(f"{where}: {column} is '{cell.strip()}'; a counter is a number from 0 on")
    return found
