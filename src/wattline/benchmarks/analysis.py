"""Seconds for what comes after a run: metrics, run folder, verification, report; 300,000 jobs.

The run is made up (random starts on a machine that is large enough), because only its size
matters here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from wattline.analysis import rundir
from wattline.analysis.metrics import metrics
from wattline.analysis.report import report
from wattline.benchmarks._measuring import seconds
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.progress import Advance
from wattline.model.run import EventKind, EventLog, Outcome, Run, Schedule
from wattline.results.verify.judge import verify

JOBS = 300_000
_IDLE_W, _ACTIVE_W = 100.0, 250.0


def measure(progress: Advance) -> dict[str, Any]:
    """Best of three for each step; the report, which is the slowest, once."""
    run = made_up_run(JOBS)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        figures = metrics(run)
        steps: list[tuple[str, Callable[[], object], int]] = [
            ("metrics_s", lambda: metrics(run), 3),
            ("write_s", lambda: rundir.write(run, folder, figures), 3),
            ("read_s", lambda: rundir.read(folder), 3),
            ("verify_s", lambda: verify(run), 3),
            ("report_s", lambda: report({"run": run}, Path(place) / "report"), 1),
        ]
        found: dict[str, Any] = {"jobs": JOBS, "events": len(run.events)}
        for number, (name, step, times) in enumerate(steps):
            found[name] = min(seconds(step) for _ in range(times))
            progress((number + 1) / len(steps))
        found["folder_bytes"] = sum(path.stat().st_size for path in folder.iterdir())
    return found


def made_up_run(count: int, seed: int = 0) -> Run:
    """Jobs that start some time after their submission, each drawing its active power."""
    rng = np.random.default_rng(seed)
    jobs = JobTable.build(
        submit_s=np.cumsum(rng.integers(0, 100, count)),
        run_s=rng.integers(1, 5000, count),
        procs=rng.integers(1, 500, count),
        user=rng.integers(0, 700, count),
    )
    start_s = jobs.submit_s + rng.integers(0, 10_000, count)
    end_s = start_s + jobs.run_s
    events = _log(jobs, start_s, end_s)
    units = int(events.busy.max())
    power_w = np.asarray(_IDLE_W * units + (_ACTIVE_W - _IDLE_W) * events.busy, np.float64)
    held_s = np.diff(events.time_s, append=events.time_s[-1])
    energy_j = float(np.dot(power_w, held_s))
    ones = np.ones(count, dtype=np.int64)
    return Run(
        jobs=jobs,
        schedule=Schedule(start_s, end_s, jobs.procs, _ACTIVE_W * jobs.procs * jobs.run_s,
                          int(Outcome.COMPLETED) * ones, 0 * ones),
        events=replace(events, power_w=power_w),
        machine=Machine.uniform(units, NodeClass(power_w_idle=_IDLE_W, power_w_active=_ACTIVE_W)),
        units=units,
        start_s=float(events.time_s[0]),
        end_s=float(events.time_s[-1]),
        energy_j=energy_j,
        class_energy_j={"node": energy_j},
        time_above_cap_s=0.0,
        energy_above_cap_j=0.0,
        power_w_peak=float(power_w[held_s > 0].max()),
    )


def _log(jobs: JobTable, start_s: Any, end_s: Any) -> EventLog:
    """Submissions, starts and ends in order, with the units in use and the queue; no power."""
    count = len(jobs)
    time_s = np.concatenate((jobs.submit_s, start_s, end_s))
    kind = np.repeat([int(EventKind.SUBMIT), int(EventKind.START), int(EventKind.END)], count)
    job = np.tile(np.arange(count), 3)
    order = np.lexsort((kind, time_s))
    time_s, kind, job = time_s[order], kind[order], job[order]
    starts, ends = kind == EventKind.START, kind == EventKind.END
    busy = np.cumsum(jobs.procs[job] * (starts.astype(np.int64) - ends))
    queued = np.cumsum((kind == EventKind.SUBMIT).astype(np.int64) - starts)
    power_w = np.where(starts, _ACTIVE_W * jobs.procs[job], 0.0)
    return EventLog(time_s, kind, job, np.zeros(3 * count), busy, queued, power_w)
