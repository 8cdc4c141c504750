"""Watts of the parts of nodes by what a log measured, where nobody gave them.

A job that had its nodes alone has watts per node. Of nodes of one shape (CPUs and devices) those
above idle are divided among the parts in use, in the proportion that is assumed anyway, so that the
mean by node hours is that of the log. Jobs without measured watts, and those of what-ifs, then draw
what the others did.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wattline.model.signal import FloatArray
from wattline.model.units import fold_hosts
from wattline.scenario.twin.asked import AskedJob
from wattline.scenario.twin.site import Site
from wattline.shared_nodes.machine import Nodes
from wattline.site.lines import hosts_of

LEAST_JOBS = 10
"""Of fewer jobs a mean says little of others."""


@dataclass(frozen=True)
class FittedWatts:
    """Fields of `[twin]`, and what is to be said of them."""

    fields: dict[str, Any] = field(default_factory=dict)
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Shape:
    """Nodes that are alike, and the measured jobs on them in order of their starts."""

    rows: list[int]
    names: list[str]
    jobs: list[AskedJob]


def fitted_watts(site: Site, cpu_w: float | None, gpu_w: float | None) -> FittedWatts:
    """Fit the watts that are not given to the log; none where it measured too little."""
    nodes = site.machine.nodes
    if cpu_w is not None and (gpu_w is not None or not nodes.gres.any()):
        return FittedWatts()
    shapes = _shapes(site)
    fields: dict[str, Any] = {}
    said, classes = [], []
    for shape in shapes:
        if len(shape.jobs) < LEAST_JOBS:
            continue
        found = _factor(shape.jobs, nodes, shape.rows[0], cpu_w is None, gpu_w is None)
        where = "" if len(shapes) == 1 else f" of {fold_hosts(shape.names)}"
        if not 0.0 < found < math.inf:
            said.append(f"the log measured {_mean_w(shape.jobs):,.0f} W per node{where}, no more "
                        "than what is assumed or given of them without those parts: watts of parts "
                        "stay as assumed")
            continue
        own = _scaled(nodes, shape.rows[0], found, cpu_w is None, gpu_w is None)
        classes.append({"nodes": fold_hosts(shape.names), **own})
        said.append(_said(shape, own, where, _held_back(
            shape, nodes, cpu_w is None, gpu_w is None)))
    if len(shapes) == 1 and classes:
        gpus = classes[0].get("gres_w", {})
        fields = {name: value for name, value in classes[0].items() if name == "cpu_w"}
        fields |= {"gres_w": gpus} if gpus else {}
    elif classes:
        fields = {"power": classes}
    return FittedWatts(fields, tuple(said))


def _shapes(site: Site) -> list[_Shape]:
    nodes = site.machine.nodes
    of_shape: dict[tuple[int, ...], _Shape] = {}
    shape_of: list[_Shape] = []
    for row, name in enumerate(nodes.names):
        key = (int(nodes.cpus[row]), *nodes.gres[row].tolist())
        shape = of_shape.setdefault(key, _Shape([], [], []))
        shape.rows.append(row)
        shape.names.append(name)
        shape_of.append(shape)
    row_of = {name: row for row, name in enumerate(nodes.names)}
    of_list: dict[str, _Shape | None] = {}
    for job in sorted(site.log.jobs, key=lambda each: each.start_s):
        if not job.power_per_node_w > 0 or not _node_s(job) > 0:
            continue
        if job.node_list not in of_list:
            mine = {id(shape_of[row_of[name]]): shape_of[row_of[name]]
                    for name in hosts_of(job.node_list, job.where) if name in row_of}
            of_list[job.node_list] = next(iter(mine.values())) if len(mine) == 1 else None
        found = of_list[job.node_list] if job.node_list else (
            shape_of[0] if len(of_shape) == 1 else None)
        if found is not None:
            found.jobs.append(job)
    return list(of_shape.values())


def _node_s(job: AskedJob) -> float:
    found = max(job.nodes, 1) * (job.end_s - job.start_s - job.suspended_s)
    return found if math.isfinite(found) else 0.0


def _weights(jobs: list[AskedJob]) -> FloatArray:
    return np.array([_node_s(job) for job in jobs])


def _mean_w(jobs: list[AskedJob]) -> float:
    return float(np.average([job.power_per_node_w for job in jobs], weights=_weights(jobs)))


def _parts(nodes: Nodes, row: int, job: AskedJob) -> Iterator[tuple[str, float]]:
    """Each kind of part of one of its nodes with the watts that are taken for it."""
    yield "cpu_w", float(nodes.cpus[row] * nodes.cpu_w[row])
    for (name, model), number in job.gres_per_node.items():
        columns = [at for at, kind in enumerate(nodes.gres_kinds)
                   if kind[0] == name and model in ("", kind[1])]
        yield ("gpu_w" if name == "gpu" else ""), float(
            number * nodes.gres_w[row, columns].max(initial=0.0))


def _factor(jobs: list[AskedJob], nodes: Nodes, row: int, cpus: bool, gpus: bool) -> float:
    """By how much the watts of the parts that nobody gave are to be multiplied."""
    free = {name for name, is_free in (("cpu_w", cpus), ("gpu_w", gpus)) if is_free}
    over_j = free_j = 0.0
    for job in jobs:
        parts = list(_parts(nodes, row, job))
        fixed_w = float(nodes.idle_w[row]) + sum(watts for name, watts in parts
                                                 if name not in free)
        over_j += _node_s(job) * (job.power_per_node_w - fixed_w)
        free_j += _node_s(job) * sum(watts for name, watts in parts if name in free)
    return over_j / free_j if free_j > 0 else math.nan


def _scaled(nodes: Nodes, row: int, factor: float, cpus: bool, gpus: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if cpus:
        found["cpu_w"] = _rounded(float(nodes.cpu_w[row]) * factor)
    kinds = {":".join(filter(None, kind)): float(nodes.gres_w[row, at]) * factor
             for at, kind in enumerate(nodes.gres_kinds)
             if kind[0] == "gpu" and nodes.gres[row, at]}
    if gpus and kinds:
        found["gres_w"] = {name: _rounded(watts) for name, watts in kinds.items()}
    return found


def _rounded(watts: float) -> float:
    return float(f"{watts:.4g}")


def _held_back(shape: _Shape, nodes: Nodes, cpus: bool, gpus: bool) -> float:
    """Compare the mean of the later half of the jobs with what the earlier half says of it."""
    half = len(shape.jobs) // 2
    first, last = shape.jobs[:half], shape.jobs[half:]
    row = shape.rows[0]
    factor = _factor(first, nodes, row, cpus, gpus)
    free = {name for name, is_free in (("cpu_w", cpus), ("gpu_w", gpus)) if is_free}
    told_w = [float(nodes.idle_w[row]) + sum(watts * (factor if name in free else 1.0)
                                             for name, watts in _parts(nodes, row, job))
              for job in last]
    return float(np.average(told_w, weights=_weights(last))) / _mean_w(last) - 1.0


def _said(shape: _Shape, own: dict[str, Any], where: str, held_back: float) -> str:
    watts = np.array([job.power_per_node_w for job in shape.jobs])
    order = np.argsort(watts)
    share = np.cumsum(_weights(shape.jobs)[order]) / _weights(shape.jobs).sum()
    low, high = (float(watts[order][np.searchsorted(share, part)]) for part in (0.25, 0.75))
    parts = [f"{name} = {value:g}" for name, value in own.items() if name == "cpu_w"]
    parts += [f"{name} = {value:g}" for name, value in own.get("gres_w", {}).items()]
    return (f"{', '.join(parts)} W{where}, beside idle_w: by the log, whose "
            f"{len(shape.jobs):,} measured jobs with nodes of their own drew "
            f"{_mean_w(shape.jobs):,.0f} W per node in the mean of node hours (the middle half "
            f"{low:,.0f} to {high:,.0f} W); fitted to the earlier half of them, the later half is "
            f"{held_back:+.1%} off (--cpu-w and --gpu-w say others)")
