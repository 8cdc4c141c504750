"""Time that the congestion of a run takes as plain Python: some ten thousand times as long per
message as compiled, so that even a short log may be worth the wait for the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.engine.congestion import JOB_PAIRS, Congestion

VISIT_S = 40e-6
"""For each link of each path of a pair of routers, in all rounds of one routing together."""


def plain_network_s(jobs: Any, network: Any) -> float:
    """Seconds of a processor, roughly: each job on as many routers as it has nodes.

    All traffic is routed anew when a job begins or ends, and a job is part of that for as long as
    it runs.
    """
    if not isinstance(network, Congestion) or not len(jobs):
        return 0.0
    paths = network.paths
    routers, nodes = paths.first_node.size - 1, paths.router.size
    many = np.minimum(jobs.units, routers)
    shifts = np.where(many > 1, np.clip(JOB_PAIRS // np.maximum(many, 1), 1, many - 1), 0)
    changes = 2 * len(jobs)
    seen = np.minimum(changes, 1.0 + changes * jobs.run_s / _length_s(jobs, nodes))
    uses = float((many * shifts * seen).sum()) * paths.link.size / routers**2
    return float(VISIT_S * (uses + changes * paths.link_gbit_s.size))


def _length_s(jobs: Any, nodes: int) -> float:
    """The least time that the jobs take: from the first submission on, or on all nodes."""
    submit_s = np.where(np.isfinite(jobs.submit_s), jobs.submit_s, np.nanmin(jobs.submit_s))
    log_s = float((submit_s + jobs.run_s).max() - submit_s.min())
    return max(log_s, float((jobs.units * jobs.run_s).sum()) / nodes, 1e-9)
