"""How fast a month of a site's power is kept and divided among its jobs, and readings folded."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, select

from wattline.benchmarks._measuring import seconds
from wattline.model.errors import WattlineWarning
from wattline.model.progress import Advance

if TYPE_CHECKING:
    from wattline.account.store import Store
    from wattline.advice.bill import Bill

FIRST_DAY = 20_362  # 1 October 2025
CLUSTER = "generated"
CORES = 64


@dataclass(frozen=True)
class Site:
    """How large the generated site is."""

    nodes: int = 1000
    days: int = 31
    interval_s: int = 10
    jobs: int = 300_000
    live_nodes: int = 10_000
    live_batches: int = 60


SITE = Site()


def measure(progress: Advance) -> dict[str, Any]:
    """Seconds and memory for the site that the figures in the docs are of."""
    return measure_site(SITE, progress)


def measure_site(site: Site, progress: Advance) -> dict[str, Any]:
    """Keep the series, divide them among the jobs, make the bill, fold live readings."""
    from wattline.account.measured.attributing import settle
    from wattline.account.measured.book import MeasuredLedger
    from wattline.account.measured.touched import Touched
    from wattline.account.store import Store

    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "ledger.db") as store:
        MeasuredLedger(store)
        with store.engine.begin() as connection:
            lives = _enter_lives(connection, site)
            days, enter_s, enter_cpu_s = _enter_series(connection, site, progress)
            began, began_cpu = time.perf_counter(), time.process_time()
            settled = settle(connection, Touched(days, lives))
            attribute_s = time.perf_counter() - began
            attribute_cpu_s = time.process_time() - began_cpu
        progress(0.9)
        prices = _write_prices(Path(folder) / "prices.csv", site)
        figures = {
            "nodes": site.nodes, "jobs": site.jobs,
            "samples": site.nodes * site.days * 86_400 // site.interval_s,
            "facts": settled.facts, "enter_s": enter_s, "attribute_s": attribute_s,
            "enter_and_attribute_s": enter_s + attribute_s,
            # On a machine that others use too, these say more.
            "enter_cpu_s": enter_cpu_s, "attribute_cpu_s": attribute_cpu_s,
            "bill_s": seconds(lambda: _bill(store, site)), "bill_cpu_s": _processor_s(
                lambda: _bill(store, site)),
            "bill_with_prices_s": seconds(lambda: _bill(store, site, prices)),
            "bill_with_prices_cpu_s": _processor_s(lambda: _bill(store, site, prices)),
            # How far jobs, idle and unattributed joules are from the meters.
            "closure": abs(_bill(store, site).residual or 0.0),
            "store_bytes": sum(f.stat().st_size for f in Path(folder).iterdir()),
            "peak_memory_bytes": _peak_bytes(),
        }
    return figures | {"folding": _fold(site)}


def _enter_lives(connection: Connection, site: Site) -> frozenset[int]:
    from wattline.account.measured.tables import lives

    for rows in _life_rows(site):
        connection.execute(lives.insert(), rows)
    return frozenset(connection.scalars(select(lives.c.id)))


def _life_rows(site: Site) -> Iterator[list[dict[str, Any]]]:
    """Jobs back to back on groups of nodes; a fifth of the nodes is shared by two at a time."""
    random = np.random.default_rng(1)
    lanes = _lanes(site.nodes)
    number = 0
    for lane, (node_list, nodes, cores) in enumerate(lanes):
        count = site.jobs * (lane + 1) // len(lanes) - site.jobs * lane // len(lanes)
        edges = np.sort(random.integers(0, site.days * 86_400, count + 1)) + FIRST_DAY * 86_400
        rows = []
        for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            number += 1
            rows.append({
                "cluster": CLUSTER, "label": str(number), "start_s": start, "end_s": float(end),
                "nodes": nodes, "cores": cores * nodes, "node_list": node_list,
                "user": f"user{number % 300}", "account": f"account{number % 40}",
                "partition": "all", "application": "", "node_class": "", "state": "COMPLETED",
                "alloc_tres": "", "asked_frequency": "", "source": "", "quality": "",
                "cpu_s": 0.9 * cores * nodes * (end - start)})
        if rows:
            yield rows


def _lanes(nodes: int) -> list[tuple[str, int, int]]:
    """Node list, number of nodes and cores per node of groups that run one job after another."""
    shared = nodes // 5
    lanes = [(_name(node), 1, CORES // 2) for node in range(shared) for _ in range(2)]
    node = shared
    while node < nodes:
        width = min((1, 1, 1, 2, 8)[len(lanes) % 5], nodes - node)
        last = node + width - 1
        names = _name(node) if width == 1 else f"n[{node:05d}-{last:05d}]"
        lanes.append((names, width, CORES))
        node += width
    return lanes


def _name(node: int) -> str:
    return f"n{node:05d}"


def _enter_series(
    connection: Connection, site: Site, progress: Advance
) -> tuple[dict[tuple[str, str], frozenset[int]], float, float]:
    """The power of one node after another, so that memory holds one; seconds without making it,
    by the clock and of the processor."""
    from wattline.account.measured.records import Kind, Series
    from wattline.account.measured.series_store import enter_series

    random = np.random.default_rng(2)
    times = FIRST_DAY * 86_400 + np.arange(
        0, site.days * 86_400, site.interval_s, dtype=np.float64)
    spent_s = spent_cpu_s = 0.0
    days: dict[tuple[str, str], frozenset[int]] = {}
    for node in range(site.nodes):
        watts = np.round(400 + 40 * random.standard_normal(times.size))
        watts[random.random(times.size) < 0.001] = np.nan
        series = Series(CLUSTER, _name(node), Kind.WATTS, times, watts)
        began, began_cpu = time.perf_counter(), time.process_time()
        days.update(enter_series(connection, [series]).touched.days)
        spent_s += time.perf_counter() - began
        spent_cpu_s += time.process_time() - began_cpu
        progress(0.5 * node / site.nodes)
    return days, spent_s, spent_cpu_s


def _bill(store: Store, site: Site, prices: Path | None = None) -> Bill:
    """What all accounts owe for the month."""
    from wattline.advice.bill import account_bill

    first = datetime.fromtimestamp(FIRST_DAY * 86_400, UTC)
    last = first + timedelta(days=site.days - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WattlineWarning)
        return account_bill(store.url, f"{first:%Y-%m-%d}..{last:%Y-%m-%d}", zone="UTC",
                            price=None if prices is None else str(prices))


def _write_prices(path: Path, site: Site) -> Path:
    """A price for each hour of the month."""
    first = datetime.fromtimestamp(FIRST_DAY * 86_400, UTC)
    rows = [f"{first + timedelta(hours=hour):%Y-%m-%d %H:%M},{0.1 + 0.01 * (hour % 24):.2f}"
            for hour in range(24 * site.days + 1)]
    path.write_text("\n".join(["Datetime (UTC),Price (EUR/kWh)", *rows, ""]), encoding="utf-8")
    return path


def _fold(site: Site) -> dict[str, float]:
    """Cores that readings of all nodes, once a second, keep busy."""
    from wattline.account.measured.folding import Folding

    random = np.random.default_rng(3)
    jobs = np.repeat(np.arange(site.live_nodes // 4 + 1), 4)[: site.live_nodes]
    folding = Folding(site.live_nodes)
    for node in range(site.live_nodes):
        folding.hold(int(jobs[node]), [node])
    batches = 400 + 40 * random.standard_normal((site.live_batches, site.live_nodes))
    began = time.process_time()
    for second, watts in enumerate(batches):
        folding.read(float(second), watts)
    spent_s = time.process_time() - began
    return {"nodes": site.live_nodes, "readings": site.live_batches * site.live_nodes,
            "cores_at_1_hz": spent_s / site.live_batches}


def _processor_s(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
