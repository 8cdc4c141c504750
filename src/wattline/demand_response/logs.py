"""A real job log as a regulated workload: types from sizes and run times, powers as measured.

A job whose power the log measured draws it, and its type is planned with the mean. What nobody
measured is assumed, and said: the powers of a log without any, and how jobs answer to caps, which
are drawn by seed, one draw a type, from the ranges below.
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
from wattline.model.signal import FloatArray
from wattline.traces.reader import read
from wattline.traces.trace import Trace, header_sizes

SHORTEST_S = 600.0
"""Shorter jobs are left out: this is the study of long ones, and any wait ruins a short job."""
CLASS_EDGES_S = (3600.0, 14400.0)
"""Run times that part the types of one size: up to an hour, up to four, longer."""
POWER_W = (110.0, 190.0)
"""Per-server power of CPU and memory at full speed, drawn evenly where a log measured none."""
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
    measured: int
    """Jobs whose power the log has."""
    assumed: tuple[str, ...]
    """Basis of the powers: a sentence each."""


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
    code = code.reshape(-1).astype(np.int64)
    idle_w = IDLE_W if power_w_idle is None else power_w_idle
    server_w = np.where(chosen.power_w > 0, chosen.power_w / chosen.procs, np.nan)
    if idle_w > POWER_W[0] and np.all(np.isnan(server_w)):
        raise InputError(f"{source}: it has no powers, and the {_range(POWER_W)} W per server that "
                         f"are assumed go below an idle one ({idle_w:g} W)")
    types, shares = _types(keys, chosen, server_w, code, idle_w, seed)
    work = float((chosen.procs * chosen.run_s).sum())
    workload = Workload(
        Path(source).name, types, servers, idle_w, min(1.0, work / (servers * duration_s)), shares,
        rule="types by size and run time of a log", source="chosen",
    )
    type_w = np.array([t.power_w_max for t in types])[code]
    slowest = np.array([t.time_s_max / t.time_s_min for t in types])[code]
    columns = {
        "submit_s": chosen.submit_s - first_s, "run_s": chosen.run_s,
        "requested_s": slowest * chosen.run_s, "procs": chosen.procs,
        "power_w": chosen.procs * np.where(np.isnan(server_w), type_w, server_w),
        "application": code,
    }
    if standby:
        workload = workload.with_standby(STANDBY_S)
        types, columns = _standby_first(workload, columns, duration_s)
    jobs = JobTable.build(**columns, names={"application": tuple(t.name for t in types)})
    larger = inside & long_enough & (table.procs > servers)
    said = _assumed(server_w, chosen, idle_w if power_w_idle is None else None)
    return LogCase(workload, jobs, int((inside & ~long_enough).sum()), int(larger.sum()),
                   int(np.count_nonzero(~np.isnan(server_w))), said)


def _assumed(server_w: FloatArray, jobs: JobTable, idle_w: float | None) -> tuple[str, ...]:
    """List what nobody measured or gave of the powers; an idle power only where it is assumed."""
    known = ~np.isnan(server_w)
    if not known.any():
        powers = (f"the log has no powers: {_range(POWER_W)} W per server are assumed, drawn by "
                  "seed for each type of jobs")
    else:
        rest = "" if known.all() else (
            f"; the {np.count_nonzero(~known)} without draw the mean of their type")
        mean_w = _mean(server_w, jobs, known)
        powers = (f"{np.count_nonzero(known)} of {known.size} jobs draw the power that the log "
                  f"measured, {mean_w:.0f} W per server in the mean{rest}; rules know the mean of "
                  "a type, which `feedback` corrects by the meter")
    said = [powers, "assumed of caps, drawn by seed for each type of jobs: at the lowest one "
                    f"{_range(LOWEST)} of the power and {_range(SLOWEST)} times the run time"]
    if idle_w is not None:
        said.append(f"{idle_w:g} W are assumed of an idle server; give machine.node_idle_w")
    return tuple(said)


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:g} to {ends[1]:g}"


def _mean(server_w: FloatArray, jobs: JobTable, chosen: npt.NDArray[np.bool_]) -> float:
    """Watts per server of these jobs, by server hours."""
    return float(np.average(server_w[chosen], weights=(jobs.procs * jobs.run_s)[chosen]))


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
    server_w: FloatArray,
    code: npt.NDArray[np.int64],
    idle_w: float,
    seed: int,
) -> tuple[tuple[JobType, ...], tuple[float, ...]]:
    """The types and what each occupies; a type draws the mean of its measured jobs, or of all
    measured ones, and at least as much as an idle server."""
    rng = np.random.default_rng(seed)
    known = ~np.isnan(server_w)
    types, shares = [], []
    for number, (size, shape) in enumerate(keys):
        mine = code == number
        run_s = jobs.run_s[mine]
        time_s = float(run_s.mean())
        power_w = float(rng.uniform(*POWER_W))
        if known.any():
            those = mine & known if np.any(mine & known) else known
            power_w = max(idle_w, _mean(server_w, jobs, those))
        longest_s = time_s * float(rng.uniform(*SLOWEST))
        lowest_w = max(min(idle_w, power_w), power_w * float(rng.uniform(*LOWEST)))
        types.append(JobType(
            f"{size}x{('short', 'medium', 'long')[shape]}", int(size), time_s, power_w, longest_s,
            lowest_w, THRESHOLD,
        ))
        shares.append(float(run_s.sum() * size))
    return tuple(types), tuple(shares)


def _size_of(header: Mapping[str, str]) -> tuple[int | None, int]:
    """Nodes of the machine, and cores per node that the log's processor counts stand for."""
    nodes, procs = header_sizes(header)
    nodes = procs if nodes is None else nodes
    if nodes is None:
        return None, 1
    return nodes, max(1, round((procs or nodes) / nodes))
