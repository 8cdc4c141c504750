"""Views, capping and the studies of energy: how fast they are, warm, on one core."""

from __future__ import annotations

import time
from typing import Any

from wattline.cli.output import Advance

UPDATES = 50_000
BATCH = 2_500
"""The best of so many updates together counts: other work on the machine is not ours."""


def measure(progress: Advance) -> dict[str, Any]:
    """Figures for the view update beside the full recomputation, in the same process."""
    return {"view": _views()}


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
    full_s = min(_timed(view.recompute) for _ in range(5))
    everything = np.full(cores.size, 22.0)
    view.set_many("power_w", cores, everything)
    many_s = min(_timed(lambda: view.set_many("power_w", cores, everything)) for _ in range(3))
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


def _timed(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
