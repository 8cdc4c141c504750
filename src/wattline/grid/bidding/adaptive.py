"""Adaptive bidding: at the start of an hour, from the jobs that run and wait."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from wattline.grid.market import Bid, Range
from wattline.model.signal import FloatArray


def adaptive_bid(
    reach: Range,
    *,
    servers: int,
    power_w_idle: float,
    job_servers: npt.NDArray[np.int64],
    power_w_min: FloatArray,
    power_w_max: FloatArray,
    running: npt.NDArray[np.bool_],
    late: npt.NDArray[np.bool_],
) -> Bid | None:
    """The middle and half of the range over which the present jobs can be moved.

    One row per job that runs or waits. A job that violates its QoS constraint (`late`) must run at
    full power and lends no range; waiting jobs count as far as servers are left for them. None
    where the present jobs lend no range at all. Of a product of one direction it is the end from
    which the whole range can be called.
    """
    order = np.argsort(~running, kind="stable")
    fits = np.cumsum(job_servers[order]) <= servers
    chosen = order[fits]
    size = job_servers[chosen]
    busy = int(size.sum())
    idle_w = (servers - busy) * power_w_idle
    high_w = idle_w + float(size @ power_w_max[chosen])
    lowest = np.where(late[chosen], power_w_max[chosen], power_w_min[chosen])
    low_w = idle_w + float(size @ lowest)
    average_w, wanted_w = (high_w + low_w) / 2, (high_w - low_w) / 2
    if reach.product != "symmetric":
        average_w, wanted_w = high_w if reach.product == "up" else low_w, high_w - low_w
    reserve_w = min(wanted_w, reach.largest_reserve_w(average_w))
    return Bid(average_w, reserve_w) if reserve_w > 0 else None
