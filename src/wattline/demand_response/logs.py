"""A real job log as a regulated workload: types from sizes and run times, powers chosen.

Few logs carry power. A log's jobs get per-server powers and cap answers that are drawn by seed,
one draw a type; the draws' ranges are stated below and in the documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.grid.workloads import JobType, Workload
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.traces.reader import read
from wattline.traces.trace import Trace, header_sizes

SHORTEST_S = 600.0
"""Shorter jobs are left out: this is the study of long ones, and any wait ruins a short job."""
CLASS_EDGES_S = (3600.0, 14400.0)
"""Run times that part the types of one size: up to an hour, up to four, longer."""
POWER_W = (110.0, 190.0)
"""Per-server power of CPU and memory at full speed, drawn evenly."""
LOWEST = (0.65, 0.85)
"""Lowest power relative to the highest."""
SLOWEST = (1.1, 1.45)
"""Longest time relative to the shortest."""
IDLE_W = 31.0
STANDBY_S = 600.0
"""Shortest time of standby jobs beside a log."""
THRESHOLD = 2.0
"""Bound on the mean degradation of a type."""


@dataclass(frozen=True, eq=False)
class LogCase:
    """A workload and its jobs, from a log."""

    workload: Workload
    jobs: JobTable
    left_out: int
    """Jobs of the span that are too short."""
    larger: int
    """Jobs of the span that are larger than the machine."""


def log_case(
    trace: Trace,
    source: str,
    *,
    servers: int | None,
    start_s: float,
    duration_s: float,
    power_w_idle: float | None,
    seed: int,
    standby: bool = False,
) -> LogCase:
    """The jobs that a log submits in this span, with time starting at its beginning.

    `source` is where it comes from, for messages.

    With `standby`, jobs of ten minutes that may fill a lack of work wait from the start.
    """
    table, servers = _whole_servers(trace, source, servers)
    first_s = float(table.submit_s[0]) + start_s
    inside = (table.submit_s >= first_s) & (table.submit_s < first_s + duration_s)
    long_enough = table.run_s >= SHORTEST_S
    kept = inside & long_enough & (table.procs <= servers)
    if not np.any(kept):
        raise InputError(
            f"{source}: no job of at least {SHORTEST_S:.0f} s is submitted in the chosen span"
        )
    chosen = table.take(kept)
    shape = np.searchsorted(CLASS_EDGES_S, chosen.run_s)
    keys, code = np.unique(np.stack((chosen.procs, shape), axis=1), axis=0, return_inverse=True)
    types, shares = _types(keys, chosen, code.reshape(-1), seed)
    idle_w = IDLE_W if power_w_idle is None else power_w_idle
    work = float((chosen.procs * chosen.run_s).sum())
    workload = Workload(
        Path(source).name, types, servers, idle_w, min(1.0, work / (servers * duration_s)), shares,
        rule="types by size and run time of a log", source="chosen",
    )
    code = code.reshape(-1).astype(np.int64)
    per_server_w = np.array([t.power_w_max for t in types])[code]
    slowest = np.array([t.time_s_max / t.time_s_min for t in types])[code]
    columns = {
        "submit_s": chosen.submit_s - first_s, "run_s": chosen.run_s,
        "requested_s": slowest * chosen.run_s, "procs": chosen.procs,
        "power_w": chosen.procs * per_server_w, "application": code,
    }
    if standby:
        workload = workload.with_standby(STANDBY_S)
        types, columns = _standby_first(workload, columns, duration_s)
    jobs = JobTable.build(**columns, names={"application": tuple(t.name for t in types)})
    larger = inside & long_enough & (table.procs > servers)
    return LogCase(workload, jobs, int((inside & ~long_enough).sum()), int(larger.sum()))


def _standby_first(
    workload: Workload, columns: Mapping[str, npt.NDArray[Any]], duration_s: float
) -> tuple[tuple[JobType, ...], dict[str, npt.NDArray[Any]]]:
    """The types and the jobs with standby jobs in front, which are there from the start."""
    each = workload.standby
    assert each is not None
    first = {
        "submit_s": 0.0, "run_s": each.time_s_min, "requested_s": each.time_s_max,
        "procs": each.servers, "power_w": each.servers * each.power_w_max,
        "application": len(workload.types),
    }
    count = workload.standby_jobs(duration_s)
    joined = {name: np.append(np.full(count, first[name], values.dtype), values)
              for name, values in columns.items()}
    return (*workload.types, each), joined


def busy_days(path: Path, count: int, *, days: int = 3, load: float = 0.9) -> list[int]:
    """The first days of the `count` spans whose long jobs keep the machine nearest to this busy.

    Spans do not overlap.
    """
    table, servers = _whole_servers(read(path), str(path), None)
    long_enough = (table.run_s >= SHORTEST_S) & (table.procs <= servers)
    day = ((table.submit_s - table.submit_s[0]) // 86400.0).astype(np.int64)[long_enough]
    work = (table.procs * table.run_s)[long_enough]
    a_day = np.bincount(day, weights=work, minlength=days) / (servers * 86400.0)
    spans = np.convolve(a_day, np.full(days, 1.0 / days), "valid")
    found: list[int] = []
    for first in np.argsort(np.abs(spans - load), kind="stable").tolist():
        if all(abs(first - other) >= days for other in found):
            found.append(first)
        if len(found) == count:
            break
    return sorted(found)


def _whole_servers(trace: Trace, source: str, servers: int | None) -> tuple[JobTable, int]:
    """The log's jobs in whole servers, and how many servers there are."""
    nodes, cores = _size_of(trace.header)
    if servers is None:
        servers = nodes
    if servers is None:
        raise InputError(f"{source}: the log does not say how large its machine is; give `servers` "
                         "(machine.nodes)")
    # Where the log counts cores, a job holds as many servers as it needs for them.
    return trace.jobs.with_columns(procs=-(-trace.jobs.procs // cores)), servers


def _types(
    keys: np.ndarray[tuple[int, int], np.dtype[np.int64]],
    jobs: JobTable,
    code: np.ndarray[tuple[int], np.dtype[np.intp]],
    seed: int,
) -> tuple[tuple[JobType, ...], tuple[float, ...]]:
    rng = np.random.default_rng(seed)
    types, shares = [], []
    for number, (size, shape) in enumerate(keys):
        mine = jobs.run_s[code == number]
        time_s = float(mine.mean())
        power_w = float(rng.uniform(*POWER_W))
        types.append(
            JobType(
                f"{size}x{('short', 'medium', 'long')[shape]}", int(size), time_s, power_w,
                time_s * float(rng.uniform(*SLOWEST)), power_w * float(rng.uniform(*LOWEST)),
                THRESHOLD,
            )
        )
        shares.append(float(mine.sum() * size))
    return tuple(types), tuple(shares)


def _size_of(header: Mapping[str, str]) -> tuple[int | None, int]:
    """Nodes of the machine, and cores per node that the log's processor counts stand for."""
    nodes, procs = header_sizes(header)
    nodes = procs if nodes is None else nodes
    if nodes is None:
        return None, 1
    return nodes, max(1, round((procs or nodes) / nodes))
