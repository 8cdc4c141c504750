"""Try every bid of a grid in simulation; keep the cheapest that meets all constraints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wattline.grid.bidding.problem import Decision, Problem, Simulate, best_of, try_all
from wattline.grid.market import Bid


def grid_bids(problem: Problem, averages: int = 12, reserves: int = 10) -> list[Bid]:
    """Averages spread over the lower range of the machine, reserves over what each allows.

    Averages above the mean power at full utilisation make no sense, and none below the mean
    power at half the stated utilisation can serve the jobs.
    """
    workload = problem.workload
    mean_extra_w = workload.power_w_mean - workload.range.power_w_min
    low_w = workload.range.power_w_min + 0.5 * mean_extra_w
    high_w = min(
        workload.range.power_w_min + 1.6 * mean_extra_w,
        (workload.range.power_w_min + 3 * workload.range.power_w_max) / 4,
    )
    bids = []
    for average_w in np.linspace(low_w, high_w, averages):
        most_w = workload.range.largest_reserve_w(float(average_w))
        for share in np.linspace(1.0 / reserves, 1.0, reserves):
            if most_w > 0:
                bids.append(Bid(float(average_w), float(share * most_w)))
    return bids


def exhaustive_bid(
    problem: Problem,
    simulate: Simulate,
    *,
    averages: int = 12,
    reserves: int = 10,
    whole: bool = True,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Decision:
    """Simulate every bid of the grid; unless the `whole` surface is wanted, only the promising."""
    bids = grid_bids(problem, averages, reserves)
    tried = try_all(problem, simulate, bids, whole=whole, progress=progress)
    return best_of(problem, tried, f"the cheapest of {len(bids)} bids of the grid")
