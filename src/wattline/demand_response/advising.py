"""What would help where no bid meets all constraints: tried on the bid that fails least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wattline.demand_response.case import Case
from wattline.demand_response.pooling import simulator
from wattline.grid.bidding import Decision
from wattline.grid.workloads import job_table


def advice(cases: Sequence[Case], decision: Decision, hold: float = 0.0) -> str:
    """What standby jobs, or pausing, would make of the nearest bid; empty where neither is due."""
    bid, outcome = decision.nearest, decision.outcome
    if bid is None or outcome is None or outcome.met or outcome.tracking.met:
        return ""
    tracking = outcome.tracking
    if tracking.short_share >= 0.5 * tracking.exceed_share:
        if any(c.workload.standby is not None or c.own_times or c.truth is not None for c in cases):
            return ""
        other, with_what = [with_standby(c) for c in cases], "standby jobs (--standby)"
    else:
        if any(c.preempt for c in cases):
            return ""
        other = [replace(c, preempt=True) for c in cases]
        with_what = "jobs that may be paused (--preempt)"
    found = simulator(other, hold)(bid)
    if found.met:
        return f"; with {with_what} the same bid meets all constraints"
    return (f"; with {with_what} the errors of this bid would be large for "
            f"{found.tracking.exceed_share:.1%} of the time")


def with_standby(case: Case) -> Case:
    """The same jobs at the same times, and standby jobs beside them."""
    load = case.workload.with_standby()
    code = np.asarray(case.jobs.application, dtype=np.int64)
    jobs = job_table(load, case.jobs.submit_s, code, case.start_s, case.duration_s)
    return replace(case, workload=load, jobs=jobs)
