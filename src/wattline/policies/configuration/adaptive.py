"""Adaptive: give a job less than its fair share of power now, rather than let it wait.

When the fair share is available, this is Naive. Otherwise the job gets the fastest configuration
within the nodes and watts that are free now, if that keeps it within (1 + threshold) times the time
it asked for; if not, it waits. The threshold is what users accept: 0 for none, infinite for any.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.physics.pareto import fastest_within
from wattline.policies.configuration.naive import fair_bound_w, fair_row
from wattline.policies.configuration.offers import CAP_TOLERANCE, adopt, is_settled
from wattline.policies.contract import Composition, configure, least_units, watts_available
from wattline.policies.state import State


class Adaptive(NamedTuple):
    """Power-aware backfilling: trade some time of the job for its wait."""

    offers: Any
    threshold: float = 0.0


@implement(configure, Adaptive)
@kernel
def _configure(st: State, configuration: Adaptive, policy: Composition, position: int) -> bool:
    job = st.queue[position].job
    if is_settled(st, job):
        return True
    offers = configuration.offers
    fair = fair_row(st, offers, job)
    available_w = watts_available(st, policy.admission) * (1.0 + CAP_TOLERANCE)
    if fair >= 0 and fair_bound_w(st, offers, job) <= available_w:
        adopt(st, offers, position, fair)
        return True
    row = fastest_within(offers, offers.code[job], st.clock[0].free, available_w)
    limit_s = (1.0 + configuration.threshold) * st.jobs[job].requested_s
    if row >= 0 and offers.row_time_s[row] <= limit_s:
        adopt(st, offers, position, row)
        return True
    if fair >= 0:
        adopt(st, offers, position, fair)  # what its reservation is for
    return False


@implement(least_units, Adaptive)
@kernel
def _least_units(st: State, configuration: Adaptive, job: int) -> int:
    """The smallest node count of its application."""
    offers = configuration.offers
    return int(offers.level_nodes[offers.first_level[offers.code[job]]])
