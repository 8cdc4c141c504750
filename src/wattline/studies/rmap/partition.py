"""A partition of its own for small jobs, with the traditional policy (5.6.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wattline.analysis.intervals import half_interval
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.progress import silent
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.policies.configuration.offers import make_offers
from wattline.studies.rmap.set_up import SetUp
from wattline.studies.rmap.study import RmapSetting, peak_w_per_node, ready_tables, run_one
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
    both mixed ones. Bounds under which a job can have no configuration so are left out and named.
    """
    usable = ready_tables(tables, setting).tables
    traces = ("small", "random1", "random2")
    found: dict[str, dict[str, Any]] = {}
    refused: list[float] = []
    for done, trace in enumerate(traces):
        gains: dict[str, list[list[float]]] = {}
        for bound in setting.bounds:
            try:
                of_seeds = [_gains(usable, setting, trace, seed, bound, part)
                            for seed in setting.seeds]
            except InputError:  # a bound that cannot power a job of the partition
                refused += [] if bound in refused else [bound]
                continue
            for name in of_seeds[0]:
                gains.setdefault(name, []).append([one[name] for one in of_seeds])
        found[trace] = {name: _with_interval(np.array(values)) for name, values in gains.items()}
        progress((done + 1) / len(traces))
    return {"part": part, "seeds": len(setting.seeds), "refused_bounds": refused, "traces": found}


def _gains(
    tables: Mapping[str, ConfigurationTable], setting: RmapSetting, trace: str, seed: int,
    bound: float, part: float,
) -> dict[str, float]:
    """By how much the mean turnaround of one trace is below that of the whole machine."""
    jobs = make_trace(trace, list(tables.values()), setting.nodes, seed, jobs=setting.jobs,
                      load=setting.load, request=setting.set_up.request)
    bound_w = bound * setting.nodes * peak_w_per_node(tables)
    apart_s = _partitioned_s(jobs, tables, setting, bound_w, part)
    found = {}
    for policy in ("traditional", "adaptive_0"):
        whole_s = _turnaround_s(jobs, tables, setting.nodes, bound_w, policy, setting.set_up)
        found[f"below_{policy}"] = float(1 - apart_s.mean() / whole_s.mean())
    return found


def _with_interval(by_bound: FloatArray) -> dict[str, float | None]:
    """The mean, and half its 95 % interval over seeds: bounds of a seed are not independent."""
    width = half_interval(by_bound.mean(axis=0))
    return {"mean": float(by_bound.mean()), "interval_95": None if np.isnan(width) else width}


def _partitioned_s(
    jobs: JobTable, tables: Mapping[str, ConfigurationTable], setting: RmapSetting, bound_w: float,
    part: float,
) -> FloatArray:
    nodes = setting.nodes
    apart_nodes = max(1, round(part * nodes))
    small = jobs.procs <= min(SMALL * nodes, apart_nodes)
    times = np.zeros(len(jobs))
    for rows, count, policy in ((small, apart_nodes, "traditional"),
                                (~small, nodes - apart_nodes, "adaptive_0")):
        if rows.any():
            # A large job that asks for more than the rest of the machine gets all of the rest.
            own = jobs.take(np.flatnonzero(rows))
            own = own.with_columns(procs=np.minimum(own.procs, count))
            times[rows] = _turnaround_s(own, tables, count, bound_w * count / nodes, policy,
                                        setting.set_up)
    return times


def _turnaround_s(
    jobs: JobTable, tables: Mapping[str, ConfigurationTable], nodes: int, bound_w: float,
    policy: str, set_up: SetUp,
) -> FloatArray:
    within = {name: table.up_to(nodes) for name, table in tables.items()}
    run = run_one(jobs, make_offers(jobs, within), nodes, bound_w, policy, set_up)
    return np.asarray(run.schedule.end_s - jobs.submit_s, dtype=np.float64)
