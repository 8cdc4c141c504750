"""Sweeps: a thousand points of a month of a log, what each costs beside its simulation."""

from __future__ import annotations

import resource
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.benchmarks._measuring import public_log
from wattline.model.progress import Advance

if TYPE_CHECKING:
    from wattline.advice.futures.running import Now
    from wattline.scenario.build import Plan

MIRA = "swf/mira_walltime.swf.xz"
NODES = 49_152
MONTH_S = 30 * 86400.0
CAPS_W = tuple(float(watts) for watts in np.linspace(2.9e6, 4.4e6, 112))
POLICIES = ("block", "wait", "dvfs")
ORDERS = ("fcfs", "sjf", "largest")
GENERATED_JOBS = 5000
OVERHEADS = 60
MANY_POINTS = 10_000
DAY_S, CANDIDATES, SAMPLES = 86400.0, 20, 30
AHEAD_JOBS, AHEAD_NODES = 7000, 4000
"""When the last of them comes, some 5,000 wait and 2,000 run."""
LIVE_RUNNING, LIVE_PENDING = 2000, 5000


def measure(progress: Advance) -> dict[str, Any]:
    """A thousand different points with two workers and with one, and the cost of a point."""
    from wattline.sweeps.api import run_sweep

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        log, name = _month(folder)
        sweep = _sweep(log)
        # Once beforehand, so that all is compiled.
        run_sweep(_sweep(log, CAPS_W[:1]), folder / "warm", workers=1, cache=False, report=False)
        progress(0.1)
        overhead_ms, simulation_ms = _overhead(sweep, folder)
        progress(0.2)
        found: dict[str, Any] = {"log": name, "overhead_ms": overhead_ms,
                                 "simulation_ms": simulation_ms}
        for number, workers in enumerate((2, 1)):
            before = _cpu_s()
            done = run_sweep(sweep, folder / f"{workers}", workers=workers, cache=False,
                             report=False)
            own_s, others_s = (now - then for now, then in zip(_cpu_s(), before, strict=True))
            found[f"workers_{workers}"] = {
                "points": done.counts.points, "failed": done.counts.failed,
                "seconds": done.seconds, "parent_cpu_s": own_s, "workers_cpu_s": others_s}
            progress(0.2 + 0.4 * (number + 1))
        found["speedup"] = found["workers_1"]["seconds"] / found["workers_2"]["seconds"]
        found["memory"] = _memory(folder, MANY_POINTS)
        found["ahead"] = _ahead_of_log(log)
        found["ahead_of_many"] = _ahead_of_many(folder)
        found["ahead_live"] = _ahead_live(folder)
    return found


def _cpu_s() -> tuple[float, float]:
    """CPU seconds of this process, and of those that it started and that are over."""
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time(), others.ru_utime + others.ru_stime


def _memory(folder: Path, points: int) -> dict[str, Any]:
    """Memory of the parent and of its two workers together while many small points are computed."""
    from wattline.sweeps.api import run_sweep

    seen: list[tuple[int, float, float]] = []

    def look(done: int, _: int) -> None:
        seen.append((done, _mib("self"), sum(map(_mib, _offspring("self")))))

    caps = [float(watts) for watts in np.linspace(6e3, 9e3, points)]
    run_sweep({"scenario": {"trace": {"generate": "lublin", "jobs": 20},
                            "machine": {"nodes": 32, "node_idle_w": 90, "node_active_w": 300},
                            "policy": {"power": "dvfs"}}, "axes": {"power.cap": caps}},
              folder / "memory", workers=2, cache=False, report=False, progress=look)
    found: dict[str, Any] = {"points": points}
    for part in (0.1, 0.5, 1.0):  # from a tenth on all is loaded
        done, parent, workers = next(each for each in seen if each[0] >= part * points)
        found[f"after_{done}"] = {"parent_mib": parent, "workers_mib": workers}
    return found


def _offspring(pid: str) -> list[str]:
    """Processes that it started, and those that these did: workers, and what they forked from."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [each for task in tasks
                    for each in (task / "children").read_text(encoding="utf-8").split()]
    except OSError:
        return []
    return [each for child in children for each in (child, *_offspring(child))]


def _mib(pid: str) -> float:
    """Memory of a process that lies in RAM, in MiB; none of one that is over."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    sizes = [int(line.split()[1]) for line in lines if line.startswith("VmRSS")]
    return sum(sizes) / 1024


def _month(folder: Path) -> tuple[Path, str]:
    """A month of the Mira log, or as many jobs of a generated one."""
    from wattline.traces import generate, read, write

    log = public_log(MIRA)
    if log is None:
        trace, name = generate("leadership", seed=1, jobs=GENERATED_JOBS, nodes=NODES), "leadership"
    else:
        trace, name = read(log, machine_procs=NODES), "mira"
    submit_s = trace.jobs.submit_s
    count = int(np.searchsorted(submit_s, submit_s[0] + MONTH_S))
    month = replace(trace, jobs=trace.jobs.take(np.arange(count)), logged={})
    path = folder / "month.csv"
    write(month, path)
    return path, name


def _sweep(log: Path, caps: tuple[float, ...] = CAPS_W) -> dict[str, Any]:
    return {
        "scenario": {"trace": {"file": str(log)},
                     "machine": {"nodes": NODES, "node_idle_w": 48, "node_active_w": 100}},
        "axes": {"policy.power": list(POLICIES), "policy.order": list(ORDERS),
                 "power.cap": list(caps)}}


def _ahead_of_log(log: Path) -> dict[str, Any]:
    """From a moment of the log that is there already."""
    from wattline.advice.futures.policy import planned

    machine = {"machine.nodes": NODES, "machine.node_idle_w": 48, "machine.node_active_w": 100}
    ready = planned(str(log), {**machine, "power": "dvfs", "cap": "3.5MW"}, False)
    at_s = float(ready.jobs.submit_s[0]) + 0.6 * MONTH_S
    return _ahead(ready, at_s, "last-week", (3.2e6, 3.5e6, 3.8e6, 4.1e6))


def _ahead_of_many(folder: Path) -> dict[str, Any]:
    """From the moment of the last submission, when most jobs wait."""
    from wattline.advice.futures.policy import planned

    random = np.random.default_rng(1)
    run_s = random.lognormal(9.0, 1.0, AHEAD_JOBS)
    procs = random.integers(1, 4, len(run_s))
    rows = [f"{place},{0.5 * place},{run_s[place]:.0f},{2 * run_s[place]:.0f},{procs[place]}"
            for place in range(len(run_s))]
    path = folder / "many.csv"
    path.write_text("\n".join(["job_id,submit_s,run_s,requested_s,procs", *rows, ""]),
                    encoding="utf-8")
    most_w = 100.0 * AHEAD_NODES
    machine = {"machine.nodes": AHEAD_NODES, "machine.node_idle_w": 48,
               "machine.node_active_w": 100}
    ready = planned(str(path), {**machine, "power": "dvfs", "cap": 0.875 * most_w}, False)
    return _ahead(ready, 0.5 * (AHEAD_JOBS - 1), "none",
                  tuple(part * most_w for part in (0.8, 0.85, 0.9, 0.95)))


def _ahead_live(folder: Path) -> dict[str, Any]:
    """From the books of a controller of 8,000 nodes, with as many jobs."""
    from wattline.benchmarks._live_ahead import stand_live_at

    now = stand_live_at(folder, DAY_S, LIVE_RUNNING, LIVE_PENDING).now
    most_w = now.plan.machine.power_w_max
    return _looked(now, tuple(part * most_w for part in (0.8, 0.85, 0.9, 0.95)))


def _ahead(ready: Plan, at_s: float, arrivals: str, caps_w: tuple[float, ...]) -> dict[str, Any]:
    from wattline.advice.futures.running import stand_at

    return _looked(stand_at(ready, at_s, DAY_S, arrivals), caps_w)


def _looked(now: Now, caps_w: tuple[float, ...]) -> dict[str, Any]:
    """Twenty candidates, thirty draws, a day."""
    from wattline.advice.futures.candidates import read_choices
    from wattline.advice.futures.running import candidate_of
    from wattline.advice.futures.side_by_side import figures_of_all

    names = [f"{order} {power} cap={watts}" for order in ("fcfs", "sjf") for power in POLICIES
             for watts in caps_w]
    choices = read_choices(names, now.plan.scenario)[:CANDIDATES]  # less what is there already
    for choice in choices:  # once beforehand, so that all is compiled
        candidate_of(now, choice)[0].run(now.moment.jobs.run_s)
    begin_s, begin_cpu_s = time.perf_counter(), time.process_time()
    draws = now.draws(SAMPLES, 1)
    figures_of_all(now, (candidate_of(now, choice)[0] for choice in choices), draws)
    return {"candidates": len(choices), "samples": SAMPLES, "jobs": len(now.moment.jobs),
            "waiting": now.moment.came - int(now.moment.running.sum()),
            "running": int(now.moment.running.sum()), "seconds": time.perf_counter() - begin_s,
            "cpu_seconds": time.process_time() - begin_cpu_s}


def _overhead(sweep: dict[str, Any], folder: Path) -> tuple[float, float]:
    """CPU milliseconds of a point that are not the simulation itself, and those that are: medians.

    CPU time, so that what else the machine does is not counted.
    """
    from wattline.engine import simulate as engine
    from wattline.scenario import build
    from wattline.sweeps.point import points_of
    from wattline.sweeps.shelf import Shelf
    from wattline.sweeps.space import read_space
    from wattline.sweeps.work import run_point

    points = list(points_of(read_space(sweep)))
    shelf = Shelf(folder / "shelf")
    inside: list[float] = []
    true = engine.simulate

    def timed(*given: Any, **named: Any) -> Any:
        begin_s = time.process_time()
        try:
            return true(*given, **named)
        finally:
            inside.append(time.process_time() - begin_s)

    around = []
    build.simulate = timed  # type: ignore[attr-defined]
    try:
        for point in points[:: len(points) // OVERHEADS]:
            assert point.scenario is not None
            begin_s = time.process_time()
            row = run_point(shelf, point.number, point.scenario, False)
            around.append(time.process_time() - begin_s)
            assert "error" not in row, row
    finally:
        build.simulate = true  # type: ignore[attr-defined]
    outside = [all_s - own_s for all_s, own_s in zip(around, inside, strict=True)]
    return 1e3 * statistics.median(outside), 1e3 * statistics.median(inside)
