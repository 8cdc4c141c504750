"""The workloads of the ESP study: the benchmark's mix, and two that lean to large or small jobs."""

from __future__ import annotations

import numpy as np

from wattline.model.jobs import JobTable
from wattline.traces.generators import esp2

LARGE_FROM, LARGE_TO = 0.095, 0.5
"""Fractions of the machine; whole-machine jobs are left out, because a cap would never admit
them at full speed."""
SMALL_TO, MEDIUM_TO = 0.0625, 0.25
MAINLY = 0.8


def esp_jobs(nodes: int, seed: int, lean: str = "") -> JobTable:
    """230 jobs of the ESP-2 types; `lean` is empty, `large` or `small`.

    A leaning mix draws four fifths of its jobs from the large (or small) types and the rest from
    the others that fit, each type as often as the benchmark has it, in the benchmark's rhythm.
    """
    benchmark = esp2.generate(seed=seed, nodes=nodes).jobs
    if not lean:
        return benchmark
    share = np.array([fraction for _, fraction, _, _ in esp2.TYPES])
    count = np.array([number for _, _, number, _ in esp2.TYPES], dtype=np.float64)
    if lean == "large":
        main = (share >= LARGE_FROM) & (share <= LARGE_TO)
        rest = share < LARGE_FROM
    else:
        main = share <= SMALL_TO
        rest = (share > SMALL_TO) & (share <= MEDIUM_TO)
    weight = np.where(main, MAINLY * count / count[main].sum(), 0.0)
    weight += np.where(rest, (1 - MAINLY) * count / count[rest].sum(), 0.0)
    rng = np.random.default_rng(seed)
    kind = rng.choice(share.size, size=len(benchmark), p=weight)
    run_s = np.array([time_s for *_, time_s in esp2.TYPES])[kind]
    position = np.arange(len(benchmark))
    return JobTable.build(
        submit_s=esp2.GAP_S * np.maximum(0, position - esp2.FIRST_BURST + 1),
        run_s=run_s,
        requested_s=np.ceil(run_s),
        procs=np.maximum(1, np.rint(share[kind] * nodes)),
        application=kind,
        names={"application": tuple(name for name, *_ in esp2.TYPES)},
    )
