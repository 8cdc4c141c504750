"""What a source is, a file by its content and a server by its address, and what it tells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from wattline.account.measured.from_sacct import read_sacct
from wattline.account.measured.from_scontrol import read_scontrol
from wattline.account.measured.periods import between
from wattline.account.measured.readers.options import SeriesOptions, ServerOptions
from wattline.account.measured.readers.prometheus import (
    RangeQuery,
    is_selector,
    read_prometheus,
)
from wattline.account.measured.readers.reading import read_series
from wattline.account.measured.records import Found, Kind
from wattline.model.errors import InputError
from wattline.model.local_time import zone_of
from wattline.model.reading import read_unpacked
from wattline.model.units import parse_duration
from wattline.site.sacct_text import SEPARATOR


def read_source(
    path: str | Path, *, cluster: str = "", zone: str = "", columns: Sequence[str] = (),
    at: str = "", node: str = "", server: ServerOptions | None = None,
) -> Found:
    """Read a file of any kind that the ledger takes, or ask a server."""
    if is_server(path):
        return read_prometheus(range_query(str(path), server or ServerOptions(), cluster, zone))
    data, _ = read_unpacked(path)
    head = data[:65536].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head:
        raise InputError(f"{path}: the file is empty")
    mapped = column_map(columns)
    if mapped:
        return _series(path, cluster, zone, at, node, mapped)
    if head.startswith(b"NodeName=") or (head.startswith(b"{") and _is_of_nodes(data)):
        return read_scontrol(data, str(path), cluster=cluster, zone=zone, at=at)
    if (head.startswith(b"{") and b'"jobs"' in data) or columns or (
            SEPARATOR.encode() in head.partition(b"\n")[0]):
        return read_sacct(data, str(path), cluster=cluster, zone=zone, columns=columns)
    return _series(path, cluster, zone, at, node, {})


def _series(
    path: str | Path, cluster: str, zone: str, at: str, node: str, mapped: dict[str, str]
) -> Found:
    from_s = between(at, "", zone_of(zone)).start_s if at else None
    return read_series(path, SeriesOptions(cluster=cluster, zone=zone, entity=node, columns=mapped,
                                           from_s=from_s))


def column_map(columns: Sequence[str]) -> dict[str, str]:
    """`{"time": "t_s"}` of `time=t_s`; empty where columns are only named."""
    pairs = [each.partition("=") for each in columns]
    if not any(equals for _, equals, _ in pairs):
        return {}
    wrong = next((what for what, equals, name in pairs if not (what.strip() and equals and name)),
                 None)
    if wrong is not None:
        raise InputError(f"--columns: '{wrong}' is of no column; write all like time=t_s,watts=p")
    return {what.strip().lower(): name.strip() for what, _, name in pairs}


def is_server(source: str | Path) -> bool:
    return isinstance(source, str) and source.startswith(("http://", "https://"))


def range_query(url: str, options: ServerOptions, cluster: str, zone: str) -> RangeQuery:
    """What to ask; at multiples of the step, so that ranges that overlap have the same instants."""
    if not options.query:
        raise InputError(f"{url}: a Prometheus server needs --query, like "
                         "--query node_power_watts")
    period = between(options.start, options.end, zone_of(zone))
    if period.start_s is None or period.end_s is None:
        raise InputError(f"{url}: from when to when? Write -S 2026-10-01 -E 2026-11-01")
    step_s = parse_duration(options.step) if options.step else RangeQuery.step_s
    if not step_s > 0:
        raise InputError(f"--step: '{options.step}' is no time above 0; write it like 30s")
    own = not options.step and is_selector(options.query)
    start_s = period.start_s if own else step_s * math.ceil(period.start_s / step_s)
    return RangeQuery(
        url, options.query, start_s, period.end_s, step_s,
        options.label or RangeQuery.label, options.gpu_label,
        Kind.JOULES if options.counter else Kind.WATTS, cluster, own_samples=own)


def _is_of_nodes(data: bytes) -> bool:
    """Whether a JSON object has nodes and no jobs, without reading all of it."""
    return b'"nodes"' in data and b'"jobs"' not in data
