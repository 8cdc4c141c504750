"""What a contract is compared with: the same jobs run at once at full speed."""

from __future__ import annotations

import numpy as np

from wattline.demand_response.case import Case
from wattline.grid.market import WS_PER_KWH, overlay


def uncontrolled_w(case: Case, start_s: float | None = None, end_s: float | None = None) -> float:
    """Mean power over the contract if every job ran at once at full speed: the energy's base.

    As the bill, it leaves the warm-up out, but for what runs on from it. With a start and an end,
    the mean between these.
    """
    first_s = case.judged_s if start_s is None else start_s
    last_s = case.end_s if end_s is None else end_s
    time_s = np.maximum(0.0, np.minimum(case.jobs.submit_s + case.jobs.run_s, last_s)
                        - np.maximum(case.jobs.submit_s, first_s))
    ordinary = case.jobs.application < len(case.workload.types)
    extra_w = case.jobs.power_w - case.jobs.procs * case.workload.power_w_idle
    idle_w = case.workload.servers * case.workload.power_w_idle
    return float(idle_w + (time_s * extra_w)[ordinary].sum() / (last_s - first_s))


def uncontrolled_cost(case: Case) -> float:
    """The bill of that power: each step of the energy price with what is drawn in it."""
    edges, (price,) = overlay((case.prices.energy,), case.judged_s, case.end_s)
    spans = zip(edges[:-1], edges[1:], price, strict=True)
    return sum(
        float(value) * uncontrolled_w(case, float(first_s), float(last_s))
        * float(last_s - first_s) / WS_PER_KWH
        for first_s, last_s, value in spans
    )
