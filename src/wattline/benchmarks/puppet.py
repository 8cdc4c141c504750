"""How fast the capped engine, the PuPPET study and the PuPPET net are, warm."""

from __future__ import annotations

import time
from typing import Any

from wattline.benchmarks._measuring import public_log
from wattline.model.progress import Advance

MIRA = "swf/mira_walltime.swf.xz"
"""A public log of a 49,152-node machine, where the folder that WATTLINE_DATA names has it."""
NODES = 49_152
REPEATS = 5
NET_JOBS = 400
METHODS = ("none", "block", "wait", "dvfs")


def measure(progress: Advance) -> dict[str, Any]:
    """Seconds and jobs per second; the best of some runs after one that is not counted."""
    from wattline.studies.puppet import study as puppet
    from wattline.studies.puppet.runs import Laboratory
    from wattline.studies.puppet.workloads import generated_workload

    workload = generated_workload(1, arrivals="hours")  # as it was measured from the beginning
    # Compiles what is not compiled.
    puppet.study(workload, lambda share: progress(0.3 * share), assumptions=False)
    laboratory = Laboratory(workload)
    figures: dict[str, Any] = {
        "four_months": _runs(laboratory),
        "study": _study(workload, progress),
    }
    progress(0.8)
    mira = _mira()
    if mira is not None:
        figures["mira"] = mira
    progress(0.9)
    figures["net"] = {method: _net(laboratory, method) for method in METHODS}
    progress(1.0)
    return figures


def _runs(laboratory: Any) -> dict[str, Any]:
    """One simulation of the whole log for each order and method."""
    from wattline.studies.puppet.runs import ORDERS, WHOLE, CappedCase

    found = {}
    for order in ORDERS:
        for method in METHODS:
            case = CappedCase(WHOLE, order, method)
            chosen = laboratory.can_run(case)
            best_s = engine_s = cpu_s = float("inf")
            for _ in range(REPEATS):
                began, busy = time.perf_counter(), time.process_time()
                run = laboratory.run(case, chosen)
                best_s = min(best_s, time.perf_counter() - began)
                # Processor seconds: others' work on a shared machine is not ours.
                cpu_s = min(cpu_s, time.process_time() - busy)
                engine_s = min(engine_s, run.engine_s)
            found[f"{order}-{method}"] = {
                "jobs": int(chosen.sum()), "run_s": best_s, "cpu_s": cpu_s, "engine_s": engine_s,
                "jobs_per_s": float(chosen.sum()) / engine_s}
    return found


def _study(workload: Any, progress: Advance) -> dict[str, Any]:
    from wattline.studies.puppet import study as puppet

    processor = time.process_time()
    result = puppet.study(workload, lambda share: progress(0.35 + 0.4 * share), assumptions=False)
    return {"seconds": result.seconds, "processor_s": time.process_time() - processor,
            "simulations": result.simulations, "threads": 2}


def _mira() -> dict[str, Any] | None:
    from wattline.studies.puppet.runs import Laboratory
    from wattline.studies.puppet.workloads import logged_workload
    from wattline.traces.reader import read

    path = public_log(MIRA)
    if path is None:
        return None
    jobs = read(path, machine_procs=NODES).jobs
    return _runs(Laboratory(logged_workload(jobs, NODES, 62.0, 1, str(path))))


def _net(laboratory: Any, method: str) -> dict[str, float]:
    """The specification on the first jobs of the log that can run under the cap."""
    import numpy as np

    from wattline.petri.examples import demo_rules
    from wattline.petri.puppet import jobs_from_table, puppet_net
    from wattline.petri.simulate import Simulation
    from wattline.studies.puppet.runs import WHOLE, CappedCase

    workload = laboratory.workload
    case = CappedCase(WHOLE, "fcfs", method)
    first = np.flatnonzero(laboratory.can_run(case))[:NET_JOBS]
    jobs = jobs_from_table(workload.whole.take(first), workload.node_w)
    rules = demo_rules(method, workload.nodes, 0.3 * workload.node_w)
    simulation = Simulation(puppet_net(jobs, rules, "fcfs", laboratory.cap_w(case)))
    began = time.perf_counter()
    fired = simulation.run()
    seconds = time.perf_counter() - began
    finished = simulation.place("Done").count()
    return {"jobs": finished, "jobs_per_s": finished / seconds, "firings_per_s": fired / seconds}
