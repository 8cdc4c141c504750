"""The document's example of node selection: two jobs, two nodes (tables 3.1 and 3.2).

The total is both jobs' energy and the idle power of the node that waits for the other (Eq. 3.1). A
greedy choice by energy, each job in its turn taking the free node that needs least, finds the
better of the two allocations only if the job with more to lose comes first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.run import Run
from wattline.physics.claims import Claim, ClaimBook, ClaimSetting
from wattline.policies.configuration.claimed_setup import options_of
from wattline.policies.order.ranked import ranked
from wattline.studies.hetero.runs import claimed_run, regret_order

IDLE_W = {"gpn": 5.0, "lpn": 1.0}
CLAIMED = {("j1", "gpn"): (2.0, 20.0), ("j2", "gpn"): (1.0, 30.0),
           ("j1", "lpn"): (2.0, 10.0), ("j2", "lpn"): (3.0, 15.0)}
"""Table 3.1: job and node -> seconds and joules."""
PUBLISHED = {("j1", "j2"): (40.0, 35.0), ("j2", "j1"): (45.0, 40.0)}
"""Table 3.2: job on gpn and job on lpn -> joules with idle power and of the load alone."""


def example() -> dict[str, dict[str, Any]]:
    """What each order of the queue comes to under the rule of least energy."""
    cluster = Machine(tuple(
        NodeGroup(NodeClass(name, power_w_idle=idle_w, power_w_active=30.0), 1)
        for name, idle_w in IDLE_W.items()), name="example")
    book = ClaimBook(Claim(job, node, ClaimSetting(), time_s, energy_j, runs=1)
                     for (job, node), (time_s, energy_j) in CLAIMED.items())
    found = {}
    for name, names, by_regret in (("j1 before j2", ("j1", "j2"), False),
                                   ("j2 before j1", ("j2", "j1"), False),
                                   ("most to lose first", ("j1", "j2"), True)):
        jobs = JobTable.build(submit_s=np.zeros(2), run_s=np.ones(2), procs=np.ones(2, np.int64),
                              application=[0, 1], names={"application": names})
        options = options_of(book, book, cluster, list(names), [1, 1], capped=False)
        order = ranked(regret_order(options, lambda row: row.claimed_j)) if by_regret else None
        run, _ = claimed_run(jobs, cluster, options, "energy", order=order, learn=False)
        found[name] = _figures(run, names)
    return found


def _figures(run: Run, names: tuple[str, ...]) -> dict[str, Any]:
    assert run.placement is not None
    node = dict(zip(run.placement.job.tolist(), run.placement.first.tolist(), strict=True))
    on = {run.machine.class_of(node[row]).name: name for row, name in enumerate(names)}
    return {"gpn": on["gpn"], "lpn": on["lpn"], "energy_j": run.energy_j,
            "load_j": float(run.schedule.energy_j.sum()),
            "published": PUBLISHED[on["gpn"], on["lpn"]]}
