"""The engine: jobs per second on real logs, scaling, reading, memory, start-up.

Real logs are read from the folder that WATTLINE_DATA names (or ../shared/data); without it,
generated workloads of about the same shape stand in, and the result says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wattline.benchmarks._bare import run_bare
from wattline.benchmarks._books import STREAMED, measure_books
from wattline.benchmarks._measuring import best_seconds, public_log
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.progress import Advance
from wattline.policies.admission.none import NoLimit
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.requested import Requested
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.counted import Counted
from wattline.policies.placement.first_fit import FirstFit
from wattline.policies.regulation.none import NoRegulation
from wattline.traces import generate, read

LOGS: Mapping[str, tuple[str, int]] = {
    "KTH": ("swf/KTH-SP2-1996-2.1-cln.swf.xz", 100),
    "Mira": ("swf/mira_walltime.swf.xz", 49_152),
    "Theta": ("swf/theta_walltime.swf.xz", 4_392),
    "Atlas": ("swf/LLNL-Atlas-2006-2.1-cln.swf.xz", 9_216),
    "Curie": ("swf/CEA-Curie-2011-2.1-cln.swf.gz", 93_312),
}
GENERATED: Mapping[str, tuple[int, int]] = {"lublin": (30_000, 256),
                                             "leadership": (16_044, 49_152)}
"""Jobs and nodes of what stands in for the logs."""
WHOLE_NODE_JOBS, DOUBLED_JOBS, HUNDREDFOLD_JOBS = 30_000, 200_000, 100_000
REPEATS = 5


def measure(progress: Advance, streamed_jobs: int = STREAMED) -> dict[str, Any]:
    """All figures; speeds are the best of several runs in one warm process.

    So many jobs stream through the books whose memory is measured.
    """
    folder = data_folder()
    logs = _real(folder) if folder else _generated()
    cases = {
        "easy": (_policy(), Rules()),
        "conservative": (_policy(backfill=Conservative()), Rules()),
        "chosen_nodes": (_policy(placement=FirstFit()), Rules(choose_nodes=True)),
    }
    figures: dict[str, Any] = {"logs": "real" if folder else "generated"}
    speeds: dict[str, dict[str, float]] = {}
    for step, (case, (policy, rules)) in enumerate(cases.items()):
        speeds[case] = {}
        for name, (jobs, units) in logs.items():
            speeds[case][name] = _jobs_a_second(jobs, units, policy, rules)
        progress((step + 1) / 6)
    for case, by_log in speeds.items():
        figures[f"{case}_jobs_per_s"] = {**by_log, "geometric_mean": _mean(by_log)}
    figures["bare_jobs_per_s"] = {name: _bare(*log) for name, log in logs.items()}
    figures["ratio_to_bare"] = {
        name: speeds["easy"][name] / figures["bare_jobs_per_s"][name] for name in logs
    }
    figures["books"] = measure_books(_policy(), _policy(backfill=Conservative()),
                                     streamed_jobs)
    figures["doubling_ratio"] = _doubling()
    progress(4 / 6)
    figures["hundredfold_nodes_ratio"] = _hundredfold()
    progress(5 / 6)
    if folder:
        figures["read_curie_s"] = best_seconds(lambda: read(folder / LOGS["Curie"][0]), REPEATS)
        figures["peak_memory_mb"] = _peak_memory(folder / LOGS["Curie"][0], LOGS["Curie"][1])
        figures["first_simulate_kth_s"] = _first_call(folder / LOGS["KTH"][0], LOGS["KTH"][1])
        figures["simulate_kth_s"] = _second_call(folder / LOGS["KTH"][0], LOGS["KTH"][1])
    progress(1.0)
    return figures


def data_folder() -> Path | None:
    """The folder of shared data, where there is one."""
    found = public_log(LOGS["KTH"][0])
    return None if found is None else found.parents[LOGS["KTH"][0].count("/")]


def _real(folder: Path) -> dict[str, tuple[JobTable, int]]:
    return {
        name: (read(folder / file, machine_procs=units).jobs, units)
        for name, (file, units) in LOGS.items()
    }


def _generated() -> dict[str, tuple[JobTable, int]]:
    return {name: (generate(name, seed=1, jobs=jobs, nodes=nodes).jobs, nodes)
            for name, (jobs, nodes) in GENERATED.items()}


def _policy(**axes: Any) -> Composition:
    chosen = {"order": Fcfs(), "backfill": Easy(), "admission": NoLimit(),
              "configuration": Requested(), "placement": Counted(),
              "regulation": NoRegulation()}
    return Composition(**(chosen | axes))


def _jobs_a_second(jobs: JobTable, units: int, policy: Composition, rules: Rules) -> float:
    machine = Machine.uniform(units)
    best_s = min(simulate(jobs, machine, policy, rules).engine_s for _ in range(REPEATS))
    return len(jobs) / best_s


def whole_node_jobs_per_s() -> float:
    """EASY on a generated log of whole nodes."""
    jobs = generate("lublin", seed=1, jobs=WHOLE_NODE_JOBS, nodes=256).jobs
    return _jobs_a_second(jobs, 256, _policy(), Rules())


def _bare(jobs: JobTable, units: int) -> float:
    run_bare(jobs, units)
    return len(jobs) / best_seconds(lambda: run_bare(jobs, units), REPEATS)


def _doubling() -> float:
    """Time for twice the jobs over the time for them, at the same load."""
    jobs = generate("lublin", seed=1, jobs=DOUBLED_JOBS, nodes=256).jobs
    half = jobs.take(np.arange(DOUBLED_JOBS // 2))
    return (len(jobs) / _jobs_a_second(jobs, 256, _policy(), Rules())) / (
        len(half) / _jobs_a_second(half, 256, _policy(), Rules())
    )


def _hundredfold() -> dict[str, float]:
    """Time on 100,000 nodes over the time on 1,000, at the same load.

    `larger_jobs`: the same jobs, each a hundred times as large. `more_jobs_at_once`: the jobs keep
    their sizes and come a hundred times as fast, so that a hundred times as many run at once.
    """
    jobs = generate("lublin", seed=1, jobs=HUNDREDFOLD_JOBS, nodes=1_000).jobs
    base = _jobs_a_second(jobs, 1_000, _policy(), Rules())
    larger = jobs.with_columns(procs=jobs.procs * 100)
    faster = jobs.with_columns(submit_s=jobs.submit_s / 100)
    return {
        "larger_jobs": base / _jobs_a_second(larger, 100_000, _policy(), Rules()),
        "more_jobs_at_once": base / _jobs_a_second(faster, 100_000, _policy(), Rules()),
    }


def _mean(by_log: Mapping[str, float]) -> float:
    return float(np.exp(np.mean(np.log(list(by_log.values())))))


def _command(log: Path, units: int, out: str) -> list[str]:
    """As `_real` reads it: each processor of the log is a node."""
    return [sys.executable, "-m", "wattline", "simulate", "--trace", str(log), "--nodes",
            str(units), "--cores-per-node", "1", "--json", "-o", f"{out}/run"]


def _first_call(log: Path, units: int) -> float:
    """Wall seconds of the whole command when nothing has been compiled yet."""
    with tempfile.TemporaryDirectory() as out:
        environment = os.environ | {"XDG_CACHE_HOME": out}
        begin = time.perf_counter()
        subprocess.run(_command(log, units, out), check=True, capture_output=True, env=environment)
        return time.perf_counter() - begin


def _second_call(log: Path, units: int) -> float:
    """Wall seconds of the whole command when its kernels are on disk."""
    found = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as out:
            begin = time.perf_counter()
            subprocess.run(_command(log, units, out), check=True, capture_output=True)
            found.append(time.perf_counter() - begin)
    return min(found)


def _peak_memory(log: Path, units: int) -> float:
    """Megabytes of the whole command, in a process of its own."""
    with tempfile.TemporaryDirectory() as out:
        script = (
            "import resource, json, subprocess, sys;"
            "subprocess.run(json.loads(sys.argv[1]), check=True, capture_output=True);"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        result = subprocess.run(
            [sys.executable, "-c", script, json.dumps(_command(log, units, out))],
            check=True, capture_output=True, text=True,
        )
    return int(result.stdout) / 1024
