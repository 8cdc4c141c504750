"""The workload of the PuPPET study: a log in four parts, with the power of every job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.signal import FloatArray

NODE_W = 62.0
"""Mean power of a busy node where nobody says it."""
PARTS = 4
POWER_SPREAD = 0.15
"""Where a log has no power: a node draws the mean times a normal factor of this deviation..."""
POWER_RANGE = (0.7, 1.4)
"""...cut to this range."""


@dataclass(frozen=True, eq=False)
class StudiedJobs:
    """Jobs of a machine in parts that are studied one by one, and all together."""

    source: str
    nodes: int
    node_w: float
    """Mean power of a busy node at full speed; idle power is a fraction of it."""
    names: tuple[str, ...]
    parts: tuple[JobTable, ...]
    whole: JobTable


def workload_of(
    trace: str | Path | None, nodes: int | None, node_w: float | None, jobs: int | None, seed: int,
    arrivals: str | None = None,
) -> tuple[StudiedJobs, list[str]]:
    """A site's log, or a generated one; and what of the log is not used."""
    if trace is None:
        return generated_workload(seed, jobs, arrivals or "sessions"), []
    if nodes is None:
        raise InputError("--trace needs --nodes, the size of the machine")
    from wattline.traces.reader import read

    log = read(trace, machine_procs=nodes)
    dropped = [f"{rule.name} {rule.jobs:,}" for rule in log.cleaning.touched if rule.drops]
    remarks = [f"{log.cleaning.kept:,} of {log.cleaning.read:,} jobs of the log are used "
               f"({', '.join(dropped)})"] if dropped else []
    return logged_workload(log.jobs, nodes, node_w or NODE_W, seed, str(trace)), remarks


def generated_workload(seed: int, jobs: int | None = None,
                       arrivals: str = "sessions") -> StudiedJobs:
    """Two quiet and two busy months of a leadership machine, submitted in sessions of users.

    `arrivals="hours"` is the log of the bundled scenario, which has no bursts.
    """
    from wattline.traces.generators import leadership

    count = leadership.JOBS if jobs is None else jobs
    if count < 100:
        raise InputError(f"jobs is {count}; the study needs at least 100")
    trace = leadership.generate(seed=seed, jobs=count, arrivals=arrivals)
    stretch = 86400.0 * count / leadership.JOBS
    edges = np.cumsum([month.days for month in leadership.MONTHS]) * stretch
    names = ("January", "February", "March", "April")
    return _split(trace.jobs, edges, names, leadership.NODES, leadership.POWER_W_MEAN,
                  f"generated, {count} jobs in {arrivals}, seed {seed}")


def logged_workload(jobs: JobTable, nodes: int, node_w: float, seed: int,
                    source: str) -> StudiedJobs:
    """A site's log in four parts of equal length; powers that it lacks are drawn by the seed."""
    if not node_w > 0:
        raise InputError(f"node power is {node_w} W, must be above 0")
    if len(jobs) < 100:
        raise InputError(f"{source} has {len(jobs)} jobs; the study needs at least 100")
    if int(jobs.procs.max()) > nodes:
        raise InputError(f"{source} has a job of {int(jobs.procs.max())} nodes; --nodes is {nodes}")
    factor = np.clip(1.0 + POWER_SPREAD * np.random.default_rng(seed).standard_normal(len(jobs)),
                     *POWER_RANGE)
    power_w = np.where(np.isnan(jobs.power_w), jobs.procs * node_w * factor, jobs.power_w)
    jobs = jobs.with_columns(power_w=power_w, submit_s=jobs.submit_s - jobs.submit_s[0])
    edges = float(jobs.submit_s[-1]) * np.arange(1, PARTS + 1) / PARTS
    return _split(jobs, edges, tuple(f"part {i + 1}" for i in range(PARTS)), nodes, node_w, source)


def _split(jobs: JobTable, edges: FloatArray, names: tuple[str, ...], nodes: int,
           node_w: float, source: str) -> StudiedJobs:
    part = np.minimum(np.searchsorted(edges, jobs.submit_s, side="right"), len(edges) - 1)
    parts = tuple(jobs.take(part == i) for i in range(len(edges)))
    empty = [name for name, table in zip(names, parts, strict=True) if len(table) < 2]
    if empty:
        raise InputError(f"{source}: {empty[0]} has next to no jobs; the study needs four parts")
    return StudiedJobs(source, nodes, node_w, names, parts, jobs)
