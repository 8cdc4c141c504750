"""Bids from averages alone: no simulation, the same for every hour."""

from __future__ import annotations

from wattline.grid.market import Bid
from wattline.grid.workloads import Workload


def range_heuristic(workload: Workload) -> Bid:
    """P at the mean power of the utilisation, R as large as the machine's range allows."""
    average_w = workload.power_w_mean
    reach = workload.range.without_lower_targets
    return Bid(average_w, reach.largest_reserve_w(average_w))


def capping_heuristic(workload: Workload) -> Bid:
    """The middle and half of the range over which caps alone move the mean number of servers.

    Of a product of one direction it is the end of that range from which all of it can be called.
    """
    busy = float(
        workload.arrivals_per_s @ (workload.column("servers") * workload.column("time_s_min"))
    )
    idle_w = (workload.servers - busy) * workload.power_w_idle
    low_w = idle_w + busy * float(workload.column("power_w_min").mean())
    high_w = idle_w + busy * float(workload.column("power_w_max").mean())
    if workload.product != "symmetric":
        return Bid(high_w if workload.product == "up" else low_w, high_w - low_w)
    return Bid((high_w + low_w) / 2, (high_w - low_w) / 2)
