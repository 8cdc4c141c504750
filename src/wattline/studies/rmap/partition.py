"""A partition of its own for small jobs, with the traditional policy (5.6.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.progress import silent
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.policies.configuration.offers import make_offers
from wattline.studies.rmap.report import interval
from wattline.studies.rmap.study import RmapSetting, peak_w_per_node, run_one, usable_tables
from wattline.studies.rmap.workloads import KINDS, make_trace

SMALL = KINDS["small"].high
"""Jobs up to this part of the machine go to the partition."""


def small_partition(
    tables: Mapping[str, ConfigurationTable], setting: RmapSetting, part: float = 0.5,
    progress: Callable[[float], None] = silent,
) -> dict[str, Any]:
    """Turnaround with `part` of nodes and watts for small jobs alone, beside the whole machine.

    The partition runs its jobs traditionally, the rest of the machine adaptively; neither helps the
    other out, and a large job gets no more nodes than the rest has. Traces are the small one and
    both mixed ones.
    """
    usable = usable_tables(tables, setting.nodes)
    found: dict[str, dict[str, list[float]]] = {}
    traces = ("small", "random1", "random2")
    for done, trace in enumerate(traces):
        for seed in setting.seeds:
            jobs = make_trace(trace, list(usable.values()), setting.nodes, seed,
                              jobs=setting.jobs, load=setting.load)
            for bound in setting.bounds:
                bound_w = bound * setting.nodes * peak_w_per_node(usable)
                whole = {policy: _turnaround_s(jobs, usable, setting.nodes, bound_w, policy)
                         for policy in ("traditional", "adaptive_0")}
                apart = _partitioned_s(jobs, usable, setting.nodes, bound_w, part)
                small = jobs.procs <= SMALL * setting.nodes
                rows = found.setdefault(trace, {})
                for policy, values in whole.items():
                    rows.setdefault(f"below_{policy}", []).append(
                        float(1 - apart.mean() / values.mean()))
                if small.any() and not small.all():
                    rows.setdefault("small_below_adaptive_0", []).append(
                        float(1 - apart[small].mean() / whole["adaptive_0"][small].mean()))
        progress((done + 1) / len(traces))
    return {"part": part, "seeds": len(setting.seeds), "traces": {
        trace: {name: {"mean": float(np.mean(values)),
                       "interval_95": _by_seed(values, len(setting.bounds))}
                for name, values in rows.items()} for trace, rows in found.items()}}


def _by_seed(values: list[float], bounds: int) -> float | None:
    """Half the 95 % interval of the mean over seeds; bounds of one seed are not independent."""
    width = interval(np.array(values).reshape(-1, bounds).mean(axis=1)) if (
        len(values) % bounds == 0) else interval(np.array(values))
    return None if np.isnan(width) else width


def _partitioned_s(
    jobs: JobTable, tables: Mapping[str, ConfigurationTable], nodes: int, bound_w: float,
    part: float,
) -> FloatArray:
    apart_nodes = max(1, round(part * nodes))
    small = jobs.procs <= min(SMALL * nodes, apart_nodes)
    times = np.zeros(len(jobs))
    for rows, count, policy in ((small, apart_nodes, "traditional"),
                                (~small, nodes - apart_nodes, "adaptive_0")):
        if rows.any():
            # A large job that asks for more than the rest of the machine gets all of the rest.
            own = jobs.take(np.flatnonzero(rows))
            own = own.with_columns(procs=np.minimum(own.procs, count))
            times[rows] = _turnaround_s(own, tables, count, bound_w * count / nodes, policy)
    return times


def _turnaround_s(
    jobs: JobTable, tables: Mapping[str, ConfigurationTable], nodes: int, bound_w: float,
    policy: str,
) -> FloatArray:
    within = {name: table.up_to(nodes) for name, table in tables.items()}
    run = run_one(jobs, make_offers(jobs, within), nodes, bound_w, policy)
    return np.asarray(run.schedule.end_s - jobs.submit_s, dtype=np.float64)
