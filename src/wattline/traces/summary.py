"""What `wattline trace info` says of a workload: plain figures, computed from the trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from wattline.model.jobs import NO_JOB, JobTable
from wattline.model.signal import FloatArray
from wattline.traces.reader import read
from wattline.traces.trace import Trace

QUANTILES = (0, 25, 50, 75, 95, 100)


def describe_trace(
    log: Trace | str | Path, *, machine_procs: int | None = None, **reading: Any
) -> dict[str, Any]:
    """What a log holds and what cleaning did to it: the figures of `wattline trace info`.

    `machine_procs` is the size of the machine in the log's unit; other arguments are those of
    `read`.

    >>> import wattline as wl
    >>> about = wl.describe_trace(wl.generate("lublin", seed=1, jobs=50, nodes=32))
    >>> about["jobs"], about["quantiles"]["procs"]["p100"]
    (50, 16.0)
    """
    trace = log if isinstance(log, Trace) else read(log, machine_procs=machine_procs, **reading)
    return summarise(trace, machine_procs)


def summarise(trace: Trace, machine_procs: int | None = None) -> dict[str, Any]:
    """Figures of the trace; `machine_procs` stands in for what the header says."""
    jobs = trace.jobs
    procs = machine_procs or trace.machine_procs()
    span_s = float(jobs.submit_s[-1] - jobs.submit_s[0])
    work = jobs.procs * jobs.run_s
    return {
        "source": trace.source,
        "jobs": len(jobs),
        "first_submit_s": float(jobs.submit_s[0]),
        "last_submit_s": float(jobs.submit_s[-1]),
        "span_s": span_s,
        "machine_procs": procs,
        "proc_s": float(work.sum()),
        "offered_load": float(work.sum()) / (procs * span_s) if procs and span_s > 0 else None,
        "users": _distinct(jobs, "user"),
        "groups": _distinct(jobs, "group"),
        "queues": _distinct(jobs, "queue"),
        "dependencies": int(np.count_nonzero(jobs.after_job != NO_JOB)),
        "with_power": int(np.count_nonzero(np.isfinite(jobs.power_w))),
        "quantiles": {
            "procs": quantiles(jobs.procs.astype(np.float64)),
            "run_s": quantiles(jobs.run_s),
            "requested_s": quantiles(jobs.requested_s),
            "used_of_request": quantiles(jobs.run_s / jobs.requested_s),
            "gap_s": quantiles(np.diff(jobs.submit_s)),
            "power_w_per_proc": quantiles(jobs.power_w / jobs.procs),
        },
        "header": dict(trace.header),
        "cleaning": cleaning(trace),
        "remarks": list(trace.remarks),
    }


def quantiles(values: FloatArray) -> dict[str, float | None]:
    """Mean and percentiles of what is known."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return {"mean": None, **{f"p{q}": None for q in QUANTILES}}
    found = np.percentile(finite, QUANTILES)
    return {"mean": float(finite.mean()),
            **{f"p{q}": float(v) for q, v in zip(QUANTILES, found, strict=True)}}


def cleaning(trace: Trace) -> dict[str, Any]:
    """The cleaning report as plain data."""
    report = trace.cleaning
    return {
        "read": report.read,
        "kept": report.kept,
        "rules": [{"name": rule.name, "jobs": rule.jobs, "first_line": rule.first_line,
                   "drops": rule.drops, "energy_j": rule.energy_j, "statement": rule.statement}
                  for rule in report.rules],
    }


def _distinct(jobs: JobTable, column: str) -> int:
    codes = getattr(jobs, column)
    return int(np.unique(codes[codes >= 0]).size)
