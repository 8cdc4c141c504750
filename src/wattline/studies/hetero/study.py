"""The study of the mixed cluster: two published loads under several rules, and what goes beyond.

Every run is one of the engine: three nodes of three classes, the jobs of each submitting thread
chained by dependency, classes and settings chosen by claims when a job starts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.physics.claims import ClaimBook, npb_claims
from wattline.physics.claims.latency import with_cap_latency
from wattline.policies.configuration.claimed_setup import options_of
from wattline.policies.order.ranked import ranked
from wattline.studies.hetero.runs import FIXED, claimed_run, regret_order
from wattline.studies.hetero.workloads import (
    CLASSES,
    LOADS,
    PUBLISHED,
    batch,
    distorted,
    gpu_claims,
    inferred_xeon_idle_w,
    load_jobs,
    machine,
)

LATE_CAP_S = 0.31
"""Inferred: caps in force so long after a start explain the published energy of the small load."""
RULES = (FIXED, "energy", "time", "edp", "edp:5")
SAVED = {"time": "makespan_s", "energy": "energy_j", "edp": "edp_js"}
"""What choosing by energy saves, and the figure of a run that says so."""


def inferred_start_s(book: ClaimBook) -> float:
    """Time before the first jobs start that explains 15.28 s of sz-load under the energy rule.

    Its longest job is MG on the ODROID-C1+, alone in its thread.
    """
    longest = next(c for c in book.of("MG.A") if c.node_class == "odroid-c1")
    return PUBLISHED["sz-load", "energy"].time_s - longest.time_s


def inferred_gap_s(book: ClaimBook, start_s: float) -> float:
    """Time between two jobs of a thread that explains the default manager's sz-load of 20.68 s.

    Its longest thread runs CG once on the ODROID-C2 and 15 times on the Xeon.
    """
    cg = {c.node_class: c for c in book.of("CG.A") if math.isinf(c.setting.cap_w)}
    running_s = cg["odroid-c2"].time_s + 15 * cg["xeon"].time_s
    return max(PUBLISHED["sz-load", FIXED].time_s - start_s - running_s, 0.0) / 15


def fitted_figures(
    *, start_s: float | None, gap_s: float | None, xeon_idle_w: float | None
) -> dict[str, dict[str, list[str]]]:
    """The published figures, by load and rule, from which a value that is not given is inferred."""
    used: dict[str, dict[str, list[str]]] = {load: {} for load in LOADS}

    def note(load: str, rule: str, figure: str) -> None:
        used[load].setdefault(rule, []).append(figure)

    if start_s is None:
        note("sz-load", "energy", "makespan_s")
    if gap_s is None:
        note("sz-load", FIXED, "makespan_s")
    if xeon_idle_w is None:
        for load, rule in PUBLISHED:
            note(load, rule, "energy_j")
    return used


def reproduce(
    *, start_s: float | None = None, gap_s: float | None = None, xeon_idle_w: float | None = None,
    cap_latency_s: float = 0.0,
) -> dict[str, Any]:
    """Both loads under all rules; what the document does not say is inferred unless given.

    `cap_latency_s`: caps take effect so long after a start, which the claims do not know.
    """
    book = npb_claims()
    truth = with_cap_latency(book, cap_latency_s)
    idle_w = inferred_xeon_idle_w(book) if xeon_idle_w is None else xeon_idle_w
    start = inferred_start_s(book) if start_s is None else start_s
    gap = inferred_gap_s(book, start) if gap_s is None else gap_s
    cluster = machine(idle_w)
    loads: dict[str, Any] = {}
    for load in LOADS:
        jobs = load_jobs(load, gap)
        names = [jobs.name_of("application", int(code)) for code in jobs.application]
        loads[load] = {}
        for rule in RULES:
            options = options_of(book, truth, cluster, names, [1] * len(jobs),
                                 capped=rule != FIXED)
            run, _ = claimed_run(jobs, cluster, options, rule, learn=False)
            loads[load][rule] = _figures(run, start, PUBLISHED.get((load, rule)))
    return {
        "inferred": {"xeon_idle_w": idle_w, "board_idle_w": cluster.class_of(1).power_w_idle,
                     "start_s": start, "gap_s": gap, "cap_latency_s": cap_latency_s},
        "fitted": fitted_figures(start_s=start_s, gap_s=gap_s, xeon_idle_w=xeon_idle_w),
        "loads": loads,
        "saving": {load: _saving(found) for load, found in loads.items()},
    }


def _figures(run: Run, start_s: float, published: Any) -> dict[str, Any]:
    """Time and energy from when the load is handed over; all nodes idle until the first jobs."""
    found: dict[str, Any] = {
        "makespan_s": start_s + float(np.nanmax(run.schedule.end_s) - run.start_s),
        "energy_j": start_s * run.machine.power_w_idle + run.energy_j,
        "nodes": _nodes_of(run),
    }
    found["edp_js"] = found["makespan_s"] * found["energy_j"]
    if published is not None:
        found["published"] = {"makespan_s": published.time_s, "energy_j": published.energy_j,
                              "edp_js": published.edp_js,
                              "nodes": [list(thread) for thread in published.nodes]}
    return found


def _nodes_of(run: Run) -> list[list[str]]:
    """Class of node of each job, by thread in order."""
    assert run.placement is not None
    node = dict(zip(run.placement.job.tolist(), run.placement.first.tolist(), strict=True))
    threads: dict[int, list[str]] = {}
    for row in np.argsort(run.schedule.start_s, kind="stable"):
        threads.setdefault(int(run.jobs.user[row]), []).append(
            run.machine.class_of(node[int(row)]).name)
    return [threads[thread] for thread in sorted(threads)]


def _saving(found: dict[str, Any]) -> dict[str, float]:
    """What choosing by energy saves against the default manager, here and as published."""
    ours, theirs = found["energy"], found[FIXED]
    saved = {}
    for name, figure in SAVED.items():
        saved[name] = 1 - ours[figure] / theirs[figure]
        saved[f"{name}_published"] = 1 - ours["published"][figure] / theirs["published"][figure]
    return saved


# ---- beyond the document -----------------------------------------------------------------------

BATCH = 300
COUNTS = (4, 8, 8)
GPU_NODES = 2


def beyond(seed: int = 1, count: int = BATCH) -> dict[str, Any]:
    """Claims in the order of the queue, wrong claims corrected, unknown ones estimated, GPUs."""
    measured = npb_claims()
    truth = ClaimBook([*measured, *gpu_claims(measured)])
    cluster = machine(inferred_xeon_idle_w(measured), COUNTS, GPU_NODES)
    jobs, names, nodes = batch(seed, measured, count)
    noise = np.random.default_rng(seed + 1).lognormal(0.0, 0.05, count)

    def run(book: ClaimBook, rule: str, **more: Any) -> dict[str, Any]:
        options = options_of(book, truth, cluster, names, nodes, capped=rule != FIXED)
        if more.pop("by_claims", False):
            more["order"] = ranked(regret_order(options, lambda row: math.log(row.claimed_j)))
        found, table = claimed_run(jobs, cluster, options, rule, noise=noise, **more)
        return _batch_figures(found, table, options.true_s)

    wrong = ClaimBook(distorted(truth, seed))
    some = ClaimBook(c for c in truth if c.application not in ("LU-MZ.A", "BT-MZ.A", "FT.A")
                     or c.node_class == "xeon")
    return {
        "jobs": count, "nodes": dict(zip((*CLASSES, "gpu"), (*COUNTS, GPU_NODES), strict=True)),
        "variants": {
            "default, first come": run(truth, FIXED),
            "energy, first come": run(truth, "energy"),
            "edp, first come": run(truth, "edp"),
            "energy, claims order the queue": run(truth, "energy", by_claims=True),
            "edp, claims order the queue": run(truth, "edp", by_claims=True),
            "edp, claims order and wait": run(truth, "edp", by_claims=True, patience=2.0),
            "edp, wrong claims, not corrected": run(wrong, "edp", learn=False),
            "edp, wrong claims, corrected by each run": run(wrong, "edp"),
            "edp, three applications estimated": run(some, "edp"),
        },
    }


def _batch_figures(run: Run, table: Any, true_s: FloatArray) -> dict[str, Any]:
    turnaround = run.schedule.end_s - run.jobs.submit_s
    return {
        "makespan_s": float(np.nanmax(run.schedule.end_s) - run.start_s),
        "energy_j": run.energy_j,
        "turnaround_s": float(np.nanmean(turnaround)),
        "jobs_run": int(np.count_nonzero(run.ran)),
        "claim_error": float(np.mean(np.abs(table.claimed_s / true_s - 1))),
    }
