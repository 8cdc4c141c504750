"""The burst of the fair-share study: similar jobs of three users, all at once."""

from __future__ import annotations

import numpy as np

from wattline.model.jobs import JobTable
from wattline.physics.core_power import CorePower

NODES, CORES = 15, 12
"""180 cores, the size of the published calibration's cluster."""
JOB_NODES = 3
JOBS_EACH = 20
RUN_S = 600.0
USERS = ("efficient", "ondemand", "2.3 GHz")


def burst(core: CorePower, levels: dict[str, int], seed: int) -> JobTable:
    """Similar jobs: the same work give or take 5 %, submitted at once in a random order."""
    rng = np.random.default_rng(seed)
    user = rng.permutation(np.repeat(np.arange(len(USERS)), JOBS_EACH))
    level = np.array([levels[name] for name in USERS])[user]
    work_s = RUN_S * rng.uniform(0.95, 1.05, user.size)
    run_s = work_s / core.speed()[level]
    return JobTable.build(
        submit_s=np.zeros(user.size),
        run_s=run_s,
        requested_s=np.ceil(1.2 * run_s),
        procs=np.full(user.size, JOB_NODES * CORES),
        power_w=JOB_NODES * core.node_power(CORES)[level],
        user=user,
        names={"user": USERS},
    )
