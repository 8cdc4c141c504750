"""Adaptive: give a job less than its fair share of power now, rather than let it wait.

When the fair share is available, this is Naive. Otherwise the job gets the fastest configuration
within the nodes and watts that are free now, which are less than its share, if that keeps it within
(1 + threshold) times the time it asked for; if not, it waits. The threshold is what users accept: 0
for none, infinite for any. No job gets more than its share for want of a smaller configuration.
"""

from __future__ import annotations

from typing import Any

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.kernel import kernel
from wattline.policies.configuration.naive import fair_bound_w
from wattline.policies.configuration.offers import fastest_for
from wattline.policies.state import State


@kernel
def has_fair_share(st: State, offers: Any, job: int, available_w: float) -> bool:
    """Whether the job's fair share of power is available now."""
    bound_w = fair_bound_w(st, offers, job, st.clock[0].cap_w)
    return bool(bound_w <= available_w * (1.0 + CAP_SLACK))


@kernel
def row_within(
    st: State, offers: Any, job: int, units: int, available_w: float, threshold: float
) -> int:
    """The fastest configuration in these units and watts, or -1 where it would take too long."""
    limit_w = available_w * (1.0 + CAP_SLACK)
    row = fastest_for(offers, job, units, limit_w)
    limit_s = (1.0 + threshold) * st.jobs[job].requested_s
    return int(row if row >= 0 and offers.row_time_s[row] <= limit_s else -1)
