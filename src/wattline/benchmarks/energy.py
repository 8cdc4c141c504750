"""Views, capping and the studies of energy: how fast they are, warm, on one core."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from wattline.benchmarks._measuring import each_cpu_seconds, public_log, seconds
from wattline.model.progress import Advance

UPDATES = 50_000
BATCH = 2_500
"""The best of so many updates together counts: other work on the machine is not ours."""


MIRA = "swf/mira_walltime.swf.xz"
MIRA_NODES = 49_152
GENERATED_JOBS = 20_000


def measure(progress: Advance) -> dict[str, Any]:
    """The view update beside the full recomputation; the ESP study; capping on a large log."""
    found = {"view": _views()}
    progress(0.3)
    found["esp"] = _esp()
    progress(0.6)
    found["adaptive"] = _adaptive()
    return found


def _esp() -> dict[str, Any]:
    """The whole study, five cases with their figures, after one that is not counted."""
    from wattline.studies.esp import study as esp

    def study() -> None:
        for case in esp.cases():
            esp.figures(case)

    study()
    study_s = min(seconds(study) for _ in range(3))
    return {"study_s": study_s, "engine_s": sum(case.run.engine_s for case in esp.cases())}


def _adaptive() -> dict[str, Any]:
    """Adaptive capping at 70 % of the machine on the Mira log, or on a generated one."""
    from wattline.engine.composed import adaptive_run
    from wattline.model.machine import Machine
    from wattline.physics.core_power import NODE_OFF_W, SANDY_BRIDGE
    from wattline.physics.powercap import PowerCap
    from wattline.traces import generate, read

    log = public_log(MIRA)
    machine = Machine.uniform(MIRA_NODES, SANDY_BRIDGE.node_class(1, off_w=NODE_OFF_W / 16))
    if log is not None:
        name, jobs = "mira", read(log, machine_procs=MIRA_NODES).jobs
    else:
        name = "leadership"
        jobs = generate("leadership", seed=1, jobs=GENERATED_JOBS, nodes=MIRA_NODES).jobs
    found: dict[str, Any] = {"log": name, "jobs": len(jobs)}
    for part in (0.7, 0.8, 0.9):
        plan = PowerCap(part * machine.power_w_max)
        run = adaptive_run(jobs, machine, plan)
        # Processor seconds: one core works, and others' work on the machine is not ours.
        best_s = min(each_cpu_seconds(partial(adaptive_run, jobs, machine, plan))
                     for _ in range(5))
        found[f"cap_{100 * part:.0f}"] = {
            "cpu_s": best_s, "jobs_per_s": len(jobs) / best_s,
            "mean_queue": float(run.events.queued.mean()),
            "time_above_cap_s": run.time_above_cap_s,
            "peak_part": run.power_w_peak / machine.power_w_max,
        }
    return found


def _views() -> dict[str, Any]:
    """One core of 80,640 changes its power; its node, rack, unit and the site follow."""
    import numpy as np

    from wattline.model.views.build import power_view
    from wattline.physics.core_power import emulated_cluster

    view = power_view(emulated_cluster(), cores=True)
    cores = view.tree.of_type("core")
    row = view.row_of("power_w")
    order = np.random.default_rng(1).permutation(cores)[:UPDATES].tolist()
    touched = view.set_fast(row, order[0], 8.0)
    update_s = min(_updates_s(view, row, order[at : at + BATCH])
                   for at in range(0, UPDATES, BATCH))
    kept = view.shape.values.copy()
    full_s = min(seconds(view.recompute) for _ in range(5))
    everything = np.full(cores.size, 22.0)
    view.set_many("power_w", cores, everything)
    many_s = min(seconds(lambda: view.set_many("power_w", cores, everything)) for _ in range(3))
    return {
        "cores": int(cores.size),
        "entities": len(view.tree),
        "update_us": update_s * 1e6,
        "values_touched": touched,
        "full_recomputation_us": full_s * 1e6,
        "ratio": full_s / update_s,
        "update_us_in_batch": many_s / cores.size * 1e6,
        "equal_to_full": bool(np.array_equal(kept, _recomputed(view, kept), equal_nan=True)),
    }


def _updates_s(view: Any, row: int, cores: list[int]) -> float:
    start = time.perf_counter()
    for core in cores:
        view.set_fast(row, core, 22.0)
    return (time.perf_counter() - start) / len(cores)


def _recomputed(view: Any, kept: Any) -> Any:
    """The values after the same updates, computed from scratch."""
    view.shape.values[:] = kept
    view.recompute()
    return view.shape.values
