"""ESP-2, the Effective System Performance benchmark: 230 jobs of 14 types.

Sizes are fractions of the machine. The 228 ordinary jobs come in an order drawn from the seed:
50 at the start, then one every 30 s. The two Z jobs, which take the whole machine, come after 40
minutes and after two hours; the benchmark asks that nothing else starts while one of them waits,
so they stand in a queue of their own (`full`), to which a scheduler gives the highest priority.
"""

from __future__ import annotations

import numpy as np

from wattline.model.errors import InputError
from wattline.traces.generators.common import finish, in_range, streams
from wattline.traces.trace import Trace

TYPES = (
    # type, fraction of the machine, number of jobs, target run time in s
    ("A", 0.03125, 75, 267.0),
    ("B", 0.06250, 9, 322.0),
    ("C", 0.50000, 3, 534.0),
    ("D", 0.25000, 3, 616.0),
    ("E", 0.50000, 3, 315.0),
    ("F", 0.06250, 9, 1846.0),
    ("G", 0.12500, 6, 1334.0),
    ("H", 0.15820, 6, 1067.0),
    ("I", 0.03125, 24, 1432.0),
    ("J", 0.06250, 24, 725.0),
    ("K", 0.09570, 15, 487.0),
    ("L", 0.12500, 36, 366.0),
    ("M", 0.25000, 15, 187.0),
    ("Z", 1.00000, 2, 100.0),
)
FIRST_BURST = 50
GAP_S = 30.0
Z_SUBMIT_S = (2400.0, 7200.0)
JOBS = 230


def generate(
    *, seed: int, nodes: int = 512, jobs: int = JOBS, request_factor: float = 1.0
) -> Trace:
    """The 230 jobs; `request_factor` is what users ask for over what jobs take."""
    if jobs != JOBS:
        raise InputError(f"jobs is {jobs}; ESP-2 always has {JOBS}")
    in_range("request_factor", request_factor, 1.0, 1e6)
    (rng,) = streams(seed, 1)
    kinds = np.repeat(np.arange(len(TYPES)), [count for _, _, count, _ in TYPES])
    ordinary, full = kinds[:-2], kinds[-2:]
    kind = np.concatenate((rng.permutation(ordinary), full))
    position = np.arange(ordinary.size)
    submit_s = np.concatenate((GAP_S * np.maximum(0, position - FIRST_BURST + 1), Z_SUBMIT_S))
    fraction = np.array([share for _, share, _, _ in TYPES])[kind]
    run_s = np.array([time_s for *_, time_s in TYPES])[kind]
    return finish(
        f"esp2 seed {seed}", nodes=nodes,
        header={"Note": "Generated: the ESP-2 benchmark", "Seed": str(seed)},
        names={"application": tuple(name for name, *_ in TYPES), "queue": ("normal", "full")},
        submit_s=submit_s, run_s=run_s, requested_s=np.ceil(run_s * request_factor),
        procs=np.maximum(1, np.rint(fraction * nodes)), application=kind,
        queue=(kind == len(TYPES) - 1).astype(np.int64),
    )
